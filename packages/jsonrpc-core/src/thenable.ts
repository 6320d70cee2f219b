/** Helpers that await a value only if it is a promise, so that a synchronous handler costs no promise. */

/** Tells whether a value is a promise: it has a `then` method. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return value instanceof Promise || (typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function');
}

/** Calls `next` with a value: at once, or if the value is a promise, when it is fulfilled. */
export function andThen<T, R>(value: T | PromiseLike<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}
