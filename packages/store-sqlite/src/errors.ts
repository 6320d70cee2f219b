/** The error for stores that cannot be opened. Errors of later SQL statements come from the driver, unchanged. */

import { MortiseError } from '@mortise/jsonrpc-core';

/**
 * The SQLite stores cannot be opened.
 *
 * `ERR_SQLITE_DRIVER`: no driver loads, the file cannot be opened, or the `database` option is not a database.
 * `ERR_SQLITE_SCHEMA`: a newer version of this package wrote the file, or another process keeps it locked.
 */
export class SqliteStoreError extends MortiseError {
  override readonly name: string = 'SqliteStoreError';
  override readonly code: 'ERR_SQLITE_DRIVER' | 'ERR_SQLITE_SCHEMA';

  constructor(code: SqliteStoreError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
