/** The stores in PostgreSQL that need one row for a value: for sessions, request states, used request states, and task ids of clients. */

import type { ReplayStore, SessionRecord, SessionStore, StateStore, TaskHandleRecord, TaskHandleStore } from '@mortise/protocol/contracts';
import { toStoredInteger } from '@mortise/protocol/edge';
import { number, type PostgresConnection, type Row, text } from './connection.ts';

const LIVE = 'id = $1 AND expires > now()';

/** A `get` renews the expiry of a session when less than three quarters of its time are left, so that few reads write. */
const GET_SESSION = `
WITH renewed AS (UPDATE mortise.sessions SET expires = mortise.after($2) WHERE ${LIVE} AND expires < mortise.after(0.75 * $2))
SELECT record, version FROM mortise.sessions WHERE ${LIVE}`;

/** An expired session with this id is replaced. */
const INSERT_SESSION = `
INSERT INTO mortise.sessions VALUES ($1, $2, 1, mortise.after($3))
ON CONFLICT (id) DO UPDATE SET record = excluded.record, version = 1, expires = excluded.expires WHERE sessions.expires <= now()
RETURNING 1`;

const UPDATE_SESSION = `
UPDATE mortise.sessions SET record = $2, version = version + 1, expires = mortise.after($3) WHERE ${LIVE} AND version = $4
RETURNING 1`;

/** Keeps sessions in PostgreSQL. Has the guarantees S1 to S4 of `SessionStore`. */
export function createSessionStore(db: PostgresConnection): SessionStore {
  return {
    async get(id, ttlMs) {
      return toSession(id, await db.get(GET_SESSION, id, toStoredInteger(ttlMs)));
    },
    async put({ id, principal, state }, expectedVersion, ttlMs) {
      const values = [id, JSON.stringify({ principal, state }), toStoredInteger(ttlMs)];
      if (expectedVersion === 0) db.clearSometimes('sessions');
      const written = await (expectedVersion === 0
        ? db.get(INSERT_SESSION, ...values)
        : db.get(UPDATE_SESSION, ...values, expectedVersion));
      if (written) return { isWritten: true };
      // A statement of its own: the one above does not see what another wrote while it waited.
      const present = await db.get(`SELECT record, version FROM mortise.sessions WHERE ${LIVE}`, id);
      return { isWritten: false, present: toSession(id, present) };
    },
    async delete(id) {
      await db.query('DELETE FROM mortise.sessions WHERE id = $1', id);
    },
  };
}

function toSession(id: string, row: Row | undefined): SessionRecord | undefined {
  if (row === undefined) return undefined;
  return { id, ...(JSON.parse(text(row, 'record')) as Pick<SessionRecord, 'principal' | 'state'>), version: number(row, 'version') };
}

/** Keeps request states that are too long to be sent to the client in `requestState`. Has the guarantees Q1 and Q2 of `StateStore`. */
export function createStateStore(db: PostgresConnection): StateStore {
  const put = `INSERT INTO mortise.states VALUES ($1, $2, mortise.after($3))
               ON CONFLICT (id) DO UPDATE SET value = excluded.value, expires = excluded.expires`;
  return {
    async put(id, value, ttlMs) {
      db.clearSometimes('states');
      // As JSON, because a text of PostgreSQL cannot have a NUL.
      await db.query(put, id, JSON.stringify(value), toStoredInteger(ttlMs));
    },
    async get(id) {
      const row = await db.get(`SELECT value FROM mortise.states WHERE ${LIVE}`, id);
      return row && (JSON.parse(text(row, 'value')) as string);
    },
    async delete(id) {
      await db.query('DELETE FROM mortise.states WHERE id = $1', id);
    },
  };
}

/** Lets each request state (`requestState`) be used only once, on all machines together. Has the guarantees P1 and P2 of `ReplayStore`. */
export function createReplayStore(db: PostgresConnection): ReplayStore {
  const claim = `INSERT INTO mortise.claims VALUES ($1, mortise.after($2))
                 ON CONFLICT (id) DO UPDATE SET expires = excluded.expires WHERE claims.expires <= now() RETURNING 1`;
  return {
    async claim(id, ttlMs) {
      db.clearSometimes('claims');
      return (await db.get(claim, id, toStoredInteger(ttlMs))) !== undefined;
    },
  };
}

/** Keeps the ids of a client's tasks in PostgreSQL, by server. */
export function createTaskHandleStore(db: PostgresConnection): TaskHandleStore {
  return {
    async add({ server, taskId, method, createdAtMs }) {
      const record = JSON.stringify({ server, taskId, method, createdAtMs });
      await db.query('INSERT INTO mortise.handles VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', server, taskId, record);
    },
    async remove(server, taskId) {
      await db.query('DELETE FROM mortise.handles WHERE server = $1 AND task_id = $2', server, taskId);
    },
    async list(server) {
      const rows = await db.query('SELECT record FROM mortise.handles WHERE server = $1', server);
      return rows.map((row) => JSON.parse(text(row, 'record')) as TaskHandleRecord);
    },
  };
}
