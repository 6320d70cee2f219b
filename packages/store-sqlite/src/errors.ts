/** The errors of the SQLite stores. Errors of single statements are those of the driver. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** No driver of SQLite can be loaded, or the `database` option is not a database. */
export class SqliteDriverError extends MortiseError {
  override readonly name: string = 'SqliteDriverError';
  override readonly code: 'ERR_SQLITE_DRIVER' = 'ERR_SQLITE_DRIVER';
}

/** The file was written by a newer version of this package, or cannot be opened as these stores need it. */
export class SqliteSchemaError extends MortiseError {
  override readonly name: string = 'SqliteSchemaError';
  override readonly code: 'ERR_SQLITE_SCHEMA' = 'ERR_SQLITE_SCHEMA';
}

/** Every error that this package throws: `switch (error.code)` narrows it. */
export type AnySqliteStoreError = SqliteDriverError | SqliteSchemaError;
