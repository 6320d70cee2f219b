/** The `TaskStore` in PostgreSQL. What must be one step behind a lock is a function of the schema, see `migrations.ts`. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import type { TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { fromStoredText, isEnded, readTaskCursor, toStoredInteger, toTaskCursor } from '@mortise/protocol/edge';
import { number, type PostgresConnection, type Row, text } from './connection.ts';
import { PostgresStoreError } from './errors.ts';

/** The members that have columns of their own. */
const COLUMNS: ReadonlySet<string> = new Set(['version', 'owner']);

/** As text, so that no parser of types that the program has set for its own tables reads the record. */
const FIELDS = 'record::text, version, owner';

/** The most rows that a list may have: more than there is memory for. */
const MOST_ROWS = 2 ** 31 - 1;

/** Deletes some tasks that have expired, and owners that are not needed. */
const CLEAR = `
WITH gone AS (
  DELETE FROM mortise.owners WHERE until <= now() AND NOT EXISTS (SELECT FROM mortise.tasks WHERE owner = owners.owner AND state = 'run'))
SELECT mortise.delete_tasks(ARRAY(SELECT id FROM mortise.tasks WHERE expires <= now() AND expires < 'infinity' ORDER BY expires LIMIT 1000))`;

/** Two searches by index: tasks that nobody holds any more, and those of owners that are not alive. */
const CLAIM_ORPHANS = `
WITH held AS (
  SELECT id FROM mortise.tasks
  WHERE state = 'run' AND held_until <= now() AND held_until < 'infinity' AND expires > now()
    AND NOT EXISTS (SELECT FROM mortise.owners WHERE owners.owner = tasks.owner AND until > now())
  ORDER BY held_until LIMIT $2 FOR UPDATE SKIP LOCKED),
owned AS (
  SELECT task.id FROM mortise.owners CROSS JOIN LATERAL (
    SELECT id FROM mortise.tasks
    WHERE state = 'run' AND tasks.owner = owners.owner AND held_until = 'infinity' AND expires > now()
    LIMIT $2 FOR UPDATE SKIP LOCKED) AS task
  WHERE until <= now())
UPDATE mortise.tasks SET held_until = mortise.after($1) WHERE id = ANY (ARRAY(TABLE held UNION ALL TABLE owned LIMIT $2))
RETURNING ${FIELDS}`;

