/** Puts a library's words for an issue into the form of our sentences: `must be a number`. */

import type { SchemaIssue } from '@mortise/protocol/contracts';
import type { StandardIssue } from './standard-schema.ts';

/** Nouns of type names that take another article or word than "a". */
const TYPE_NOUNS: Readonly<Record<string, string>> = {
  array: 'an array',
  int: 'an integer',
  integer: 'an integer',
  nan: 'NaN',
  null: 'null',
  object: 'an object',
  Object: 'an object',
  record: 'an object',
  undefined: 'left out',
};

/** The default sentences of zod 4, zod 3 and valibot. An author's own sentence matches none of them and stays as it is. */
const SENTENCES: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/^Invalid input: expected nonoptional, received undefined$/, () => 'is required'],
  [/^Required$/, () => 'is required'],
  [/^Invalid key: Expected "[^"]*" but received undefined$/, () => 'is required'],
  [/^Invalid input: expected ([\w-]+), received .*$/, mustBe],
  [/^Expected ([\w-]+), received .*$/, mustBe],
  [/^Invalid type: Expected ([\w-]+) but received .*$/s, mustBe],
  [/^Invalid input: expected (.+)$/s, (found) => `must be ${found}`],
  [/^Invalid option: expected one of (.+)$/s, (found) => `must be one of ${found.split('|').join(', ')}`],
];

function mustBe(type: string): string {
  return `must be ${TYPE_NOUNS[type] ?? `a ${type}`}`;
}

/** Gives an issue its path in plain keys and its message in our words. */
export function phraseIssue(issue: StandardIssue): SchemaIssue {
  // A copy made by `Array.from` is a plain array, also where a library has an array class of its own.
  const path = Array.from(issue.path ?? [], toKey);
  return { message: phraseMessage(withoutPath(issue.message, path)), path };
}

/** A path's segment is a key, or an object with one. */
function toKey(segment: PropertyKey | { readonly key: PropertyKey }): string | number {
  const key = typeof segment === 'object' ? segment.key : segment;
  return typeof key === 'symbol' ? String(key) : key;
}

/** Some libraries (arktype) begin the message with the path and end it with the value; our sentence has both already. */
function withoutPath(message: string, path: readonly (string | number)[]): string {
  const bare = path.length > 0 && message.startsWith(`${path.join('.')} `) ? message.slice(path.join('.').length + 1) : message;
  return bare.startsWith('must be ') ? bare.replace(/ \(was [^()]*\)$/, '') : bare;
}

function phraseMessage(message: string): string {
  for (const [pattern, phrase] of SENTENCES) {
    const found = pattern.exec(message);
    if (found !== null) return phrase(found[1] ?? '');
  }
  return message;
}
