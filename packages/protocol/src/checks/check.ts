/**
 * Checks of JSON values, in one pass and without allocations for a valid value. For the first error a check returns the end of a
 * sentence that begins with the name of the value (`.name must be a string, got 5`).
 *
 * The functions that create checks are marked as free of side effects, so that bundlers drop unused checks.
 */

import { isJsonObject, isRequestId } from '@mortise/jsonrpc-core/messages';

/** Returns undefined for a valid value, else the end of a sentence about it. */
export type Check = (value: unknown) => string | undefined;

/** The checks of an object's members by name. A name that ends in `?` marks an optional member. */
export type Members = Readonly<Record<string, Check>>;

/** Longer strings are shortened in messages. In characters. */
const MAX_QUOTED = 40;

export const string: Check = (value) => (typeof value === 'string' ? undefined : expected('a string', value));
export const number: Check = (value) => (typeof value === 'number' ? undefined : expected('a number', value));
export const integer: Check = (value) => (Number.isSafeInteger(value) ? undefined : expected('an integer', value));
export const boolean: Check = (value) => (typeof value === 'boolean' ? undefined : expected('a boolean', value));
export const anyObject: Check = (value) => (isJsonObject(value) ? undefined : expected('an object', value));
export const anyValue: Check = (value) => (value === undefined ? expected('a value', value) : undefined);
/** A request id or progress token. */
export const id: Check = (value) => (isRequestId(value) ? undefined : expected('a string or an integer', value));

/** Accepts one of the given strings. */
/* @__NO_SIDE_EFFECTS__ */
export function oneOf(values: readonly string[]): Check {
  return (value) =>
    (values as readonly unknown[]).includes(value) ? undefined : expected(`one of ${values.map((each) => `"${each}"`).join(', ')}`, value);
}

/** Accepts an object with these members. Other members are ignored. */
/* @__NO_SIDE_EFFECTS__ */
export function object(...parts: readonly Members[]): Check {
  // Built at first use, because most programs use few of the checks.
  let members: readonly { readonly name: string; readonly check: Check; readonly mayBeAbsent: boolean }[] | undefined;
  return (value) => {
    if (!isJsonObject(value)) return expected('an object', value);
    members ??= parts
      .flatMap((part) => Object.entries(part))
      .map(([key, check]) => ({ name: key.replace(/\?$/, ''), check, mayBeAbsent: key.endsWith('?') }));
    for (const { name, check, mayBeAbsent } of members) {
      const member = value[name];
      if (member === undefined && mayBeAbsent) continue;
      const reason = check(member);
      if (reason !== undefined) return `${/^\w+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`}${reason}`;
    }
    return undefined;
  };
}

/** Creates a check at its first use. */
/* @__NO_SIDE_EFFECTS__ */
export function later(make: () => Check): Check {
  let check: Check | undefined;
  return (value) => (check ??= make())(value);
}

/** Accepts an array whose items all pass. */
/* @__NO_SIDE_EFFECTS__ */
export function array(item: Check, maxItems: number = Number.POSITIVE_INFINITY): Check {
  return (value) => {
    if (!Array.isArray(value)) return expected('an array', value);
    if (value.length > maxItems) return ` must have at most ${maxItems} items, got ${value.length}`;
    for (let index = 0; index < value.length; index += 1) {
      const reason = item(value[index]);
      if (reason !== undefined) return `[${index}]${reason}`;
    }
    return undefined;
  };
}

/** Accepts an object of any member names whose values all pass. A member that is `undefined` counts as absent. */
/* @__NO_SIDE_EFFECTS__ */
export function record(member: Check): Check {
  return (value) => {
    if (!isJsonObject(value)) return expected('an object', value);
    for (const name of Object.keys(value)) {
      const reason = value[name] === undefined ? undefined : member(value[name]);
      if (reason !== undefined) return `[${quote(name)}]${reason}`;
    }
    return undefined;
  };
}

/** Accepts a tagged union: the object's member `key` selects the check. */
/* @__NO_SIDE_EFFECTS__ */
export function tagged(key: string, shapes: Members): Check {
  const tag = later(() => object({ [key]: oneOf(Object.keys(shapes)) }));
  return (value) => {
    const name = isJsonObject(value) ? value[key] : undefined;
    const shape = typeof name === 'string' && Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    return (shape ?? tag)(value);
  };
}

/** Accepts a value that passes any of the checks. The message comes from the first check. */
/* @__NO_SIDE_EFFECTS__ */
export function anyOf(first: Check, ...others: readonly Check[]): Check {
  return (value) => {
    const reason = first(value);
    return reason === undefined || others.some((check) => check(value) === undefined) ? undefined : reason;
  };
}

/** Accepts one item or an array of items. */
/* @__NO_SIDE_EFFECTS__ */
export function oneOrMany(item: Check): Check {
  const many = array(item);
  return (value) => (Array.isArray(value) ? many(value) : item(value));
}

/** Checks params, a result or an item of a method. Returns undefined if valid, else one sentence. */
export type MethodCheck = (method: string, value: unknown) => string | undefined;

/**
 * Creates a check that selects its rules by method.
 *
 * @param what The name of the value in messages. Absent `params` count as `{}`.
 * @param otherwise The check for a method that is in no table.
 */
/* @__NO_SIDE_EFFECTS__ */
export function byMethod(what: 'params' | 'result' | 'item', otherwise: Check, ...tables: readonly Members[]): MethodCheck {
  let checks: ReadonlyMap<string, Check> | undefined;
  return (method, value) => {
    checks ??= new Map(tables.flatMap((table) => Object.entries(table)));
    const reason = (checks.get(method) ?? otherwise)(value === undefined && what === 'params' ? NOTHING : value);
    return reason === undefined ? undefined : what + reason;
  };
}

const NOTHING: Readonly<Record<string, never>> = {};

function expected(what: string, value: unknown): string {
  return value === undefined ? ` is missing: it must be ${what}` : ` must be ${what}, got ${describe(value)}`;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return quote(value);
  return typeof value === 'object' ? 'an object' : String(value);
}

function quote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}...` : text);
}
