/** The errors of stores that cannot reach Redis, that Redis refuses, or that are full. */

import { MortiseError } from '@mortise/jsonrpc-core';

/**
 * An operation of the Redis stores failed.
 *
 * - `ERR_REDIS_UNAVAILABLE`: Redis cannot be reached, too many calls wait for it, or the connection broke before its answer. In the last
 *   case the operation may have been done. Check that Redis runs, and read `cause`.
 * - `ERR_REDIS_REPLY`: Redis answered with an error, such as `OOM` (no memory left) or `READONLY` (a replica). `cause` has it.
 * - `ERR_TASK_LIMIT`: the unfinished tasks of one principal fill its share of the task store. Wait for some of them, or cancel them.
 */
export class RedisStoreError extends MortiseError {
  override readonly name: string = 'RedisStoreError';
  override readonly code: 'ERR_REDIS_UNAVAILABLE' | 'ERR_REDIS_REPLY' | 'ERR_TASK_LIMIT';

  constructor(code: RedisStoreError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Converts an error of the client library to a `RedisStoreError`. */
export function toStoreError(error: unknown): RedisStoreError {
  if (error instanceof RedisStoreError) return error;
  const message =
    error instanceof Error ? error.message || String((error as { readonly code?: unknown }).code ?? error.name) : String(error);
  // What Redis itself answers begins with a code in capitals.
  if (/^-?[A-Z]{2,}\b/.test(message)) return new RedisStoreError('ERR_REDIS_REPLY', `Redis refused: ${message}`, { cause: error });
  return new RedisStoreError('ERR_REDIS_UNAVAILABLE', `Redis did not answer (${message}): is it running, and reachable from here?`, {
    cause: error,
  });
}
