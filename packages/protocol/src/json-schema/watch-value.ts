/** Shows a value to the interpreter so that each look at it is counted: a single step may look at much of it. */

/**
 * How many values a value holds, itself counted; NaN where one of them is not JSON as it stands (members that are `undefined`, dates,
 * `NaN` and the like).
 */
export function countValues(value: unknown): number {
  if (typeof value === 'number') return Number.isFinite(value) ? 1 : Number.NaN;
  if (typeof value !== 'object' || value === null)
    return value === undefined || typeof value === 'function' || typeof value === 'bigint' ? Number.NaN : 1;
  if (typeof (value as { readonly toJSON?: unknown }).toJSON === 'function') return Number.NaN;
  return Object.values(value).reduce<number>((count, member) => count + countValues(member), 1);
}

/**
 * A copy of a value that calls `look` whenever the interpreter looks into an object or a list of such.
 *
 * @param look Throws where there were too many.
 * @param maxNameCharacters Of the names of members.
 */
export function watchValue(value: unknown, look: () => void, maxNameCharacters = Infinity): unknown {
  const handler: ProxyHandler<object> = {
    get(target, name) {
      look();
      return Reflect.get(target, name) as unknown;
    },
    getOwnPropertyDescriptor(target, name) {
      look();
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
  };
  const watch = (part: unknown): unknown => {
    if (typeof part !== 'object' || part === null) return part;
    if (Array.isArray(part)) return part.some((item) => typeof item === 'object') ? new Proxy(part.map(watch), handler) : part;
    for (const name of Object.keys(part)) if (name.length > maxNameCharacters) throw new LongNameError();
    return new Proxy(Object.fromEntries(Object.entries(part).map(([name, member]) => [name, watch(member)])), handler);
  };
  return watch(value);
}

/** A name of a member is too long to hold it against a pattern. */
export class LongNameError extends Error {}
