/** The errors of the SQLite stores. What SQLite itself says of a statement passes through as the driver gives it. */

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

/** What was to be made exists already. */
export class TaskExistsError extends MortiseError {
  override readonly name: string = 'TaskExistsError';
  override readonly code: 'ERR_TASK_EXISTS' = 'ERR_TASK_EXISTS';
}

/** There is no such task, or it has expired. */
export class TaskGoneError extends MortiseError {
  override readonly name: string = 'TaskGoneError';
  override readonly code: 'ERR_TASK_GONE' = 'ERR_TASK_GONE';
}

/** Every error that this package throws: `switch (error.code)` narrows it. */
export type AnySqliteStoreError = SqliteDriverError | SqliteSchemaError | TaskExistsError | TaskGoneError;
