/** Checks the types of what a program gives, for programs that no compiler checks. */

import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { RegistrationError } from './errors.ts';

/** What a value must be. */
export type Kind = 'string' | 'function' | 'boolean' | 'object' | 'list' | 'amount' | 'count' | 'setting' | 'logger' | 'bytes';

const KINDS: Readonly<Record<Kind, readonly [name: string, fits: (value: unknown) => boolean]>> = {
  string: ['a string', (value: unknown) => typeof value === 'string'],
  function: ['a function', (value: unknown) => typeof value === 'function'],
  boolean: ['true or false', (value: unknown) => typeof value === 'boolean'],
  object: ['an object', isJsonObject],
  list: ['an array', Array.isArray],
  amount: ['a number, 0 or more', (value: unknown) => typeof value === 'number' && value >= 0],
  count: ['a number, 1 or more', (value: unknown) => typeof value === 'number' && value >= 1],
  setting: ['an object, true or false', (value: unknown) => typeof value === 'boolean' || isJsonObject(value)],
  logger: [
    'an object with log(level, message, data)',
    (value: unknown) => typeof (value as { readonly log?: unknown } | null)?.log === 'function',
  ],
  bytes: ['a Uint8Array', (value: unknown) => ArrayBuffer.isView(value)],
};

/** Kinds of secrets: what stands there in their place may be one too, and is not shown. */
const SECRETS: ReadonlySet<Kind> = new Set(['bytes']);

/**
 * @param what Names the value in the message: `tool "add": "title"`.
 * @throws {RegistrationError} `ERR_REGISTRATION`: it is something else.
 */
export function checkType(what: string, value: unknown, kind: Kind): void {
  const [name, fits] = KINDS[kind];
  if (!fits(value)) throw new RegistrationError(`${what} must be ${name}, got ${SECRETS.has(kind) ? typeof value : describe(value)}`);
}

/**
 * Checks the members that are there.
 *
 * @param owner Names the object in messages.
 * @throws {RegistrationError} `ERR_REGISTRATION`: `given` is no object, or a member is something else.
 */
export function checkTypes(owner: string, given: unknown, kinds: Readonly<Record<string, Kind>>): void {
  checkType(owner, given, 'object');
  for (const [name, kind] of Object.entries(kinds)) {
    const value = (given as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined) checkType(`${owner}: "${name}"`, value, kind);
  }
}

function describe(value: unknown): string {
  if (value === null || typeof value === 'number') return String(value);
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  return Array.isArray(value) ? 'an array' : typeof value;
}
