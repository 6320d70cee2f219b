/** The stores that use one table each: for sessions, request states, used request states, and task ids of clients. */

import type { Clock } from '@mortise/jsonrpc-core';
import type {
  ReplayStore,
  SessionPut,
  SessionRecord,
  SessionStore,
  StateStore,
  TaskHandleRecord,
  TaskHandleStore,
} from '@mortise/protocol/contracts';
import { number, type Row, type SqliteConnection, text } from './connection.ts';

/** A `get` renews the expiry of a session when less than this part of its time is left, so that few reads write. */
const RENEW_BELOW = 0.75;

/** Keeps sessions in a SQLite file. Has the guarantees S1 to S4 of `SessionStore`. */
export class SqliteSessionStore implements SessionStore {
  readonly #db: SqliteConnection;
  readonly #clock: Clock;

  constructor(connection: SqliteConnection, clock: Clock) {
    this.#db = connection;
    this.#clock = clock;
  }

  async get(id: string, ttlMs: number): Promise<SessionRecord | undefined> {
    const now = this.#clock.now();
    const row = this.#find(id, now);
    if (row === undefined) return undefined;
    const untilMs = now + ttlMs;
    if (number(row, 'expires_at_ms') < now + ttlMs * RENEW_BELOW)
      this.#db.run('UPDATE mortise_sessions SET expires_at_ms = ? WHERE id = ? AND expires_at_ms > ?', untilMs, id, now);
    return toSession(row);
  }

  async put(record: Omit<SessionRecord, 'version'>, expectedVersion: number, ttlMs: number): Promise<SessionPut> {
    const now = this.#clock.now();
    if (this.#write(record, expectedVersion, now, now + ttlMs)) return { isWritten: true };
    const present = this.#find(record.id, now);
    return { isWritten: false, ...(present && { present: toSession(present) }) };
  }

  #write(record: Omit<SessionRecord, 'version'>, expectedVersion: number, now: number, expiresAtMs: number): boolean {
    const { id, principal } = record;
    const state = JSON.stringify(record.state);
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
    this.#db.clearSometimes('sessions', () => void this.#db.deleteSome('mortise_sessions', now));
    return isWritten;
  }

  #find(id: string, now: number): Row | undefined {
    return this.#db.get(
      'SELECT id, principal, state, version, expires_at_ms FROM mortise_sessions WHERE id = ? AND expires_at_ms > ?',
      id,
      now,
    );
  }

  async delete(id: string): Promise<void> {
    this.#db.run('DELETE FROM mortise_sessions WHERE id = ?', id);
  }
}

function toSession(row: Row): SessionRecord {
  const state = JSON.parse(text(row, 'state')) as SessionRecord['state'];
  return { id: text(row, 'id'), principal: text(row, 'principal'), state, version: number(row, 'version') };
}

/** Keeps request states that are too long to be sent to the client in `requestState`. Has the guarantees Q1 and Q2 of `StateStore`. */
export class SqliteStateStore implements StateStore {
  readonly #db: SqliteConnection;
  readonly #clock: Clock;

  constructor(connection: SqliteConnection, clock: Clock) {
    this.#db = connection;
    this.#clock = clock;
  }

  async put(id: string, value: string, ttlMs: number): Promise<void> {
    const sql = `INSERT INTO mortise_states (id, value, expires_at_ms) VALUES (?, ?, ?)
                 ON CONFLICT (id) DO UPDATE SET value = excluded.value, expires_at_ms = excluded.expires_at_ms`;
    // As JSON, because node:sqlite of Node 22 cuts text at a NUL character.
    const now = this.#clock.now();
    this.#db.run(sql, id, JSON.stringify(value), now + ttlMs);
    this.#db.clearSometimes('states', () => void this.#db.deleteSome('mortise_states', now));
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

  async claim(id: string, ttlMs: number): Promise<boolean> {
    const now = this.#clock.now();
    const sql = `INSERT INTO mortise_claims (id, expires_at_ms) VALUES (?, ?)
                 ON CONFLICT (id) DO UPDATE SET expires_at_ms = excluded.expires_at_ms WHERE mortise_claims.expires_at_ms <= ?`;
    const isFirst = this.#db.run(sql, id, now + ttlMs, now) > 0;
    this.#db.clearSometimes('claims', () => void this.#db.deleteSome('mortise_claims', now));
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
