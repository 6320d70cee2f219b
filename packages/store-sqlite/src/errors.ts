/** The errors of stores that cannot be opened, or are full. Errors of SQL statements come from the driver, unchanged. */

import { MortiseError } from '@mortise/jsonrpc-core';

/**
 * The SQLite stores cannot be opened, or the task store is full.
 *
 * - `ERR_SQLITE_DRIVER`: no driver loads, or the file cannot be opened; `cause` says why. Install better-sqlite3 12, or use Node 22.13 or
 *   later.
 * - `ERR_SQLITE_SCHEMA`: a newer version of this package wrote the file: update the package. Or another process keeps the file locked:
 *   raise `busyTimeoutMs`.
 * - `ERR_TASK_LIMIT`: the unfinished tasks of one principal, or of all, fill the task store. Wait for some of them, or cancel them.
 */
export class SqliteStoreError extends MortiseError {
  override readonly name: string = 'SqliteStoreError';
  override readonly code: 'ERR_SQLITE_DRIVER' | 'ERR_SQLITE_SCHEMA' | 'ERR_TASK_LIMIT';

  constructor(code: SqliteStoreError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
