/** What the drivers better-sqlite3 and `node:sqlite` have in common, and the choice between them. */

export type SqlValue = string | number | bigint | null | Uint8Array;

export interface Statement {
  run(...values: SqlValue[]): { readonly changes: number | bigint };
  iterate(...values: SqlValue[]): Iterable<unknown>;
  columns(): readonly { readonly name: string }[];
  /** Whether it returns rows; of better-sqlite3 alone, whose `columns` throws where there are none. */
  readonly reader?: boolean;
  /** Reads integers as bigints, which lose no digit; of better-sqlite3. */
  safeIntegers?(): unknown;
  /** The same of `node:sqlite`. */
  setReadBigInts?(isOn: boolean): void;
}

export interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  close(): unknown;
}

export interface OpenOptions {
  /** SQLite itself refuses each write. */
  readonly isReadOnly: boolean;
}

/** @throws Neither driver is there, or the file cannot be opened. */
export async function openDatabase(path: string, options: OpenOptions): Promise<Database> {
  return (await findDriver())(path, options);
}

async function findDriver(): Promise<(path: string, options: OpenOptions) => Database> {
  try {
    const { default: BetterSqlite } = await import('better-sqlite3');
    // A driver that was built for another Node fails only now.
    new BetterSqlite(':memory:').close();
    return (path, { isReadOnly }) => new BetterSqlite(path, { readonly: isReadOnly });
  } catch {
    const name: string = 'node:sqlite';
    const { DatabaseSync } = (await import(name)) as {
      readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => Database;
    };
    return (path, { isReadOnly }) => new DatabaseSync(path, { readOnly: isReadOnly });
  }
}
