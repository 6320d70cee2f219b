/** Writes the error text for a value that does not fit its schema: `tool "add": argument "a" must be a number, got "x"`. */

import type { SchemaIssue } from '@mortise/protocol/contracts';
import type { StandardIssue } from './standard-schema.ts';

/** How many schema issues one error text describes. The rest are only counted. */
const MAX_ISSUES = 5;
/** How many characters of a received string an error text shows. */
const MAX_SHOWN_CHARACTERS = 40;
/** How many characters of a schema library's message an error text shows. */
const MAX_MESSAGE_CHARACTERS = 300;

/** What an error text about a value needs to name: the value, its owner and its fields. */
export interface IssueSubject {
  /** What the value belongs to: `tool "add"`, `prompt "greet"`. */
  readonly owner: string;
  /** What a field of the value is called: `argument`, `structuredContent field`. */
  readonly part: string;
  /** What the value itself is called. @default the plural of `part` */
  readonly whole?: string;
  /** The value that was checked against the schema. */
  readonly value: unknown;
  /** Whether strings and numbers are shown; if false, only their types. Set false if the reader did not send the value. @default true */
  readonly showValues?: boolean;
}

/** Describes how a value breaks its schema: at most five issues, with at most 40 characters of the received value each. */
export function describeIssues(issues: readonly SchemaIssue[], subject: IssueSubject): string {
  const clauses = issues.slice(0, MAX_ISSUES).map((issue) => describeIssue(issue, subject));
  const rest = issues.length - clauses.length;
  if (rest > 0) clauses.push(`and ${rest} more`);
  return `${subject.owner}: ${clauses.join('; ')}`;
}

function describeIssue(issue: SchemaIssue, { part, whole, value, showValues = true }: IssueSubject): string {
  const isWhole = issue.path.length === 0;
  const place = isWhole ? (whole ?? `${part}s`) : `${part} "${renderPath(issue.path)}"`;
  const received = valueAt(value, issue.path);
  const message = clip(issue.message, MAX_MESSAGE_CHARACTERS);
  if (received === undefined && /^(must|is required)\b/.test(message))
    return `${place} ${isWhole && whole === undefined ? 'are' : 'is'} required`;
  const glue = /^(must|is|has|does|takes|may|cannot)\b/.test(message) ? ' ' : ': ';
  return `${place}${glue}${message}, got ${renderValue(received, showValues)}`;
}

function renderPath(path: readonly (string | number)[]): string {
  return path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${clip(key, 80)}`)).join('');
}

/** Returns the part of a value that a path leads to. Follows own members only, so that a path never reads from a prototype. */
function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Readonly<Record<string | number, unknown>>)[key];
  }
  return at;
}

function renderValue(value: unknown, showsValue: boolean): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  // NaN and Infinity are shown as such: "must be a number, got a number" would be confusing.
  if (value === null || (typeof value === 'number' && !Number.isFinite(value))) return String(value);
  if (typeof value === 'object') return 'an object';
  if (!showsValue) return `a ${typeof value}`;
  return typeof value === 'string' ? JSON.stringify(clip(value, MAX_SHOWN_CHARACTERS)) : String(value);
}

function clip(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  // Does not end within a surrogate pair, because not every JSON reader accepts half of one.
  return `${text.slice(0, maxCharacters - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** These match the default messages of zod 4, zod 3 and valibot, which are reworded. Custom messages match none and stay unchanged. */
const REQUIRED =
  /^(?:Required|Invalid input: expected nonoptional, received undefined|Invalid key: Expected "[^"]*" but received undefined)$/;
const WRONG_TYPE = /^(?:Invalid input: e|Invalid type: E|E)xpected ([\w-]+)(?:,| but) received /;
const WRONG_VALUE = /^Invalid (?:input: expected |option: expected (one of ))(.+)$/s;

/** Converts an issue of a schema library: plain keys in its path, and the same wording for all libraries in its message. */
export function phraseIssue(issue: StandardIssue): SchemaIssue {
  // `Array.from` makes a plain array, even if a library uses its own array class.
  const path = Array.from(issue.path ?? [], (segment) => {
    const key = typeof segment === 'object' ? segment.key : segment;
    return typeof key === 'symbol' ? String(key) : key;
  });
  return { message: phrase(withoutPath(issue.message, path)), path };
}

function phrase(message: string): string {
  if (REQUIRED.test(message)) return 'is required';
  const [, type] = WRONG_TYPE.exec(message) ?? [];
  if (type !== undefined) return `must be ${/^[aio]/i.test(type) ? 'an' : 'a'} ${type.toLowerCase()}`;
  const [, oneOf = '', value] = WRONG_VALUE.exec(message) ?? [];
  if (value === undefined) return message;
  return `must be ${oneOf}${oneOf === '' ? value : value.replaceAll('|', ', ')}`;
}

/** Removes the path and the value from a message of arktype, because our error text already has both. */
function withoutPath(message: string, path: readonly (string | number)[]): string {
  const prefix = `${path.join('.')} `;
  return (path.length > 0 && message.startsWith(prefix) ? message.slice(prefix.length) : message).replace(
    /^(must be .*) \(was [^()]*\)$/s,
    '$1',
  );
}
