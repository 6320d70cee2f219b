/** What can go wrong when a file of SQLite is opened. Errors of single statements are those of the driver. */

import { MortiseError } from '@mortise/jsonrpc-core';

/**
 * The stores cannot be opened.
 *
 * `ERR_SQLITE_DRIVER`: no driver loads, the file cannot be opened, or the `database` option is not a database.
 * `ERR_SQLITE_SCHEMA`: a newer version of this package wrote the file, or it stays locked.
 */
export class SqliteStoreError extends MortiseError {
  override readonly name: string = 'SqliteStoreError';
  override readonly code: 'ERR_SQLITE_DRIVER' | 'ERR_SQLITE_SCHEMA';

  constructor(code: SqliteStoreError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
