/** `SessionStore` over SQLite. */

import type { Clock } from '@mortise/jsonrpc-core';
import type { SessionRecord, SessionStore } from '@mortise/protocol/contracts';
import { number, type SqliteConnection, text } from './connection.ts';

/** Keeps sessions in a file. Promises S1 to S4 of `SessionStore`. */
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
    // What has expired gives way.
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
