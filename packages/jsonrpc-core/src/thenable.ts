/** Waiting only where something must be waited for, so that a synchronous handler costs no promise. */

/** Any object with a `then` counts, as for `await`. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return value instanceof Promise || (typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function');
}

/** Goes on with a value: at once, or when its promise is fulfilled. */
export function andThen<T, R>(value: T | PromiseLike<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}
