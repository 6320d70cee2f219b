/**
 * Spreads runs of tasks over workers.
 *
 * Q1  A job that was accepted is given to a worker at least once, also after a crash.
 * Q2  A job whose handler rejects is given out again after a delay; the lease in the `TaskStore` keeps runs apart.
 */

/** Hands tasks out to workers. Q1 and Q2 above. */
export interface TaskQueue {
  enqueue(taskId: string, options?: { readonly delayMs?: number }): Promise<void>;
  /** Starts taking jobs. @returns A function that stops and waits for those in hand. */
  work(handler: (taskId: string, signal: AbortSignal) => Promise<void>): () => Promise<void>;
  close(): Promise<void>;
}
