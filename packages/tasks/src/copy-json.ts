/** A copy of plain JSON data, at a fraction of what `structuredClone` costs. */

/** Copies objects and arrays all the way down; members that are undefined stay so. */
export function copyJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson) as T;
  const copy: Record<string, unknown> = {};
  for (const key in value) {
    // Of what was read from JSON a key may have any name.
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: copyJson(value[key]), enumerable: true, configurable: true, writable: true });
    else copy[key] = copyJson(value[key]);
  }
  return copy as T;
}
