/**
 * The promise that `send` returns when nothing waits: one for all, so that a message costs none. Callers that see this very
 * promise need not listen to it.
 */
export const resolvedPromise: Promise<void> = Promise.resolve();
