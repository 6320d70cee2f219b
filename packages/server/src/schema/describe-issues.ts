/** Writes the sentence that a caller reads when a value does not fit its schema. */

import type { SchemaIssue } from '@mortise/protocol/contracts';

/** How many issues one sentence names before it counts the rest. */
const MAX_ISSUES = 5;
/** How many characters of a received text are repeated. */
const MAX_SHOWN_CHARACTERS = 40;
/** How many characters of a library's message are repeated. */
const MAX_MESSAGE_CHARACTERS = 300;

/** What the sentence is about. */
export interface IssueSubject {
  /** Whom it concerns: `tool "add"`, `prompt "greet"`. */
  readonly owner: string;
  /** What the value's fields are called: `argument`, `structuredContent field`. */
  readonly part: string;
  /** What the value itself is called. @default the plural of `part` */
  readonly whole?: string;
  /** The value that was checked. */
  readonly value: unknown;
  /**
   * Whether received texts and numbers are repeated. False for values that the reader did not send, of which only the type
   * is told. @default true
   */
  readonly showValues?: boolean;
}

/**
 * Tells what is wrong with a value: `tool "add": argument "a" must be a number, got "x"`.
 *
 * At most five issues are told, a received value in at most 40 characters.
 */
export function describeIssues(issues: readonly SchemaIssue[], subject: IssueSubject): string {
  const told = issues.slice(0, MAX_ISSUES).map((issue) => describeIssue(issue, subject));
  const rest = issues.length - told.length;
  if (rest > 0) told.push(`and ${rest} more`);
  return `${subject.owner}: ${told.join('; ')}`;
}

function describeIssue(issue: SchemaIssue, subject: IssueSubject): string {
  const isWhole = issue.path.length === 0;
  const place = isWhole ? (subject.whole ?? `${subject.part}s`) : `${subject.part} "${renderPath(issue.path)}"`;
  const received = valueAt(subject.value, issue.path);
  const message = clip(issue.message, MAX_MESSAGE_CHARACTERS);
  if (received === undefined && /^(must|is required)\b/.test(message))
    return `${place} ${isWhole && subject.whole === undefined ? 'are' : 'is'} required`;
  const glue = /^(must|is|has|does|takes|may|cannot)\b/.test(message) ? ' ' : ': ';
  return `${place}${glue}${message}, got ${subject.showValues === false ? typeNoun(received) : renderValue(received)}`;
}

function renderPath(path: readonly (string | number)[]): string {
  return path.map((key, i) => (typeof key === 'number' ? `[${key}]` : i === 0 ? clip(key, 80) : `.${clip(key, 80)}`)).join('');
}

/** Follows own members only: a path never reaches into a prototype. */
function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Readonly<Record<string | number, unknown>>)[key];
  }
  return at;
}

function renderValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(clip(value, MAX_SHOWN_CHARACTERS));
  return value === null || typeof value === 'number' || typeof value === 'boolean' ? String(value) : typeNoun(value);
}

function typeNoun(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  // JSON has no word for these: where a number belongs, "a number" would not say what is wrong.
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function clip(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  // Never ends within a surrogate pair: half a character is not valid in a JSON text for every reader.
  return `${text.slice(0, maxCharacters - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
