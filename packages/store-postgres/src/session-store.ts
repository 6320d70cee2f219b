/** The `SessionStore` in PostgreSQL: a row for each session. */

import type { SessionPut, SessionRecord, SessionStore } from '@mortise/protocol/contracts';
import { after, duration, number, type PostgresConnection, type Row, text } from './connection.ts';

const LIVE = 'id = $1 AND expires > now()';

/** A `get` renews the expiry of a session when less than three quarters of its time are left, so that few reads write. */
const GET = `
WITH renewed AS (UPDATE mortise.sessions SET expires = ${after('$2')} WHERE ${LIVE} AND expires < ${after('0.75 * $2')})
SELECT record, version FROM mortise.sessions WHERE ${LIVE}`;

/** An expired session with this id is replaced. */
const INSERT = `
INSERT INTO mortise.sessions VALUES ($1, $2, 1, ${after('$3')})
ON CONFLICT (id) DO UPDATE SET record = excluded.record, version = 1, expires = excluded.expires WHERE sessions.expires <= now()
RETURNING 1`;

const UPDATE = `
UPDATE mortise.sessions SET record = $2, version = version + 1, expires = ${after('$3')} WHERE ${LIVE} AND version = $4
RETURNING 1`;

/** Keeps sessions in PostgreSQL. Has the guarantees S1 to S4 of `SessionStore`. */
export class PostgresSessionStore implements SessionStore {
  readonly #db: PostgresConnection;

  constructor(connection: PostgresConnection) {
    this.#db = connection;
  }

  async get(id: string, ttlMs: number): Promise<SessionRecord | undefined> {
    return toSession(id, await this.#db.get(GET, id, duration(ttlMs)));
  }

  async put({ id, principal, state }: Omit<SessionRecord, 'version'>, expectedVersion: number, ttlMs: number): Promise<SessionPut> {
    const values = [id, JSON.stringify({ principal, state }), duration(ttlMs)];
    if (expectedVersion === 0) this.#db.clearSometimes('sessions');
    const written = await (expectedVersion === 0 ? this.#db.get(INSERT, ...values) : this.#db.get(UPDATE, ...values, expectedVersion));
    if (written) return { isWritten: true };
    // A statement of its own: the one above does not see what another wrote while it waited.
    const present = toSession(id, await this.#db.get(`SELECT record, version FROM mortise.sessions WHERE ${LIVE}`, id));
    return { isWritten: false, ...(present && { present }) };
  }

  async delete(id: string): Promise<void> {
    await this.#db.query('DELETE FROM mortise.sessions WHERE id = $1', id);
  }
}

function toSession(id: string, row: Row | undefined): SessionRecord | undefined {
  if (row === undefined) return undefined;
  return { id, ...(JSON.parse(text(row, 'record')) as Pick<SessionRecord, 'principal' | 'state'>), version: number(row, 'version') };
}
