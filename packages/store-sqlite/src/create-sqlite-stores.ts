/** `createSqliteStores`: opens a SQLite file and returns the stores in it. */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable, systemClock } from '@mortise/jsonrpc-core/transport';
import type { ClusterStores } from '@mortise/protocol/contracts';
import { SqliteConnection } from './connection.ts';
import { openDatabase, type SqliteDatabase, type SqliteDriverName } from './driver.ts';
import { SqliteStoreError } from './errors.ts';
import { createEventStore, type SqliteEventOptions } from './event-store.ts';
import { migrate } from './migrations.ts';
import { createReplayStore, createSessionStore, createStateStore, createTaskHandleStore } from './small-stores.ts';
import { createTaskStore } from './task-store.ts';

/** The longest busy timeout: SQLite keeps the timeout in 32 bits, and would treat a larger number as no timeout. */
const MAX_BUSY_TIMEOUT_MS = 2 ** 31 - 1;

/** The options of `createSqliteStores`. Set exactly one of `path` and `database`. */
export interface SqliteStoresOptions {
  /** The path of the SQLite file, which is created if needed. `:memory:` is a new database in memory. @default none: set `database` */
  readonly path?: string | undefined;
  /**
   * A database opened by the program, with better-sqlite3, `node:sqlite` or a compatible driver. The program closes it.
   *
   * @default none: set `path`
   */
  readonly database?: SqliteDatabase | undefined;
  /** The SQLite driver that opens `path`. @default better-sqlite3 where it is installed and loads, else node:sqlite */
  readonly driver?: SqliteDriverName | undefined;
  /** How long a call waits while another process writes to the file, in milliseconds. The wait blocks the event loop. @default 5_000 */
  readonly busyTimeoutMs?: number | undefined;
  /**
   * `full`: stored data survives a power failure. `normal`: it survives a crash of the process only; faster, because writes do not flush
   * the disk.
   *
   * @default 'full'
   */
  readonly durability?: 'full' | 'normal' | undefined;
  /** How many events the event store keeps, and for how long. @default the defaults of `SqliteEventOptions` */
  readonly events?: SqliteEventOptions | undefined;
  /** The clock that decides which stored entries have expired. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

const OPTIONS: OptionTable<SqliteStoresOptions> = {
  path: 'string',
  database: { methods: ['exec', 'prepare', 'close'] },
  driver: 'string',
  busyTimeoutMs: 0,
  durability: 'string',
  events: { maxEventsPerStream: 1, maxAgeMs: 0 },
  clock: 'object',
};

/** The stores in one SQLite file. Several stores and several processes may use the file at the same time. */
export interface SqliteStores extends Omit<ClusterStores, 'bus' | 'health'> {
  /**
   * Closes the file, unless the program opened it and passed it as `database`. Closing a single store leaves the file open. A second call does
   * nothing.
   */
  close(): Promise<void>;
}

/**
 * Opens a SQLite file, updates its tables to the current schema, and returns the stores. The names of its tables begin with `mortise_`,
 * so the file may hold tables of the program.
 *
 * The file is in WAL mode, so readers never wait. A call blocks the event loop until it is done. Keep the file on a local disk: SQLite's
 * locks do not work on network file systems.
 *
 * Of ended tasks, 10,000 and 32 Mi characters are kept for each caller, 50,000 and 128 Mi in all. Those that ended first are deleted first.
 *
 * @throws {TypeError} An option is unknown or has a wrong value, or both or neither of `path` and `database` are set.
 * @throws {SqliteStoreError} `ERR_SQLITE_DRIVER`: no driver loads, or the file cannot be opened.
 * @throws {SqliteStoreError} `ERR_SQLITE_SCHEMA`: a newer version of this package wrote the file, or another process keeps it locked.
 */
export async function createSqliteStores(options: SqliteStoresOptions): Promise<SqliteStores> {
  checkOptions('createSqliteStores options', options, OPTIONS);
  const { path, driver, clock = systemClock, durability = 'full' } = options;
  const busyTimeoutMs = options.busyTimeoutMs ?? 5000;
  if ((path === undefined) === (options.database === undefined))
    throw new TypeError('createSqliteStores options: set "path" or "database", and not both');
  const database = options.database ?? (await openDatabase(path ?? '', driver));
  const connection = new SqliteConnection(database, clock);
  try {
    connection.exec(`PRAGMA busy_timeout = ${Math.min(Math.trunc(busyTimeoutMs), MAX_BUSY_TIMEOUT_MS)}`);
    await untilFree(busyTimeoutMs, () => {
      connection.exec('PRAGMA journal_mode = WAL');
      connection.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`);
      migrate(connection);
    });
  } catch (error) {
    if (options.database === undefined) connection.close();
    throw error;
  }
  const close = async (): Promise<void> => {
    if (options.database === undefined) connection.close();
  };
  return {
    tasks: createTaskStore(connection),
    sessions: createSessionStore(connection),
    events: createEventStore(connection, options.events),
    states: createStateStore(connection),
    replays: createReplayStore(connection),
    taskHandles: createTaskHandleStore(connection),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The pause before a locked database file is tried again, in milliseconds. */
const RETRY_MS = 20;

/** Repeats `fn` while another process locks the database file. Needed to switch to WAL mode, which ignores SQLite's busy timeout. */
async function untilFree(timeoutMs: number, fn: () => void): Promise<void> {
  for (let triesLeft = Math.ceil(timeoutMs / RETRY_MS); ; triesLeft--) {
    try {
      return fn();
    } catch (error) {
      if (!isLocked(error)) throw error;
      if (triesLeft <= 0)
        throw new SqliteStoreError(
          'ERR_SQLITE_SCHEMA',
          `another process locked the SQLite file for longer than ${timeoutMs} ms: raise busyTimeoutMs`,
          {
            cause: error,
          },
        );
    }
    await new Promise((resolve) => void setTimeout(resolve, RETRY_MS));
  }
}

function isLocked(error: unknown): boolean {
  return (
    error instanceof Error &&
    /database (?:table )?is locked|SQLITE_BUSY/.test(`${error.message} ${String((error as { code?: unknown }).code)}`)
  );
}
