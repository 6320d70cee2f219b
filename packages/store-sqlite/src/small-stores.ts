/** The stores in SQLite that need one row for a value: for sessions, request states, used request states, and task ids of clients. */

import type { ReplayStore, SessionRecord, SessionStore, StateStore, TaskHandleRecord, TaskHandleStore } from '@mortise/protocol/contracts';
import { number, type Row, type SqliteConnection, text } from './connection.ts';

/** A `get` renews the expiry of a session when less than this part of its time is left, so that few reads write. */
const RENEW_BELOW = 0.75;

/** An expired session with this id is replaced. */
const INSERT_SESSION = `
INSERT INTO mortise_sessions VALUES (?, ?, 1, ?)
ON CONFLICT (id) DO UPDATE SET record = excluded.record, version = 1, expires_at_ms = excluded.expires_at_ms
WHERE mortise_sessions.expires_at_ms <= ?`;

const UPDATE_SESSION = `
UPDATE mortise_sessions SET record = ?, version = version + 1, expires_at_ms = ? WHERE id = ? AND version = ? AND expires_at_ms > ?`;

/** Keeps sessions in a SQLite file. Has the guarantees S1 to S4 of `SessionStore`. */
export function createSessionStore(db: SqliteConnection): SessionStore {
  const find = (id: string): Row | undefined =>
    db.get('SELECT record, version, expires_at_ms FROM mortise_sessions WHERE id = ? AND expires_at_ms > ?', id, db.now());
  return {
    async get(id, ttlMs) {
      const row = find(id);
      if (row && number(row, 'expires_at_ms') < db.now() + ttlMs * RENEW_BELOW)
        db.run('UPDATE mortise_sessions SET expires_at_ms = ? WHERE id = ? AND expires_at_ms > ?', db.now() + ttlMs, id, db.now());
      return toSession(id, row);
    },
    async put({ id, principal, state }, expectedVersion, ttlMs) {
      const [record, now] = [JSON.stringify({ principal, state }), db.now()];
      if (expectedVersion === 0) db.clearSometimes('mortise_sessions');
      const written =
        expectedVersion === 0
          ? db.run(INSERT_SESSION, id, record, now + ttlMs, now)
          : db.run(UPDATE_SESSION, record, now + ttlMs, id, expectedVersion, now);
      return written > 0 ? { isWritten: true } : { isWritten: false, present: toSession(id, find(id)) };
    },
    async delete(id) {
      db.run('DELETE FROM mortise_sessions WHERE id = ?', id);
    },
  };
}

function toSession(id: string, row: Row | undefined): SessionRecord | undefined {
  if (row === undefined) return undefined;
  return { id, ...(JSON.parse(text(row, 'record')) as Pick<SessionRecord, 'principal' | 'state'>), version: number(row, 'version') };
}

/** Keeps request states that are too long to be sent to the client in `requestState`. Has the guarantees Q1 and Q2 of `StateStore`. */
export function createStateStore(db: SqliteConnection): StateStore {
  const put = `INSERT INTO mortise_states VALUES (?, ?, ?)
               ON CONFLICT (id) DO UPDATE SET value = excluded.value, expires_at_ms = excluded.expires_at_ms`;
  return {
    async put(id, value, ttlMs) {
      db.clearSometimes('mortise_states');
      // As JSON, because node:sqlite of Node 22 cuts text at a NUL character.
      db.run(put, id, JSON.stringify(value), db.now() + ttlMs);
    },
    async get(id) {
      const row = db.get('SELECT value FROM mortise_states WHERE id = ? AND expires_at_ms > ?', id, db.now());
      return row && (JSON.parse(text(row, 'value')) as string);
    },
    async delete(id) {
      db.run('DELETE FROM mortise_states WHERE id = ?', id);
    },
  };
}

/** Lets each request state (`requestState`) be used only once, in all processes together. Has the guarantees P1 and P2 of `ReplayStore`. */
export function createReplayStore(db: SqliteConnection): ReplayStore {
  const claim = `INSERT INTO mortise_claims VALUES (?, ?)
                 ON CONFLICT (id) DO UPDATE SET expires_at_ms = excluded.expires_at_ms WHERE mortise_claims.expires_at_ms <= ?`;
  return {
    async claim(id, ttlMs) {
      db.clearSometimes('mortise_claims');
      return db.run(claim, id, db.now() + ttlMs, db.now()) > 0;
    },
  };
}

/** Keeps the ids of a client's tasks in a SQLite file, by server. */
export function createTaskHandleStore(db: SqliteConnection): TaskHandleStore {
  return {
    async add({ server, taskId, method, createdAtMs }) {
      const record = JSON.stringify({ server, taskId, method, createdAtMs });
      db.run('INSERT INTO mortise_task_handles VALUES (?, ?, ?) ON CONFLICT DO NOTHING', server, taskId, record);
    },
    async remove(server, taskId) {
      db.run('DELETE FROM mortise_task_handles WHERE server = ? AND task_id = ?', server, taskId);
    },
    async list(server) {
      const rows = db.all('SELECT record FROM mortise_task_handles WHERE server = ?', server);
      return rows.map((row) => JSON.parse(text(row, 'record')) as TaskHandleRecord);
    },
  };
}
