import type { JsonObject } from './message.ts';

/** A JSON object that is still being built. */
export type MutableJsonObject = { -readonly [K in keyof JsonObject]: JsonObject[K] };

/**
 * Makes a shallow copy to add members to. Does what spread does, ten times faster where members are added (V8 of Node 20).
 *
 * Assigning would take a member named `__proto__`, which JSON may hold, for the prototype; so such an object is spread.
 */
export function copyObject(source: JsonObject): MutableJsonObject {
  return Object.hasOwn(source, '__proto__') ? { ...source } : Object.assign({}, source);
}
