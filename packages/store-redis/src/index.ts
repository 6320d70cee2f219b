/** `@mortise/store-redis`: the stores and the message bus in Redis. Start with `createRedisStores`. */

export { createRedisStores, type RedisStoresOptions } from './create-redis-stores.ts';
export type { RedisClient } from './connection.ts';
export { RedisStoreError } from './errors.ts';
export type { RedisEventOptions } from './event-store.ts';
