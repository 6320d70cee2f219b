/** `withDelay`: a store as it is seen over a network. */

/**
 * Wraps a store, queue or bus so that each call takes longer, as over a network: half of the time before it reaches the store, half until
 * the result is back.
 *
 * @param delayMs How much longer each call takes, in milliseconds.
 * @param options.except The methods that do not return a promise, such as `work` of a queue. They are not delayed.
 */
export function withDelay<T extends object>(inner: T, delayMs: number, options: { readonly except?: readonly (keyof T)[] } = {}): T {
  if (delayMs === 0) return inner;
  return new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      const call = (...args: unknown[]): unknown => member.apply(target, args);
      if (options.except?.includes(name as keyof T)) return call;
      return async (...args: unknown[]) => {
        // What the caller changes meanwhile is not sent.
        const sent = args.map((arg) => (typeof arg === 'object' ? structuredClone(arg) : arg));
        await pause(delayMs / 2);
        const result = await call(...sent);
        await pause(delayMs / 2);
        return result;
      };
    },
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
