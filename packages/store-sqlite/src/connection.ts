/** One open database: its statements, prepared once, and its transactions. */

import type { SqliteDatabase, SqliteStatement, SqliteValue } from './driver.ts';

/** A row, by its columns' names. */
export type Row = Readonly<Record<string, SqliteValue>>;

/** Of a statement, with its value: SQLite knows no other than a whole number, and a program may give `Infinity`. */
export const LIMIT = 'LIMIT CAST(? AS INTEGER)';

/** How often expired rows of a kind are cleared: once in so many writes. */
const WRITES_PER_CLEARING = 256;

/** What all stores over one file share. Every call runs to its end at once: no other call of this process comes between. */
export class SqliteConnection {
  readonly #database: SqliteDatabase;
  readonly #statements = new Map<string, SqliteStatement>();
  readonly #writes = new Map<string, number>();

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  /** @returns How many rows were changed. */
  run(sql: string, ...values: SqliteValue[]): number {
    return Number(this.#prepare(sql).run(...values).changes);
  }

  get(sql: string, ...values: SqliteValue[]): Row | undefined {
    return this.#prepare(sql).get(...values) as Row | undefined;
  }

  all(sql: string, ...values: SqliteValue[]): readonly Row[] {
    return this.#prepare(sql).all(...values) as Row[];
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /**
   * Runs `fn` in a transaction that has the right to write from its first statement on: what it reads is what it writes over,
   * whatever other processes do.
   */
  transaction<T>(fn: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const value = fn();
      this.#database.exec('COMMIT');
      return value;
    } catch (error) {
      // Some errors have ended the transaction already.
      try {
        this.#database.exec('ROLLBACK');
      } catch {
        // There is nothing left to take back.
      }
      throw error;
    }
  }

  /** Deletes what has expired now and then, so that a file does not grow without end. */
  clearSometimes(what: string, clear: () => void): void {
    const writes = (this.#writes.get(what) ?? 0) + 1;
    this.#writes.set(what, writes % WRITES_PER_CLEARING);
    if (writes % WRITES_PER_CLEARING === 0) clear();
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #prepare(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }
}

/** A row's column that holds text. */
export function text(row: Row, column: string): string {
  return String(row[column]);
}

/** A row's column that holds a number. */
export function number(row: Row, column: string): number {
  return Number(row[column]);
}
