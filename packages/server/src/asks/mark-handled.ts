/** Promises that may be left alone. */

const ignore = (): void => undefined;

/**
 * Marks a rejection as handled: a question that nobody waits for, because the handler waits for another one first, must not bring
 * the process down when it rejects.
 *
 * @returns The same promise.
 */
export function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(ignore);
  return promise;
}
