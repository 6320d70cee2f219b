/** The stores in PostgreSQL that need one row for a value: for request states, used request states, and task ids of clients. */

import type { ReplayStore, StateStore, TaskHandleRecord, TaskHandleStore } from '@mortise/protocol/contracts';
import { after, duration, type PostgresConnection, text } from './connection.ts';

/** Keeps request states that are too long to be sent to the client in `requestState`. Has the guarantees Q1 and Q2 of `StateStore`. */
export class PostgresStateStore implements StateStore {
  readonly #db: PostgresConnection;

  constructor(connection: PostgresConnection) {
    this.#db = connection;
  }

  async put(id: string, value: string, ttlMs: number): Promise<void> {
    this.#db.clearSometimes('states');
    // As JSON, because a text of PostgreSQL cannot have a NUL.
    await this.#db.query(
      `INSERT INTO mortise.states VALUES ($1, $2, ${after('$3')})
       ON CONFLICT (id) DO UPDATE SET value = excluded.value, expires = excluded.expires`,
      id,
      JSON.stringify(value),
      duration(ttlMs),
    );
  }

  async get(id: string): Promise<string | undefined> {
    const row = await this.#db.get('SELECT value FROM mortise.states WHERE id = $1 AND expires > now()', id);
    return row && (JSON.parse(text(row, 'value')) as string);
  }

  async delete(id: string): Promise<void> {
    await this.#db.query('DELETE FROM mortise.states WHERE id = $1', id);
  }
}

/** Lets each request state (`requestState`) be used only once, on all machines together. Has the guarantees P1 and P2 of `ReplayStore`. */
export class PostgresReplayStore implements ReplayStore {
  readonly #db: PostgresConnection;

  constructor(connection: PostgresConnection) {
    this.#db = connection;
  }

  async claim(id: string, ttlMs: number): Promise<boolean> {
    this.#db.clearSometimes('claims');
    const claimed = await this.#db.get(
      `INSERT INTO mortise.claims VALUES ($1, ${after('$2')})
       ON CONFLICT (id) DO UPDATE SET expires = excluded.expires WHERE claims.expires <= now() RETURNING 1`,
      id,
      duration(ttlMs),
    );
    return claimed !== undefined;
  }
}

/** Keeps the ids of a client's tasks in PostgreSQL, by server. */
export class PostgresTaskHandleStore implements TaskHandleStore {
  readonly #db: PostgresConnection;

  constructor(connection: PostgresConnection) {
    this.#db = connection;
  }

  async add({ server, taskId, method, createdAtMs }: TaskHandleRecord): Promise<void> {
    const record = JSON.stringify({ server, taskId, method, createdAtMs });
    await this.#db.query('INSERT INTO mortise.handles VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', server, taskId, record);
  }

  async remove(server: string, taskId: string): Promise<void> {
    await this.#db.query('DELETE FROM mortise.handles WHERE server = $1 AND task_id = $2', server, taskId);
  }

  async list(server: string): Promise<readonly TaskHandleRecord[]> {
    const rows = await this.#db.query('SELECT record FROM mortise.handles WHERE server = $1', server);
    return rows.map((row) => JSON.parse(text(row, 'record')) as TaskHandleRecord);
  }
}
