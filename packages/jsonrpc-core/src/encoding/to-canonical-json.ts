/** One text for equal JSON values, whatever the order of their keys. */

import type { JsonValue } from '../message.ts';

/**
 * Writes a value as JSON with its keys sorted by code unit, for digests and comparisons.
 *
 * Members that are undefined are left out, as `JSON.stringify` does. Recurses: the value must be bounded in depth, as `parseMessage` sees to.
 */
export function toCanonicalJson(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item: JsonValue | undefined) => toCanonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${toCanonicalJson(member as JsonValue)}`);
  return `{${members.join(',')}}`;
}
