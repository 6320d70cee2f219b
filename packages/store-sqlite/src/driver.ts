/** The interface that the drivers better-sqlite3 and `node:sqlite` have in common, and the choice between these two. */

import { SqliteStoreError } from './errors.ts';

/** A value that SQLite can store. */
export type SqliteValue = string | number | bigint | null | Uint8Array;

/** A prepared SQL statement, as better-sqlite3 and `node:sqlite` have it. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number | bigint };
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
}

/** An open database: a `Database` of better-sqlite3 or a `DatabaseSync` of `node:sqlite`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

/** The SQLite drivers that this package can load by itself. */
export type SqliteDriverName = 'better-sqlite3' | 'node:sqlite';

type Open = (path: string) => SqliteDatabase;

/** Loads each driver. better-sqlite3 is tried first, because it is there only if the program installed it. */
const drivers: Readonly<Record<SqliteDriverName, () => Promise<Open>>> = {
  'better-sqlite3': async () => {
    // The name is in a variable so that bundlers and type checkers ignore this optional package.
    const name: string = 'better-sqlite3';
    const loaded: unknown = await import(name);
    const Database = (loaded as { readonly default: new (path: string) => SqliteDatabase }).default;
    // The native module loads with the first database; one built for another version of Node fails here.
    new Database(':memory:').close();
    return (path) => new Database(path);
  },
  'node:sqlite': async () => {
    const name: string = 'node:sqlite';
    const { DatabaseSync } = (await import(name)) as { readonly DatabaseSync: new (path: string) => SqliteDatabase };
    return (path) => new DatabaseSync(path);
  },
};

/**
 * Opens a database with the first driver that loads.
 *
 * @throws {SqliteStoreError} `ERR_SQLITE_DRIVER`: no driver loads (`cause` has the error of each), or the file cannot be opened.
 */
export async function openDatabase(path: string, driver: SqliteDriverName | undefined): Promise<SqliteDatabase> {
  const names: readonly SqliteDriverName[] = driver === undefined ? ['better-sqlite3', 'node:sqlite'] : [driver];
  const reasons: unknown[] = [];
  for (const name of names) {
    let open: Open;
    try {
      open = await drivers[name]();
    } catch (error) {
      reasons.push(error);
      continue;
    }
    try {
      return open(path);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new SqliteStoreError('ERR_SQLITE_DRIVER', `the database ${path} cannot be opened: ${reason}`, { cause: error });
    }
  }
  throw new SqliteStoreError(
    'ERR_SQLITE_DRIVER',
    `no driver of SQLite can be loaded (tried ${names.join(', ')}): install better-sqlite3 12, or run on Node 22.13 or later, which has node:sqlite`,
    { cause: new AggregateError(reasons, 'no SQLite driver could be loaded') },
  );
}
