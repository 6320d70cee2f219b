/** Tells what must be waited for, so that what need not costs no promise. Any object with a `then` counts, as for `await`. */

export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return value instanceof Promise || (typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function');
}
