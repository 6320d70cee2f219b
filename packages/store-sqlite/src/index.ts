/** `@mortise/store-sqlite`: durable stores for tasks, sessions, events and request states in one SQLite file. */

export { createSqliteStores, type SqliteStores, type SqliteStoresOptions } from './create-sqlite-stores.ts';
export type { SqliteDatabase, SqliteDriverName, SqliteStatement, SqliteValue } from './driver.ts';
export type { SqliteEventOptions } from './event-store.ts';
export { SqliteStoreError } from './errors.ts';
