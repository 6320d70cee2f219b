/** The errors of stores that cannot reach PostgreSQL, that PostgreSQL refuses, or that are full. */

import { MortiseError } from '@mortise/jsonrpc-core';

/**
 * An operation of the PostgreSQL stores failed.
 *
 * - `ERR_POSTGRES_UNAVAILABLE`: PostgreSQL cannot be reached, too many calls wait for it, or the connection broke before its answer. In
 *   the last case the operation may have been done. Check that PostgreSQL runs, and read `cause`.
 * - `ERR_POSTGRES_REPLY`: PostgreSQL answered with an error, such as a wrong password, no right to create the schema, or a full disk.
 *   `cause` has it.
 * - `ERR_POSTGRES_SCHEMA`: a newer version of this package has changed the tables. Update the package.
 * - `ERR_TASK_LIMIT`: the unfinished tasks of one principal fill its share of the task store. Wait for some of them, or cancel them.
 */
export class PostgresStoreError extends MortiseError {
  override readonly name: string = 'PostgresStoreError';
  override readonly code: 'ERR_POSTGRES_UNAVAILABLE' | 'ERR_POSTGRES_REPLY' | 'ERR_POSTGRES_SCHEMA' | 'ERR_TASK_LIMIT';

  constructor(code: PostgresStoreError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** SQLSTATEs that say that PostgreSQL starts, stops, has no connection left, or gave up a statement that took too long. */
const IS_AWAY = /^(?:08|57|53300)/;

/** Whether an error means that PostgreSQL cannot be reached, so that later it may be. Only errors that it sent itself have a severity. */
export function isAway(error: unknown): boolean {
  return !(error instanceof Error && 'severity' in error && 'code' in error) || IS_AWAY.test(String(error.code));
}

/** Converts an error of the client library to a `PostgresStoreError`. */
export function toStoreError(error: unknown): PostgresStoreError {
  if (error instanceof PostgresStoreError) return error;
  const message =
    error instanceof Error ? error.message || String((error as { readonly code?: unknown }).code ?? error.name) : String(error);
  if (!isAway(error)) return new PostgresStoreError('ERR_POSTGRES_REPLY', `PostgreSQL refused: ${message}`, { cause: error });
  return new PostgresStoreError(
    'ERR_POSTGRES_UNAVAILABLE',
    `PostgreSQL did not answer (${message}): is it running, and reachable from here?`,
    { cause: error },
  );
}
