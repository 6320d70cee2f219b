/**
 * Functions that check JSON values, in one pass and without allocations if the value is valid. If it is not, a check returns the end of a
 * sentence about the first error; the sentence begins with the name of the value (`.name must be a string, got 5`).
 *
 * The functions that create checks are marked as free of side effects, so that bundlers drop unused checks.
 */

import { isJsonObject, isRequestId } from '@mortise/jsonrpc-core/messages';

/** Checks a value. Returns undefined if it is valid, else the end of an error message, such as ` must be a string, got 5`. */
export type Check = (value: unknown) => string | undefined;

/** The checks of an object's members, by member name. A `?` at the end of a name marks an optional member. */
export type Members = Readonly<Record<string, Check>>;

/** The maximum length of a value quoted in an error message, in characters. Longer strings are shortened. */
const MAX_QUOTED = 40;

export const string: Check = (value) => (typeof value === 'string' ? undefined : expected('a string', value));
export const number: Check = (value) => (typeof value === 'number' ? undefined : expected('a number', value));
export const integer: Check = (value) => (Number.isSafeInteger(value) ? undefined : expected('an integer', value));
export const boolean: Check = (value) => (typeof value === 'boolean' ? undefined : expected('a boolean', value));
export const anyObject: Check = (value) => (isJsonObject(value) ? undefined : expected('an object', value));
export const anyValue: Check = (value) => (value === undefined ? expected('a value', value) : undefined);
/** Accepts a request id or progress token: a string or an integer. */
export const id: Check = (value) => (isRequestId(value) ? undefined : expected('a string or an integer', value));

/** Creates a check that accepts any of the given strings. */
/* @__NO_SIDE_EFFECTS__ */
export function oneOf(values: readonly string[]): Check {
  return (value) =>
    (values as readonly unknown[]).includes(value) ? undefined : expected(`one of ${values.map((each) => `"${each}"`).join(', ')}`, value);
}

/** Creates a check that accepts an object if the given members pass their checks. Other members are ignored. */
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

/** Creates a check that calls `make` at its first use to obtain the actual check. */
/* @__NO_SIDE_EFFECTS__ */
export function later(make: () => Check): Check {
  let check: Check | undefined;
  return (value) => (check ??= make())(value);
}

/** Creates a check that accepts an array if all its items pass the given check. */
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

/** Creates a check that accepts an object with any member names if all values pass. A member that is `undefined` counts as absent. */
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

/** Creates a check for a tagged union: the string in the object's member `key` selects the check for the object. */
/* @__NO_SIDE_EFFECTS__ */
export function tagged(key: string, shapes: Members): Check {
  const tag = later(() => object({ [key]: oneOf(Object.keys(shapes)) }));
  return (value) => {
    const name = isJsonObject(value) ? value[key] : undefined;
    const shape = typeof name === 'string' && Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    return (shape ?? tag)(value);
  };
}

/** Creates a check that accepts a value if any of the given checks does. If none does, the message is that of the first check. */
/* @__NO_SIDE_EFFECTS__ */
export function anyOf(first: Check, ...others: readonly Check[]): Check {
  return (value) => {
    const reason = first(value);
    return reason === undefined || others.some((check) => check(value) === undefined) ? undefined : reason;
  };
}

/** Creates a check that accepts one item, or an array of items, that pass the given check. */
/* @__NO_SIDE_EFFECTS__ */
export function oneOrMany(item: Check): Check {
  const many = array(item);
  return (value) => (Array.isArray(value) ? many(value) : item(value));
}

/** Checks the params or result of a method, or one item of its list result. Returns undefined if valid, else an error sentence. */
export type MethodCheck = (method: string, value: unknown) => string | undefined;

/**
 * Creates a check of params, results or list items, which looks up in `tables` what to check for each method.
 *
 * @param what What the value is, for error messages. For `params`, an absent value counts as `{}`.
 * @param otherwise The check for a method that is not in `tables`.
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
