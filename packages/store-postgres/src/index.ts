/** `@mortise/store-postgres`: the stores and the message bus in PostgreSQL. Start with `createPostgresStores`. */

export { createPostgresStores, type PostgresStoresOptions } from './create-postgres-stores.ts';
export type { PostgresClient, PostgresPool } from './connection.ts';
export { PostgresStoreError } from './errors.ts';
export type { PostgresEventOptions } from './event-store.ts';
