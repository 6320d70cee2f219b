/** The stores that use one table each: for sessions, request states, used request states, and task ids of clients. */

import type { Clock } from '@mortise/jsonrpc-core';
import type { ReplayStore, SessionRecord, SessionStore, StateStore, TaskHandleRecord, TaskHandleStore } from '@mortise/protocol/contracts';
import { number, type SqliteConnection, text } from './connection.ts';

/** Keeps sessions in a SQLite file. Has the guarantees S1 to S4 of `SessionStore`. */
export class SqliteSessionStore implements SessionStore {
  readonly #db: SqliteConnection;
  readonly #clock: Clock;

  constructor(connection: SqliteConnection, clock: Clock) {
    this.#db = connection;
    this.#clock = clock;
  }

  async get(id: string): Promise<SessionRecord | undefined> {
    const row = this.#db.get(
      'SELECT principal, state, version, expires_at_ms FROM mortise_sessions WHERE id = ? AND expires_at_ms > ?',
      id,
      this.#clock.now(),
    );
    if (row === undefined) return undefined;
    const state = JSON.parse(text(row, 'state')) as SessionRecord['state'];
    return { id, principal: text(row, 'principal'), state, version: number(row, 'version'), expiresAtMs: number(row, 'expires_at_ms') };
  }

  async put(record: Omit<SessionRecord, 'version'>, expectedVersion: number): Promise<boolean> {
    const { id, principal, expiresAtMs } = record;
    const state = JSON.stringify(record.state);
    const now = this.#clock.now();
    if (expectedVersion !== 0) {
      const sql = `UPDATE mortise_sessions SET principal = ?, state = ?, expires_at_ms = ?, version = version + 1
                   WHERE id = ? AND version = ? AND expires_at_ms > ?`;
      return this.#db.run(sql, principal, state, expiresAtMs, id, expectedVersion, now) > 0;
    }
    // An expired session with this id is replaced.
    const sql = `INSERT INTO mortise_sessions (id, principal, state, version, expires_at_ms) VALUES (?, ?, ?, 1, ?)
                 ON CONFLICT (id) DO UPDATE SET principal = excluded.principal, state = excluded.state, version = 1, expires_at_ms = excluded.expires_at_ms
                 WHERE mortise_sessions.expires_at_ms <= ?`;
    const isWritten = this.#db.run(sql, id, principal, state, expiresAtMs, now) > 0;
    this.#db.clearSometimes('sessions', () => void this.deleteExpired(now));
    return isWritten;
  }

  async touch(id: string, expiresAtMs: number): Promise<boolean> {
    const sql = 'UPDATE mortise_sessions SET expires_at_ms = ? WHERE id = ? AND expires_at_ms > ?';
    return this.#db.run(sql, expiresAtMs, id, this.#clock.now()) > 0;
  }

  async delete(id: string): Promise<void> {
    this.#db.run('DELETE FROM mortise_sessions WHERE id = ?', id);
  }

  async deleteExpired(nowMs: number): Promise<number> {
    return this.#db.run('DELETE FROM mortise_sessions WHERE expires_at_ms <= ?', nowMs);
  }
}

/** Keeps request states that are too long to be sent to the client in `requestState`. Has the guarantees Q1 and Q2 of `StateStore`. */
export class SqliteStateStore implements StateStore {
  readonly #db: SqliteConnection;
  readonly #clock: Clock;

  constructor(connection: SqliteConnection, clock: Clock) {
    this.#db = connection;
    this.#clock = clock;
  }

  async put(id: string, value: string, expiresAtMs: number): Promise<void> {
    const sql = `INSERT INTO mortise_states (id, value, expires_at_ms) VALUES (?, ?, ?)
                 ON CONFLICT (id) DO UPDATE SET value = excluded.value, expires_at_ms = excluded.expires_at_ms`;
    // As JSON, because node:sqlite of Node 22 cuts text at a NUL character.
    this.#db.run(sql, id, JSON.stringify(value), expiresAtMs);
    this.#db.clearSometimes('states', () => {
      this.#db.run('DELETE FROM mortise_states WHERE expires_at_ms <= ?', this.#clock.now());
    });
  }

  async get(id: string): Promise<string | undefined> {
    const row = this.#db.get('SELECT value FROM mortise_states WHERE id = ? AND expires_at_ms > ?', id, this.#clock.now());
    return row && (JSON.parse(text(row, 'value')) as string);
  }

  async delete(id: string): Promise<void> {
    this.#db.run('DELETE FROM mortise_states WHERE id = ?', id);
  }
}

/** Lets each request state (`requestState`) be used only once, in all processes together. Has the guarantees P1 and P2 of `ReplayStore`. */
export class SqliteReplayStore implements ReplayStore {
  readonly #db: SqliteConnection;
  readonly #clock: Clock;

  constructor(connection: SqliteConnection, clock: Clock) {
    this.#db = connection;
    this.#clock = clock;
  }

  async claim(id: string, expiresAtMs: number): Promise<boolean> {
    const now = this.#clock.now();
    const sql = `INSERT INTO mortise_claims (id, expires_at_ms) VALUES (?, ?)
                 ON CONFLICT (id) DO UPDATE SET expires_at_ms = excluded.expires_at_ms WHERE mortise_claims.expires_at_ms <= ?`;
    const isFirst = this.#db.run(sql, id, expiresAtMs, now) > 0;
    this.#db.clearSometimes('claims', () => void this.#db.run('DELETE FROM mortise_claims WHERE expires_at_ms <= ?', now));
    return isFirst;
  }
}

/** Keeps the ids of a client's tasks in a SQLite file, by server. */
export class SqliteTaskHandleStore implements TaskHandleStore {
  readonly #db: SqliteConnection;

  constructor(connection: SqliteConnection) {
    this.#db = connection;
  }

  async add({ server, taskId, method, createdAtMs }: TaskHandleRecord): Promise<void> {
    const sql = `INSERT INTO mortise_task_handles (server, task_id, method, created_at_ms) VALUES (?, ?, ?, ?)
                 ON CONFLICT (server, task_id) DO NOTHING`;
    this.#db.run(sql, server, taskId, method, createdAtMs);
  }

  async remove(server: string, taskId: string): Promise<void> {
    this.#db.run('DELETE FROM mortise_task_handles WHERE server = ? AND task_id = ?', server, taskId);
  }

  async list(server: string): Promise<readonly TaskHandleRecord[]> {
    const sql = 'SELECT task_id, method, created_at_ms FROM mortise_task_handles WHERE server = ? ORDER BY created_at_ms, task_id';
    return this.#db.all(sql, server).map((row) => ({
      server,
      taskId: text(row, 'task_id'),
      method: text(row, 'method'),
      createdAtMs: number(row, 'created_at_ms'),
    }));
  }
}
