/** `PostgresConnection`: runs the statements of the stores on the connections of a pool, and bounds how long and how many calls wait. */

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

/** The pool that all stores of one process share. */
export class PostgresConnection {
  readonly schema: string;
  readonly waitMs: number;
  readonly maxWaiting: number;
  readonly #pool: PostgresPool;
  readonly #writes = new Map<string, number>();
  #waiting = 0;
  /** Set while PostgreSQL cannot be reached: settles when it can, or when `waitMs` have passed. All calls wait for it together. */
  #comingBack: Promise<void> | undefined;
  #isClosed = false;

  constructor(pool: PostgresPool, schema: string, waitMs: number, maxWaiting: number) {
    this.#pool = pool;
    this.schema = schema;
    this.waitMs = waitMs;
    this.maxWaiting = maxWaiting;
  }

  /** Runs a statement, in which `mortise.` stands for the schema. @throws {PostgresStoreError} PostgreSQL cannot be reached, or refuses. */
  async query(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    const sql = this.inSchema(text);
    return this.use(async (client) => (await client.query(sql, values.map(toParameter))).rows as Row[]);
  }

  /** Runs a statement that gives one row at most. @throws {PostgresStoreError} PostgreSQL cannot be reached, or refuses. */
  async get(text: string, ...values: readonly unknown[]): Promise<Row | undefined> {
    return (await this.query(text, ...values))[0];
  }

  /** Replaces `mortise.` by the schema's name. */
  inSchema(text: string): string {
    return text.replaceAll('mortise.', () => `"${this.schema}".`);
  }

  /**
   * Runs a function with a connection of the pool, for at most `limitMs` milliseconds. If they pass, the connection is ended with what it does.
   *
   * @throws {PostgresStoreError} PostgreSQL cannot be reached, or refuses.
   */
  async use<T>(fn: (client: PostgresClient) => Promise<T>, limitMs: number = this.waitMs): Promise<T> {
    if (this.#waiting >= this.maxWaiting) throw this.tooMany(this.#waiting);
    this.#waiting++;
    let client: PostgresClient | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isLate = false;
    const release = (isBroken: boolean): void => {
      client?.release(isBroken);
      client?.off('error', ignore);
      client = undefined;
    };
    const limit = new Promise<never>((_, reject) => {
      const stop = (): void => {
        isLate = true;
        release(true);
        reject(new Error(`waited ${limitMs} ms`));
      };
      timer = setTimeout(stop, Math.min(limitMs, 2 ** 31 - 1));
    });
    const work = async (): Promise<T> => {
      try {
        client = await this.connect();
        // What breaks the connection also fails the statement.
        client.on('error', ignore);
        if (isLate) return await limit;
        return await fn(client);
      } catch (error) {
        if (!isLate) release(isAway(error));
        throw error;
      } finally {
        release(false);
        this.#waiting--;
      }
    };
    try {
      return await Promise.race([work(), limit]);
    } catch (error) {
      throw toStoreError(error);
    } finally {
      clearTimeout(timer);
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

  /** Resolves if PostgreSQL answers. @throws {PostgresStoreError} It does not. */
  async probe(): Promise<void> {
    await this.query('SELECT 1');
  }

  /** Makes further calls reject. */
  close(): void {
    this.#isClosed = true;
  }
}

function ignore(): void {
  return undefined;
}

/** A text of PostgreSQL cannot have a NUL. Ids that have one are stored so that no other id is stored in the same way. */
function toParameter(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0') ? `\uE000${JSON.stringify(value)}` : value;
}

/** SQL for the time that many milliseconds from now. The number is a duration: see `duration`. */
export function after(parameter: string): string {
  return `now() + ${parameter}::float8 * interval '1 ms'`;
}

/** A duration for PostgreSQL: never more than it can add to its time. */
export function duration(ms: number): number {
  return Math.min(ms, 9e15);
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
