/** `StateStore` and `ReplayStore` over SQLite. */

import type { Clock } from '@mortise/jsonrpc-core';
import type { ReplayStore, StateStore } from '@mortise/protocol/contracts';
import { type SqliteConnection, text } from './connection.ts';

/** Holds request states that are too long to travel. Promises P2 and P3 of `StateStore`. */
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
    // As JSON, because node:sqlite of Node 22 ends a text that it reads at a NUL.
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

/** Lets each request state be used once over all processes. Promises P1 and P2 of `ReplayStore`. */
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
