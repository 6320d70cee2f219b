/** `SqliteConnection`: an open SQLite database, with its prepared statements and transactions. */

import type { Clock } from '@mortise/jsonrpc-core';
import type { SqliteDatabase, SqliteStatement, SqliteValue } from './driver.ts';

/** A row of a query's result: its values by column name. */
export type Row = Readonly<Record<string, SqliteValue>>;

/** The LIMIT clause of queries for lists. The cast is needed because SQLite accepts only integers, and a program may pass `Infinity`. */
export const LIMIT = 'LIMIT CAST(? AS INTEGER)';

/** The most expired rows that one statement deletes, so that none takes long. */
const DELETED_AT_ONCE = 1024;

/** After this many writes to a table, the table's expired rows are deleted. */
const WRITES_PER_CLEARING = 256;

/** The database connection that all stores of one file share. All calls are synchronous, so calls of this process never interleave. */
export class SqliteConnection {
  readonly #database: SqliteDatabase;
  readonly #clock: Clock;
  #isClosed = false;
  readonly #statements = new Map<string, SqliteStatement>();
  readonly #writes = new Map<string, number>();

  constructor(database: SqliteDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** The time that decides what has expired, in milliseconds since the epoch. */
  now(): number {
    return this.#clock.now();
  }

  /** Runs an SQL statement that changes rows. @returns How many rows were changed. */
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
   * Runs `fn` in a transaction that locks the database for writing from the start, so that no other process writes between the reads and
   * the writes of `fn`.
   */
  transaction<T>(fn: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const value = fn();
      this.#database.exec('COMMIT');
      return value;
    } catch (error) {
      // Some errors have already ended the transaction.
      try {
        this.#database.exec('ROLLBACK');
      } catch {
        // The transaction has already been rolled back.
      }
      throw error;
    }
  }

  /** Deletes some expired rows of a table, once in many calls, so that these rows do not fill the file. @returns Whether it did. */
  clearSometimes(table: string, key = 'id'): boolean {
    const writes = (this.#writes.get(table) ?? 0) + 1;
    this.#writes.set(table, writes % WRITES_PER_CLEARING);
    if (writes % WRITES_PER_CLEARING > 0) return false;
    const some = `SELECT ${key} FROM ${table} WHERE expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ${DELETED_AT_ONCE}`;
    this.run(`DELETE FROM ${table} WHERE (${key}) IN (${some})`, this.now());
    return true;
  }

  /** A second call does nothing. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#statements.clear();
    this.#database.close();
  }

  #prepare(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }
}

/** Reads a column of a row as text. */
export function text(row: Row, column: string): string {
  return String(row[column]);
}

/** Reads a column of a row as a number. */
export function number(row: Row, column: string): number {
  return Number(row[column]);
}
