/** Shows a value to the interpreter so that each look at it is counted, for the keywords that look at all of it within one step. */

const CHARACTERS_PER_WORK = 64;

/**
 * Wraps a value and, as they are reached, its parts: a copy of each, for members that cannot be changed would have to be shown as they are.
 *
 * @param work Called with what a look costs; throws where it has become too much.
 */
export function watchValue(value: unknown, work: (cost: number) => void): unknown {
  const shown = new Map<object, object>();
  const handler: ProxyHandler<object> = {
    get(target, name) {
      work(1);
      return show(Reflect.get(target, name));
    },
    ownKeys(target) {
      const names = Reflect.ownKeys(target);
      work(names.length);
      return names;
    },
    getOwnPropertyDescriptor(target, name) {
      work(1 + (name as string).length / CHARACTERS_PER_WORK);
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
  };
  const show = (part: unknown): unknown => {
    if (typeof part !== 'object' || part === null) return part;
    const known = shown.get(part);
    if (known !== undefined) return known;
    const proxy = new Proxy(copyPart(part, work), handler);
    shown.set(part, proxy);
    return proxy;
  };
  return show(value);
}

/** Its members are still those of the value: each is copied when it is reached. */
function copyPart(part: object, work: (cost: number) => void): object {
  if (Array.isArray(part)) {
    work(part.length);
    return [...(part as readonly unknown[])];
  }
  work(Object.keys(part).length);
  return { ...part };
}
