/** The errors of stores that cannot be opened, or are full. Errors of SQL statements come from the driver, unchanged. */

import { MortiseError } from '@mortise/jsonrpc-core';

/**
 * The SQLite stores cannot be opened, or the task store is full.
 *
 * `ERR_SQLITE_DRIVER`: no driver loads, or the file cannot be opened.
 * `ERR_SQLITE_SCHEMA`: a newer version of this package wrote the file, or another process keeps it locked.
 * `ERR_TASK_LIMIT`: the unfinished tasks of one principal, or of all, fill the task store.
 */
export class SqliteStoreError extends MortiseError {
  override readonly name: string = 'SqliteStoreError';
  override readonly code: 'ERR_SQLITE_DRIVER' | 'ERR_SQLITE_SCHEMA' | 'ERR_TASK_LIMIT';

  constructor(code: SqliteStoreError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
