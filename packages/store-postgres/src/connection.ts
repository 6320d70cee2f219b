/** `PostgresConnection`: runs the statements of the stores on the connections of a pool, and bounds how long and how many calls wait. */

import { toStoredText, within } from '@mortise/protocol/edge';
import { PostgresStoreError, isAway, toStoreError } from './errors.ts';

/** What the stores need of a connection of `pg`. */
export interface PostgresClient {
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: unknown[] }>;
  on(event: string, listener: (...values: unknown[]) => void): unknown;
  off(event: string, listener: (...values: unknown[]) => void): unknown;
  /** Gives the connection back to its pool; with `true`, ends it. */
  release(isBroken?: boolean): void;
}

/** What the stores need of a `Pool` of `pg`. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
}

/** A row of a query's result: its values by column name. */
export type Row = Readonly<Record<string, unknown>>;

/** The pause before PostgreSQL is tried again while it cannot be reached, in milliseconds. */
const PAUSE_MS = 100;

/** The most expired rows that one statement deletes, so that none takes long. */
const DELETED_AT_ONCE = 1000;

/** After this many writes to a table, the table's expired rows are deleted. */
const WRITES_PER_CLEARING = 256;

/** The most calls, and messages of the bus, that wait for PostgreSQL at once. */
export const MAX_WAITING = 10_000;

/** The pool that all stores of one process share. */
export class PostgresConnection {
  readonly schema: string;
  readonly waitMs: number;
  readonly #pool: PostgresPool;
  readonly #writes = new Map<string, number>();
  #waiting = 0;
  /** Set while PostgreSQL cannot be reached: settles when it can, or when `waitMs` have passed. All calls wait for it together. */
  #comingBack: Promise<void> | undefined;
  #isClosed = false;

  constructor(pool: PostgresPool, schema: string, waitMs: number) {
    this.#pool = pool;
    this.schema = schema;
    this.waitMs = waitMs;
  }

  /** Runs a statement, in which `mortise.` stands for the schema. @throws {PostgresStoreError} PostgreSQL cannot be reached, or refuses. */
  async query(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    const sql = this.inSchema(text);
    return this.use(
      async (client) =>
        (
          await client.query(
            sql,
            values.map((value) => (typeof value === 'string' ? toStoredText(value) : value)),
          )
        ).rows as Row[],
    );
  }

  /** Runs a statement that gives one row at most. @throws {PostgresStoreError} PostgreSQL cannot be reached, or refuses. */
  async get(text: string, ...values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.query(text, ...values))[0];
  }

  /** Replaces `mortise.` by the schema's name. */
  readonly inSchema = (text: string): string => text.replaceAll('mortise.', () => `"${this.schema}".`);

  /**
   * Runs a function with a connection of the pool, for at most `limitMs` milliseconds. Its connection is ended if it takes twice as long.
   *
   * @throws {PostgresStoreError} PostgreSQL cannot be reached, or refuses.
   */
  async use<T>(fn: (client: PostgresClient) => Promise<T>, limitMs: number = this.waitMs): Promise<T> {
    if (this.#waiting >= MAX_WAITING) throw this.tooMany(this.#waiting);
    this.#waiting++;
    let isLate = false;
    const client = this.connect();
    const work = client.then((connected) => {
      // What breaks the connection also fails the statement.
      connected.on('error', ignore);
      // A connection that comes too late is given back unused.
      return isLate ? (undefined as never) : fn(connected);
    });
    const release = (isBroken: boolean): void => {
      const give = (connected: PostgresClient): void => {
        connected.release(isBroken);
        connected.off('error', ignore);
      };
      void client.then(give, ignore).finally(() => this.#waiting--);
    };
    try {
      return await within(limitMs, work);
    } catch (error) {
      isLate = true;
      throw toStoreError(error);
    } finally {
      // What is late keeps its connection for as long again: PostgreSQL goes on with a statement whose connection has ended.
      void within(limitMs, work).then(
        () => release(false),
        (error: unknown) => release(isAway(error)),
      );
    }
  }

  tooMany(count: number): PostgresStoreError {
    return new PostgresStoreError(
      'ERR_POSTGRES_UNAVAILABLE',
      `${count} calls wait for PostgreSQL already: is it running, and fast enough?`,
    );
  }

  /** Takes a connection from the pool. Waits up to `waitMs` while PostgreSQL cannot be reached: nothing has been sent to it yet. */
  async connect(): Promise<PostgresClient> {
    for (;;) {
      if (this.#isClosed) throw new PostgresStoreError('ERR_POSTGRES_UNAVAILABLE', 'the stores are closed: create new ones');
      try {
        await this.#comingBack;
        return await this.#pool.connect();
      } catch (error) {
        if (this.#isClosed || !isAway(error) || error instanceof PostgresStoreError) throw error;
        this.#comingBack ??= this.#comeBack().finally(() => (this.#comingBack = undefined));
      }
    }
  }

  async #comeBack(): Promise<void> {
    for (const startMs = performance.now(); ;) {
      await new Promise((resolve) => void setTimeout(resolve, PAUSE_MS * (0.5 + Math.random())));
      try {
        return (await this.#pool.connect()).release();
      } catch (error) {
        if (this.#isClosed || !isAway(error) || performance.now() - startMs > this.waitMs) throw toStoreError(error);
      }
    }
  }

  /** Deletes some expired rows of a table, once in many calls and in the background, so that these rows do not fill the disk. */
  clearSometimes(table: string, sql: string = deleteSome(table)): void {
    const writes = (this.#writes.get(table) ?? 0) + 1;
    this.#writes.set(table, writes % WRITES_PER_CLEARING);
    // What cannot be deleted now is deleted later.
    if (writes % WRITES_PER_CLEARING === 0) this.query(sql).catch(() => undefined);
  }

  /** Makes further calls reject. */
  close(): void {
    this.#isClosed = true;
  }
}

function ignore(): void {
  return undefined;
}

/** Reads a column of a row as text. */
export function text(row: Row, column: string): string {
  return String(row[column]);
}

/** Reads a column of a row as a number. */
export function number(row: Row, column: string): number {
  return Number(row[column]);
}

function deleteSome(table: string): string {
  const some = `SELECT ctid FROM mortise.${table} WHERE expires <= now() ORDER BY expires LIMIT ${DELETED_AT_ONCE} FOR UPDATE SKIP LOCKED`;
  return `DELETE FROM mortise.${table} WHERE ctid = ANY (ARRAY(${some}))`;
}
