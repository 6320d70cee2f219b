/** `createPostgresStores`: connects to PostgreSQL and returns the stores and the message bus in it. */

import type { Logger } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable, silentLogger } from '@mortise/jsonrpc-core/transport';
import type { ClusterStores } from '@mortise/protocol/contracts';
import { checkStores } from '@mortise/protocol/edge';
import { Pool } from 'pg';
import { PostgresConnection, type PostgresPool } from './connection.ts';
import { toStoreError } from './errors.ts';
import { createEventStore, type PostgresEventOptions } from './event-store.ts';
import { PostgresMessageBus } from './message-bus.ts';
import { migrate } from './migrations.ts';
import { createReplayStore, createSessionStore, createStateStore, createTaskHandleStore } from './small-stores.ts';
import { createTaskStore } from './task-store.ts';

/** The options of `createPostgresStores`. Set exactly one of `url` and `pool`. */
export interface PostgresStoresOptions {
  /** The URL of the database, such as `postgres://user:password@host:5432/database`. Opens up to 10 connections. @default none: set `pool` */
  readonly url?: string | undefined;
  /**
   * A `Pool` of `pg` 8. The program closes it. Set its `statement_timeout`, so that PostgreSQL ends a statement that took longer than
   * `waitMs`. The message bus keeps one of its connections, which must not go through a pooler that shares connections between
   * transactions, such as PgBouncer in its mode `transaction`.
   *
   * @default none: set `url`
   */
  readonly pool?: PostgresPool | undefined;
  /**
   * The schema with all tables, which is created if needed. The processes of one cluster share a schema; others do not see them. Letters,
   * digits and `_`, at most 50 characters.
   *
   * @default 'mortise'
   */
  readonly schema?: string | undefined;
  /**
   * How long a call waits for PostgreSQL, also while it cannot be reached, in milliseconds; then it rejects. While 10,000 calls wait,
   * further calls reject at once.
   *
   * @default 5_000
   */
  readonly waitMs?: number | undefined;
  /** How many events the event store keeps, and for how long. @default the defaults of `PostgresEventOptions` */
  readonly events?: PostgresEventOptions | undefined;
  /** Gets a line when the message bus loses its connection, and one when it has a connection again. @default nothing is logged */
  readonly logger?: Logger | undefined;
}

const OPTIONS: OptionTable<PostgresStoresOptions> = {
  url: 'string',
  pool: { methods: ['connect'] },
  schema: 'string',
  waitMs: 1,
  events: { maxEventsPerStream: 1, maxAgeMs: 1 },
  logger: { methods: ['log'] },
};

/** Connections of the pool for calls, and the one of the bus. */
const MOST_CONNECTIONS = 10;

/**
 * Connects to PostgreSQL 13 or later, creates or updates the tables, and returns the stores and the message bus. Reconnects by itself when
 * connections are lost. Several machines may start at once.
 *
 * Each operation is one statement and one round trip. Leases and expiry go by the clock of PostgreSQL. When the connection of the bus is
 * back, its subscribers are called, because they may have missed messages.
 *
 * What is kept has limits, and the oldest entries are deleted first: of ended tasks 10,000 and 32 MiB for each caller, of events 16 MiB
 * for each stream beside its last event, and about 64 MiB for each session. There is no limit for all callers together. Ids have at
 * most 2,000 bytes.
 *
 * What PostgreSQL has acknowledged survives a crash, unless `synchronous_commit` or `fsync` is `off`. With asynchronous replication, a
 * replica that takes over may lack the last writes.
 *
 * @throws {TypeError} An option is unknown or has a wrong value, or both or neither of `url` and `pool` are set.
 * @throws {PostgresStoreError} `ERR_POSTGRES_UNAVAILABLE`: PostgreSQL cannot be reached.
 * @throws {PostgresStoreError} `ERR_POSTGRES_REPLY`: it refuses the login, or the user may not create the schema.
 * @throws {PostgresStoreError} `ERR_POSTGRES_SCHEMA`: a newer version of this package has changed the tables.
 */
export async function createPostgresStores(options: PostgresStoresOptions): Promise<ClusterStores> {
  checkOptions('createPostgresStores options', options, OPTIONS);
  const { url, schema = 'mortise', waitMs = 5000, logger = silentLogger } = options;
  if ((url === undefined) === (options.pool === undefined))
    throw new TypeError('createPostgresStores options: set "url" or "pool", and not both');
  if (!/^[a-z_][a-z0-9_]{0,49}$/i.test(schema))
    throw new TypeError('createPostgresStores options: "schema" must be a name of letters, digits and _, at most 50 characters long');
  const onError = (error: unknown): void => logger.log('warning', 'A connection to PostgreSQL has an error', { error: String(error) });
  const own = options.pool ? undefined : openPool(url, waitMs, onError);
  const connection = new PostgresConnection(options.pool ?? (own as PostgresPool), schema, waitMs);
  try {
    await migrate(connection);
  } catch (error) {
    await own?.end();
    throw toStoreError(error);
  }
  const bus = new PostgresMessageBus(connection, logger);
  let closed: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    connection.close();
    await bus.close();
    await own?.end();
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
    // A write of nothing, because a PostgreSQL that is a replica answers reads.
    health: () => checkStores(connection.query('UPDATE mortise.migrations SET version = version WHERE false'), bus.probe()),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function openPool(url: string | undefined, waitMs: number, onError: (error: unknown) => void): Pool {
  const limitMs = Math.min(waitMs, 2 ** 31 - 1);
  const pool = new Pool({
    connectionString: url,
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: limitMs,
    // Where this side has given up, PostgreSQL gives up too.
    statement_timeout: limitMs,
    keepAlive: true,
  });
  pool.on('error', onError);
  return pool;
}
