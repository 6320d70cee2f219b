/** Opens a SQLite database with better-sqlite3, or with `node:sqlite` where that is not installed. */

/** A value that SQLite stores. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** A row, by the names of its columns. */
export type Row = Readonly<Record<string, SqlValue>>;

/** One statement, compiled by SQLite. */
export interface Statement {
  /** A query has columns; ATTACH, VACUUM and INSERT have none. */
  readonly hasColumns: boolean;
  /** Reads row after row, so that the reader may stop early. */
  iterate(...values: SqlValue[]): Iterable<Row>;
  run(...values: SqlValue[]): { readonly changes: number | bigint };
}

/** An open database. */
export interface Database {
  exec(sql: string): void;
  /** @throws If the text is not exactly one statement. */
  prepare(sql: string): Statement;
  close(): void;
}

interface DriverStatement {
  /** better-sqlite3: whether it has columns. */
  readonly reader?: boolean;
  /** `node:sqlite`: the part of the text that was compiled. */
  readonly sourceSQL?: string;
  columns(): readonly unknown[];
  iterate(...values: SqlValue[]): Iterable<Row>;
  run(...values: SqlValue[]): { readonly changes: number | bigint };
}

interface DriverDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): DriverStatement;
  close(): unknown;
}

type Open = (path: string, isReadOnly: boolean) => DriverDatabase;

/** Opens a file. A read-only connection does not create it, and `query_only` stops what such a connection may still write, as in temporary tables. */
export async function openDatabase(path: string, { isReadOnly }: { readonly isReadOnly: boolean }): Promise<Database> {
  const database = (await findDriver())(path, isReadOnly);
  if (isReadOnly) database.exec('PRAGMA query_only = ON');
  return {
    exec: (sql) => void database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql);
      // better-sqlite3 refuses a second statement; node:sqlite leaves it out.
      if (statement.sourceSQL !== undefined && sql.slice(statement.sourceSQL.length).trim() !== '')
        throw new Error('send one statement at a time');
      return {
        hasColumns: statement.reader ?? statement.columns().length > 0,
        iterate: (...values) => statement.iterate(...values),
        run: (...values) => statement.run(...values),
      };
    },
    close: () => void database.close(),
  };
}

async function findDriver(): Promise<Open> {
  // The names are in variables, because neither needs to be there.
  const names = ['better-sqlite3', 'node:sqlite'] as const;
  try {
    const { default: Driver } = (await import(names[0] as string)) as {
      readonly default: new (path: string, options?: { readonly readonly: boolean }) => DriverDatabase;
    };
    // A driver that was built for another Node fails only now.
    new Driver(':memory:').close();
    return (path, isReadOnly) => new Driver(path, { readonly: isReadOnly });
  } catch {
    const { DatabaseSync } = (await import(names[1] as string).catch((cause: unknown) => {
      throw new Error('No driver of SQLite: install better-sqlite3, or run Node 22.16 or later', { cause });
    })) as { readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => DriverDatabase };
    return (path, isReadOnly) => new DatabaseSync(path, { readOnly: isReadOnly });
  }
}
