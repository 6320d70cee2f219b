/** `createRedisStores`: connects to Redis and returns the stores and the message bus in it. */

import type { Logger } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable, silentLogger } from '@mortise/jsonrpc-core/transport';
import type { ClusterStores } from '@mortise/protocol/contracts';
import { checkStores } from '@mortise/protocol/edge';
import { createClient } from '@redis/client';
import { logConnection, type RedisClient, RedisConnection } from './connection.ts';
import { toStoreError } from './errors.ts';
import { createEventStore, type RedisEventOptions } from './event-store.ts';
import { RedisMessageBus } from './message-bus.ts';
import { createReplayStore, createSessionStore, createStateStore, createTaskHandleStore } from './small-stores.ts';
import { createTaskStore } from './task-store.ts';

/** The options of `createRedisStores`. Set exactly one of `url` and `client`. */
export interface RedisStoresOptions {
  /** The URL of Redis, such as `redis://user:password@host:6379/0`, or `rediss:` for TLS. @default none: set `client` */
  readonly url?: string | undefined;
  /**
   * A connected client of `redis` or `@redis/client` 5 or later, from `createClient` or `createCluster`. The program closes it.
   *
   * @default none: set `url`
   */
  readonly client?: RedisClient | undefined;
  /**
   * Begins all keys and channels. The processes of one cluster share a prefix; others do not see them. The databases of one Redis do not
   * separate clusters, because they share the channels of the message bus.
   *
   * @default 'mortise'
   */
  readonly prefix?: string | undefined;
  /**
   * How long a call waits for Redis, also while it cannot be reached, in milliseconds; then it rejects. While 10,000 calls wait, further
   * calls reject at once.
   *
   * @default 5_000
   */
  readonly waitMs?: number | undefined;
  /** How many events the event store keeps, and for how long. @default the defaults of `RedisEventOptions` */
  readonly events?: RedisEventOptions | undefined;
  /** Gets a line when a connection is lost, and one when it is back. @default nothing is logged */
  readonly logger?: Logger | undefined;
}

const OPTIONS: OptionTable<RedisStoresOptions> = {
  url: 'string',
  client: { methods: ['evalSha', 'eval', 'sPublish', 'duplicate'] },
  prefix: 'string',
  waitMs: 1,
  events: { maxEventsPerStream: 1, maxAgeMs: 1 },
  logger: { methods: ['log'] },
};

/** A connection that says nothing for this long is dead. Pings come three times as often. */
const SILENCE_MS = 15_000;

/**
 * Connects to Redis 7, or Valkey, and returns the stores and the message bus in it. Reconnects by itself when the connection is lost.
 *
 * Each operation is one round trip. Leases and expiry go by the clock of Redis. When the connection of the bus is back, its subscribers
 * are called, because they may have missed messages.
 *
 * What is kept has limits, and the oldest entries are deleted first: of ended tasks 10,000 and 32 MiB for each caller, of events 16 MiB
 * for each stream beside its last event, and 64 MiB for each session. There is no limit for all callers together.
 *
 * What Redis has acknowledged is as durable as its configuration: with `appendonly yes` and `appendfsync always` it survives a crash. A
 * replica that takes over may lack the last writes. Set `maxmemory-policy noeviction`: other policies delete entries that are in use.
 *
 * @throws {TypeError} An option is unknown or has a wrong value, or both or neither of `url` and `client` are set.
 * @throws {RedisStoreError} `ERR_REDIS_UNAVAILABLE`: Redis cannot be reached, or refuses the login.
 */
export async function createRedisStores(options: RedisStoresOptions): Promise<ClusterStores> {
  checkOptions('createRedisStores options', options, OPTIONS);
  const { url, prefix = 'mortise', waitMs = 5000, logger = silentLogger } = options;
  if ((url === undefined) === (options.client === undefined))
    throw new TypeError('createRedisStores options: set "url" or "client", and not both');
  if (!/^[^{}]+$/.test(prefix)) throw new TypeError('createRedisStores options: "prefix" must be a text without { and }');
  const client = options.client ?? (await connect(url ?? '', waitMs, logger));
  const connection = new RedisConnection(client, prefix, waitMs);
  const bus = new RedisMessageBus(connection, logger);
  let closed: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await bus.close();
    if (options.client === undefined) await closeClient(client, connection);
  };
  const close = (): Promise<void> => (closed ??= end());
  return {
    bus,
    tasks: createTaskStore(connection),
    sessions: createSessionStore(connection),
    events: createEventStore(connection, options.events),
    states: createStateStore(connection),
    replays: createReplayStore(connection),
    taskHandles: createTaskHandleStore(connection),
    health: () => checkStores(connection.probe(), bus.probe()),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Connects a client whose calls do not wait without end. Later connections are made by the client itself. */
async function connect(url: string, waitMs: number, logger: Logger): Promise<RedisClient> {
  let wasConnected = false;
  const client = createClient({
    url,
    pingInterval: SILENCE_MS / 3,
    socket: {
      connectTimeout: Math.min(waitMs, 2 ** 31 - 1),
      socketTimeout: SILENCE_MS,
      reconnectStrategy: (retries, cause) => (wasConnected ? pauseBefore(retries) : cause),
    },
  });
  logConnection(client, 'The connection to Redis', logger);
  await client.connect().catch((error: unknown) => {
    if (client.isOpen) client.destroy();
    throw toStoreError(error);
  });
  wasConnected = true;
  return client;
}

/** How long to wait before the next connection, in milliseconds: longer each time, and not the same for all processes. */
function pauseBefore(retries: number): number {
  return Math.min(2 ** retries * 50, 1000) * (0.5 + Math.random() / 2);
}

async function closeClient(client: RedisClient, connection: RedisConnection): Promise<void> {
  // Waits for answers. Where no connection is, or it breaks now, none will come.
  const isReady = client.isOpen && !('isReady' in client && client.isReady === false);
  if (isReady) await connection.within(client.close()).catch(() => undefined);
  if (client.isOpen) client.destroy();
}
