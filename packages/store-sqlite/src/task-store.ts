/** The `TaskStore` in SQLite. Properties that queries use have columns of their own; the rest of a task's record is one JSON text. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import type { Principal, TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { isEnded, readTaskCursor, TASK_BOUNDS, toTaskCursor } from '@mortise/protocol/edge';
import { LIMIT, number, type Row, type SqliteConnection, text } from './connection.ts';
import { SqliteStoreError } from './errors.ts';

const COLUMNS = 'record, version, owner';
const LIVE = '(expires_at_ms IS NULL OR expires_at_ms > ?)';
/** True for a row of tasks whose owner is alive. */
const IS_ALIVE = 'EXISTS (SELECT 1 FROM mortise_task_owners AS o WHERE o.owner = mortise_tasks.owner AND o.until_ms > ?)';
/** `held_until_ms` of a task with an owner: it becomes an orphan when the owner is not alive any more. */
const OWNED = 9e15;

const CREATE = `
INSERT INTO mortise_tasks (id, principal, record, version, state, created_at_ms, expires_at_ms, ended_at_ms, owner, held_until_ms)
VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;

const UPDATE = `
UPDATE mortise_tasks SET state = coalesce(?, state), ended_at_ms = coalesce(ended_at_ms, ?), version = version + 1, record = ? WHERE id = ?`;

const KEEP_ALIVE =
  'INSERT INTO mortise_task_owners VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET until_ms = max(until_ms, excluded.until_ms)';

/** Two searches by index: tasks that nobody holds any more, and those of owners that are not alive. */
const CLAIM_ORPHANS = `
UPDATE mortise_tasks SET held_until_ms = ? WHERE id IN (
  SELECT id FROM mortise_tasks INDEXED BY mortise_tasks_held WHERE held_until_ms <= ? AND state = 'run' AND ${LIVE} AND NOT ${IS_ALIVE}
  UNION ALL
  SELECT id FROM mortise_tasks INDEXED BY mortise_tasks_owned
    WHERE owner IN (SELECT owner FROM mortise_task_owners WHERE until_ms <= ?) AND held_until_ms = ${OWNED} AND state = 'run' AND ${LIVE}
  ${LIMIT})