/** Keeps tasks in PostgreSQL, for any number of machines. Has the guarantees K1 to K9 of `TaskStore`; of K9, those for one principal, in bytes. */
export function createTaskStore(db: PostgresConnection): TaskStore {
  return {
    async create(record, { maxOpen = Infinity, leaseMs }) {
      const { id, principal, driver, createdAtMs, ttlMs, owner = null } = record;
      db.clearSometimes('tasks', CLEAR);
      const state = isEnded(record) ? 'end' : driver === 'engine' ? 'run' : 'hand';
      const ttl = ttlMs === null ? null : toStoredInteger(ttlMs);
      const most = maxOpen < MOST_ROWS ? Math.ceil(maxOpen) : null;
      const values = [id, principal, toMembers(record), state, createdAtMs, ttl, owner, toStoredInteger(leaseMs), most];
      const row = await db.get('SELECT mortise.create_task($1, $2, $3, $4, $5, $6, $7, $8, $9) AS outcome', ...values);
      const outcome = row?.['outcome'];
      if (outcome === 'limit') return undefined;
      if (outcome === 'full') throw fullError();
      if (outcome === 'exists') throw new Error('a task with this id already exists: use a new id');
      return structuredClone({ ...record, version: 1 });
    },
    async get(id) {
      return toRecord(await db.get(`SELECT ${FIELDS} FROM mortise.tasks WHERE id = $1 AND expires > now()`, id));
    },
    async update(id, version, { remove = [], ...changes }) {
      const sql = `SELECT ${FIELDS} FROM mortise.update_task($1, $2, $3, $4, $5)`;
      return toRecord(await db.get(sql, id, version, toMembers(changes), remove, isEnded(changes)));
    },
    async delete(id) {
      await db.query('SELECT mortise.delete_tasks(ARRAY[$1])', id);
    },
    async list(principal, options) {
      const { createdAtMs, id } = readTaskCursor(options.cursor) ?? { createdAtMs: -Infinity, id: '' };
      const limit = Math.min(options.limit, MOST_ROWS - 1);
      const sql = `SELECT ${FIELDS} FROM mortise.tasks
        WHERE principal = $1 AND (created, id) > ($2::float8, $3) AND expires > now() ORDER BY created, id LIMIT $4`;
      const rows = await db.query(sql, principal, createdAtMs, id, limit + 1);
      const tasks = toRecords(rows.slice(0, limit));
      const last = tasks.at(-1);
      return { tasks, ...(last && rows.length > tasks.length && { nextCursor: toTaskCursor(last) }) };
    },
    async claim(id, owner, leaseMs) {
      const sql = 'SELECT was_owned, (task).record::text, (task).version, (task).owner FROM mortise.claim_task($1, $2, $3)';
      const row = await db.get(sql, id, owner, toStoredInteger(leaseMs));
      const record = toRecord(row);
      return record && { record, wasStarted: row?.['was_owned'] === true };
    },
    async claimOrphans(leaseMs, limit) {
      return toRecords(await db.query(CLAIM_ORPHANS, toStoredInteger(leaseMs), Math.min(limit, MOST_ROWS)));
    },
    async renew(owner, leaseMs) {
      const row = await db.get('SELECT mortise.renew_owner($1, $2)::text AS versions', owner, toStoredInteger(leaseMs));
      const versions = JSON.parse(String(row?.['versions'] ?? '{}')) as Readonly<Record<string, number>>;
      return Object.entries(versions).map(([id, version]) => ({ id: fromStoredText(id), version }));
    },
    async getStep(id, key) {
      const sql = 'SELECT value FROM mortise.steps JOIN mortise.tasks ON id = task_id WHERE task_id = $1 AND key = $2 AND expires > now()';
      const row = await db.get(sql, id, key);
      return row && { value: JSON.parse(text(row, 'value')) as JsonValue };
    },
    async putStep(id, key, value) {
      const row = await db.get('SELECT mortise.put_step($1, $2, $3) AS value', id, key, JSON.stringify(value));
      const stored = row?.['value'];
      if (typeof stored !== 'string') throw new Error('the ctx.once step cannot be stored: its task does not exist or has expired');
      if (stored === '') throw fullError();
      return JSON.parse(stored) as JsonValue;
    },
    // The connections end with the `close` of the stores.
    close: () => Promise.resolve(),
  };
}

function fullError(): PostgresStoreError {
  return new PostgresStoreError('ERR_TASK_LIMIT', 'the task store is full of unfinished tasks: wait for some of them, or cancel them');
}

/** Converts members of a record to what the column has: an object of each member as JSON text. */
function toMembers(record: Partial<TaskRecord>): string {
  const members = Object.entries(record).filter(([name, value]) => value !== undefined && !COLUMNS.has(name));
  return JSON.stringify(Object.fromEntries(members.map(([name, value]) => [name, JSON.stringify(value)])));
}

function toRecord(row: Row | undefined): TaskRecord | undefined {
  if (typeof row?.['record'] !== 'string') return undefined;
  const members = Object.entries(JSON.parse(row['record']) as Record<string, string>);
  const record = Object.fromEntries(members.map(([name, json]) => [name, JSON.parse(json) as JsonValue]));
  const owner = row['owner'] === null ? {} : { owner: fromStoredText(text(row, 'owner')) };
  return { ...record, ...owner, version: number(row, 'version') } as unknown as TaskRecord;
}

function toRecords(rows: readonly Row[]): readonly TaskRecord[] {
  return rows.flatMap((row) => toRecord(row) ?? []);
}
