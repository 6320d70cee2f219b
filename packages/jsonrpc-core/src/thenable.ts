/** Helpers that await only promises, so that a synchronous handler costs no promise. */

/** Tells whether a value has a `then` method, as `await` does. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return value instanceof Promise || (typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function');
}

/** Calls `next` with a value: at once, or when its promise is fulfilled. */
export function andThen<T, R>(value: T | PromiseLike<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}