RETURNING ${COLUMNS}`;

const CLEAR_OWNERS = `
DELETE FROM mortise_task_owners WHERE until_ms <= ?
  AND NOT EXISTS (SELECT 1 FROM mortise_tasks WHERE mortise_tasks.owner = mortise_task_owners.owner AND state = 'run')`;

/** Keeps tasks in a SQLite file, for any number of processes. Has the guarantees K1 to K9 of `TaskStore`. */
export function createTaskStore(db: SqliteConnection): TaskStore {
  const find = (id: string): TaskRecord | undefined =>
    toRecord(db.get(`SELECT ${COLUMNS} FROM mortise_tasks WHERE id = ? AND ${LIVE}`, id, db.now()));
  const findStep = (id: string, key: string): Row | undefined =>
    db.get(
      `SELECT value FROM mortise_steps JOIN mortise_tasks ON id = task_id WHERE task_id = ? AND key = ? AND ${LIVE}`,
      id,
      key,
      db.now(),
    );
  const countOpen = (principal: Principal): number => {
    const sql = `SELECT count(*) AS count FROM mortise_tasks WHERE principal = ? AND state <> 'end' AND ${LIVE}`;
    return Number(db.get(sql, principal, db.now())?.['count']);
  };
  return {
    async create(record, { maxOpen = Infinity, leaseMs }) {
      const { id, principal, driver, createdAtMs, ttlMs, owner } = record;
      const [json, now] = [toText(record), db.now()];
      const state = isEnded(record) ? 'end' : driver === 'engine' ? 'run' : 'hand';
      const changes = db.transaction(() => {
        if (maxOpen !== Infinity && countOpen(principal) >= maxOpen) return undefined;
        makeRoom(db, principal, json.length);
        if (owner !== undefined) db.run(KEEP_ALIVE, owner, now + leaseMs);
        const [expiresAt, endedAt] = [ttlMs === null ? null : now + ttlMs, state === 'end' ? now : null];
        const heldUntil = owner === undefined ? now + leaseMs : OWNED;
        return db.run(CREATE, id, principal, json, state, createdAtMs, expiresAt, endedAt, owner ?? null, heldUntil);
      });
      if (changes === undefined) return undefined;
      if (db.clearSometimes('mortise_tasks')) db.run(CLEAR_OWNERS, now);
      if (changes === 0) throw new Error('a task with this id already exists: use a new id');
      return toRecord({ record: json, version: 1, owner: owner ?? null });
    },
    async get(id) {
      return find(id);
    },
    async update(id, version, { remove = [], ...changes }) {
      return db.transaction(() => {
        const stored = find(id);
        if (stored?.version !== version) return undefined;
        const record: { -readonly [K in keyof TaskRecord]: TaskRecord[K] } = { ...stored, ...changes };
        for (const name of remove) delete record[name];
        const json = toText(record);
        const isEnding = isEnded(record) && !isEnded(stored);
        // A result is stored in any case: it takes the place of tasks that ended before.
        if (isEnding) freeRoom(db, record.principal, json.length - toText(stored).length);
        db.run(UPDATE, isEnding ? 'end' : null, isEnding ? db.now() : null, json, id);
        return toRecord({ record: json, version: version + 1, owner: record.owner ?? null });
      });
    },
    async delete(id) {
      db.run('DELETE FROM mortise_tasks WHERE id = ?', id);
    },
    async list(principal, { cursor, limit }) {
      const { createdAtMs, id } = readTaskCursor(cursor) ?? { createdAtMs: -Infinity, id: '' };
      const sql = `SELECT ${COLUMNS} FROM mortise_tasks
        WHERE principal = ? AND (created_at_ms, id) > (?, ?) AND ${LIVE} ORDER BY created_at_ms, id ${LIMIT}`;
      const rows = db.all(sql, principal, createdAtMs, id, db.now(), limit + 1);
      const tasks = toRecords(rows.slice(0, limit));
      const last = tasks.at(-1);
      return { tasks, ...(last && rows.length > tasks.length && { nextCursor: toTaskCursor(last) }) };
    },
    async claim(id, owner, leaseMs) {
      const now = db.now();
      return db.transaction(() => {
        const free = `(owner IS NULL OR owner = ? OR NOT ${IS_ALIVE})`;
        const before = db.get(
          `SELECT owner FROM mortise_tasks WHERE id = ? AND state = 'run' AND ${LIVE} AND ${free}`,
          id,
          now,
          owner,
          now,
        );
        if (!before) return undefined;
        db.run(KEEP_ALIVE, owner, now + leaseMs);
        const sql = `UPDATE mortise_tasks SET owner = ?, held_until_ms = ${OWNED}, version = version + 1 WHERE id = ? RETURNING ${COLUMNS}`;
        const record = toRecord(db.get(sql, owner, id));
        return record && { record, wasStarted: before['owner'] !== null };
      });
    },
    async claimOrphans(leaseMs, limit) {
      const now = db.now();
      return toRecords(db.all(CLAIM_ORPHANS, now + leaseMs, now, now, now, now, now, limit));
    },
    async renew(owner, leaseMs) {
      const now = db.now();
      const alive = 'INSERT INTO mortise_task_owners VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET until_ms = excluded.until_ms';
      return db.transaction(() => {
        db.run(alive, owner, now + leaseMs);
        const rows = db.all(`SELECT id, version FROM mortise_tasks WHERE owner = ? AND state = 'run' AND ${LIVE}`, owner, now);
        return rows.map((row) => ({ id: text(row, 'id'), version: number(row, 'version') }));
      });
    },
    async getStep(id, key) {
      const row = findStep(id, key);
      return row && { value: JSON.parse(text(row, 'value')) as JsonValue };
    },
    async putStep(id, key, value) {
      const json = JSON.stringify(value);
      return db.transaction(() => {
        const known = findStep(id, key);
        if (known) return JSON.parse(text(known, 'value')) as JsonValue;
        const principal = find(id)?.principal;
        if (principal === undefined) throw new Error('the ctx.once step cannot be stored: its task does not exist or has expired');
        makeRoom(db, principal, key.length + json.length);
        // Making room may have deleted this very task, if it had ended.
        db.run('INSERT INTO mortise_steps SELECT id, ?, ? FROM mortise_tasks WHERE id = ?', key, json, id);
        return JSON.parse(json) as JsonValue;
      });
    },
    // The file closes with the `close` of `SqliteStores`.
    close: () => Promise.resolve(),
  };
}

/** Deletes ended tasks until more characters fit. @throws {SqliteStoreError} `ERR_TASK_LIMIT`: unfinished tasks take all the room. */
function makeRoom(db: SqliteConnection, principal: Principal, characters: number): void {
  if (!freeRoom(db, principal, characters))
    throw new SqliteStoreError('ERR_TASK_LIMIT', 'the task store is full of unfinished tasks: wait for some of them, or cancel them');
}

/** Deletes ended tasks until more characters fit. @returns false if unfinished tasks take all the room. */
function freeRoom(db: SqliteConnection, principal: Principal, characters: number): boolean {
  const fits = (owner: string, { maxEnded, maxCharacters }: (typeof TASK_BOUNDS)['each']): boolean => {
    const sums = db.get('SELECT ended, characters FROM mortise_task_sums WHERE owner = ?', owner);
    return Number(sums?.['ended'] ?? 0) < maxEnded && Number(sums?.['characters'] ?? 0) + characters <= maxCharacters;
  };
  const deleteFirst = (where: string, ...values: string[]): boolean => {
    const first = `SELECT rowid FROM mortise_tasks WHERE ended_at_ms IS NOT NULL ${where} ORDER BY ended_at_ms, rowid LIMIT 1`;
    return db.run(`DELETE FROM mortise_tasks WHERE rowid = (${first})`, ...values) > 0;
  };
  while (!fits(`=${principal}`, TASK_BOUNDS.each)) if (!deleteFirst('AND principal = ?', principal)) return false;
  while (!fits('*', TASK_BOUNDS.all)) if (!deleteFirst('')) return false;
  return true;
}

/** Converts a task's record to JSON, without its owner and version, which have columns of their own. */
function toText({ owner: _owner, version: _version, ...rest }: Partial<TaskRecord>): string {
  return JSON.stringify(rest);
}

function toRecord(row: Row | undefined): TaskRecord | undefined {
  if (row === undefined) return undefined;
  const owner = row['owner'] === null ? {} : { owner: text(row, 'owner') };
  return { ...(JSON.parse(text(row, 'record')) as TaskRecord), version: number(row, 'version'), ...owner };
}

function toRecords(rows: readonly Row[]): readonly TaskRecord[] {
  return rows.flatMap((row) => toRecord(row) ?? []);
}
