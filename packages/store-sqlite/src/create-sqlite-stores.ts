/** `createSqliteStores`: opens a file and returns the stores over it. */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable, systemClock } from '@mortise/jsonrpc-core/transport';
import type { EventStore, ReplayStore, SessionStore, StateStore, TaskHandleStore, TaskStore } from '@mortise/protocol/contracts';
import { SqliteConnection } from './connection.ts';
import { isDatabase, openDatabase, type SqliteDatabase, type SqliteDriverName } from './driver.ts';
import { SqliteStoreError } from './errors.ts';
import { SqliteEventStore, type SqliteEventOptions } from './event-store.ts';
import { migrate } from './migrations.ts';
import { SqliteReplayStore, SqliteSessionStore, SqliteStateStore, SqliteTaskHandleStore } from './table-stores.ts';
import { SqliteTaskStore } from './task-store.ts';

/** SQLite counts these milliseconds with 32 bits, and takes a larger number as no timeout at all. */
const MAX_BUSY_TIMEOUT_MS = 2 ** 31 - 1;

/** Where the file is and how it is used. Either `path` or `database` is given. */
export interface SqliteStoresOptions {
  /** The file's path; the file is created if it does not exist. `:memory:` is a database that only this call sees. @default none, with `database` */
  readonly path?: string | undefined;
  /**
   * A database that the program opened itself, with better-sqlite3, `node:sqlite` or what looks like them. It stays the program's to close.
   *
   * @default none, with `path`
   */
  readonly database?: SqliteDatabase | undefined;
  /** The driver that opens `path`. @default better-sqlite3 where it is installed and loads, else node:sqlite */
  readonly driver?: SqliteDriverName | undefined;
  /** How long a call waits for another process that writes, in milliseconds. The event loop waits too. @default 5_000 */
  readonly busyTimeoutMs?: number | undefined;
  /**
   * Whether what was written outlives a loss of power (`full`), or only the death of the process (`normal`, which spares a flush
   * of the disk for each write).
   *
   * @default 'full'
   */
  readonly durability?: 'full' | 'normal' | undefined;
  /** How much the event store keeps. @default as each of its members says */
  readonly events?: SqliteEventOptions | undefined;
  /** Decides what has expired. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

const OPTIONS: OptionTable<SqliteStoresOptions> = {
  path: 'string',
  database: 'any',
  driver: 'string',
  busyTimeoutMs: 0,
  durability: 'string',
  events: { maxEventsPerStream: 1, maxAgeMs: 0 },
  clock: 'object',
};

/** The stores over one file. All may be used at once, by any number of processes. */
export interface SqliteStores extends AsyncDisposable {
  readonly tasks: TaskStore;
  readonly sessions: SessionStore;
  readonly events: EventStore;
  readonly states: StateStore;
  readonly replays: ReplayStore;
  /** For clients: the ids of their own tasks. */
  readonly taskHandles: TaskHandleStore;
  /** Closes the file, unless it was handed over open. The stores' own `close` leaves it open. */
  close(): Promise<void>;
}

/**
 * Opens a file and brings it to the newest layout.
 *
 * @throws {TypeError} An unknown option, or a value of the wrong kind; both `path` and `database`, or neither.
 * @throws {SqliteStoreError} `ERR_SQLITE_DRIVER`: no driver loads, or the file cannot be opened.
 * @throws {SqliteStoreError} `ERR_SQLITE_SCHEMA`: the file was written by a newer version of this package, or stays locked.
 */
export async function createSqliteStores(options: SqliteStoresOptions): Promise<SqliteStores> {
  checkOptions('createSqliteStores options', options, OPTIONS);
  const { path, driver, clock = systemClock, durability = 'full' } = options;
  const busyTimeoutMs = options.busyTimeoutMs ?? 5000;
  if ((path === undefined) === (options.database === undefined))
    throw new TypeError('createSqliteStores needs either "path" or "database", not both: give the one that it should use');
  if (options.database !== undefined && !isDatabase(options.database))
    throw new SqliteStoreError(
      'ERR_SQLITE_DRIVER',
      'the database must have exec, prepare and close: hand over one of better-sqlite3 or of node:sqlite',
    );
  const database = options.database ?? (await openDatabase(path ?? '', driver));
  const connection = new SqliteConnection(database);
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
    tasks: new SqliteTaskStore(connection, clock),
    sessions: new SqliteSessionStore(connection, clock),
    events: new SqliteEventStore(connection, clock, options.events),
    states: new SqliteStateStore(connection, clock),
    replays: new SqliteReplayStore(connection, clock),
    taskHandles: new SqliteTaskHandleStore(connection),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** How long to wait before a file that another process is changing over is tried again, in milliseconds. */
const RETRY_MS = 20;

/** Changing a new file over to WAL does not wait for other processes that do the same, whatever the busy timeout. */
async function untilFree(timeoutMs: number, fn: () => void): Promise<void> {
  for (let triesLeft = Math.ceil(timeoutMs / RETRY_MS); ; triesLeft--) {
    try {
      return fn();
    } catch (error) {
      if (!isLocked(error)) throw error;
      if (triesLeft <= 0)
        throw new SqliteStoreError('ERR_SQLITE_SCHEMA', `the file is locked for longer than ${timeoutMs} ms: raise busyTimeoutMs`, {
          cause: error,
        });
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
