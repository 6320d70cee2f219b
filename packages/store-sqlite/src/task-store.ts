/** The `TaskStore` in SQLite. Properties that queries use have columns of their own; the rest of a task's record is one JSON text. */

import type { Clock, JsonValue } from '@mortise/jsonrpc-core';
import type { Principal, TaskChanges, TaskClaim, TaskPage, TaskRecord, TaskStore, TaskTerms } from '@mortise/protocol/contracts';
import { readTaskCursor, TASK_BOUNDS, toTaskCursor } from '@mortise/protocol/edge';
import { LIMIT, number, type Row, type SqliteConnection, text } from './connection.ts';
import { SqliteStoreError } from './errors.ts';

type NewRecord = Omit<TaskRecord, 'version'>;

const COLUMNS = 'id, record, version, owner, created_at_ms';
const LIVE = '(expires_at_ms IS NULL OR expires_at_ms > ?)';
const OPEN = `driver = 'engine' AND status IN ('working', 'input_required')`;
/** True for a row of tasks whose owner is alive. */
const IS_ALIVE = 'EXISTS (SELECT 1 FROM mortise_task_owners AS o WHERE o.owner = mortise_tasks.owner AND o.until_ms > ?)';
/** `held_until_ms` of a task with an owner: it becomes an orphan when the owner is not alive any more. */
const OWNED = 9e15;

/** Keeps tasks in a SQLite file, for any number of processes. Has the guarantees K1 to K9 of `TaskStore`. */
export class SqliteTaskStore implements TaskStore {
  readonly #db: SqliteConnection;
  readonly #clock: Clock;

  constructor(connection: SqliteConnection, clock: Clock) {
    this.#db = connection;
    this.#clock = clock;
  }

  /** Stores a new task. @throws {SqliteStoreError} `ERR_TASK_LIMIT`: the unfinished tasks of this principal, or of all, fill the store. */
  async create(record: NewRecord, { maxOpen = Infinity, leaseMs }: TaskTerms): Promise<TaskRecord | undefined> {
    const json = toText(record);
    const now = this.#clock.now();
    const { id, principal, status, driver, createdAtMs, ttlMs, owner } = record;
    const changes = this.#db.transaction(() => {
      if (maxOpen !== Infinity && this.#countOpen(principal, now) >= maxOpen) return undefined;
      if (!this.#makeRoom(principal, json.length)) throw fullError();
      if (owner !== undefined) this.#keepAlive(owner, now + leaseMs);
      return this.#db.run(
        `INSERT INTO mortise_tasks
           (id, principal, status, driver, created_at_ms, expires_at_ms, ended_at_ms, owner, held_until_ms, version, record)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?) ON CONFLICT (id) DO NOTHING`,
        id,
        principal,
        status,
        driver,
        createdAtMs,
        ttlMs === null ? null : now + ttlMs,
        this.#toEnd(record),
        owner ?? null,
        owner === undefined ? now + leaseMs : OWNED,
        json,
      );
    });
    if (changes === undefined) return undefined;
    this.#db.clearSometimes('tasks', () => this.#deleteExpired(now));
    if (changes === 0) throw new Error('a task with this id already exists: use a new id');
    return fromText(json, 1, owner);
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    return this.#find(id);
  }

  async update(id: string, version: number, { remove = [], ...changes }: TaskChanges): Promise<TaskRecord | undefined> {
    const stored = this.#find(id);
    if (stored?.version !== version) return undefined;
    const record: { -readonly [K in keyof TaskRecord]: TaskRecord[K] } = { ...stored, ...changes };
    for (const name of remove) delete record[name];
    const json = toText(record);
    const write = (): number =>
      this.#db.run(
        `UPDATE mortise_tasks
         SET status = ?, ended_at_ms = coalesce(ended_at_ms, ?), version = ?, record = ? WHERE id = ? AND version = ?`,
        record.status,
        this.#toEnd(record),
        version + 1,
        json,
        id,
        version,
      );
    const isEnding = isEnded(record) && !isEnded(stored);
    const written = isEnding
      ? this.#db.transaction(() => (this.#makeRoom(record.principal, json.length - toText(stored).length), write()))
      : write();
    // Another process wrote between the read and the write.
    if (written === 0) return undefined;
    return fromText(json, version + 1, record.owner);
  }

  async delete(id: string): Promise<void> {
    this.#db.run('DELETE FROM mortise_tasks WHERE id = ?', id);
  }

  async list(principal: Principal, options: { readonly cursor?: string; readonly limit: number }): Promise<TaskPage> {
    const { createdAtMs, id } = readTaskCursor(options.cursor) ?? { createdAtMs: -Infinity, id: '' };
    const rows = this.#db.all(
      `SELECT ${COLUMNS} FROM mortise_tasks
       WHERE principal = ? AND (created_at_ms, id) > (?, ?) AND ${LIVE}
       ORDER BY created_at_ms, id ${LIMIT}`,
      principal,
      createdAtMs,
      id,
      this.#clock.now(),
      options.limit + 1,
    );
    const tasks = rows.slice(0, options.limit).map(toRecord);
    const last = tasks.at(-1);
    return { tasks, ...(last !== undefined && rows.length > tasks.length && { nextCursor: toTaskCursor(last) }) };
  }

  async claim(id: string, owner: string, leaseMs: number): Promise<TaskClaim | undefined> {
    const now = this.#clock.now();
    return this.#db.transaction(() => {
      const before = this.#db.get(
        `SELECT owner FROM mortise_tasks WHERE id = ? AND ${OPEN} AND ${LIVE} AND (owner IS NULL OR owner = ? OR NOT ${IS_ALIVE})`,
        id,
        now,
        owner,
        now,
      );
      if (!before) return undefined;
      this.#keepAlive(owner, now + leaseMs);
      const sql = `UPDATE mortise_tasks SET owner = ?, held_until_ms = ${OWNED}, version = version + 1 WHERE id = ? RETURNING ${COLUMNS}`;
      const row = this.#db.get(sql, owner, id);
      return row && { record: toRecord(row), wasStarted: before['owner'] !== null };
    });
  }

  async claimOrphans(leaseMs: number, limit: number): Promise<readonly TaskRecord[]> {
    const now = this.#clock.now();
    // Two searches by index: tasks that nobody holds any more, and those of owners that are not alive.
    const rows = this.#db.all(
      `UPDATE mortise_tasks SET held_until_ms = ? WHERE id IN (
         SELECT id FROM (
           SELECT id, created_at_ms FROM mortise_tasks INDEXED BY mortise_tasks_held WHERE held_until_ms <= ? AND ${OPEN} AND ${LIVE} AND NOT ${IS_ALIVE}
           UNION ALL
           SELECT id, created_at_ms FROM mortise_tasks INDEXED BY mortise_tasks_owned
             WHERE owner IN (SELECT owner FROM mortise_task_owners WHERE until_ms <= ?) AND held_until_ms = ${OWNED} AND ${OPEN} AND ${LIVE})
         ORDER BY created_at_ms, id ${LIMIT})
       RETURNING ${COLUMNS}`,
      now + leaseMs,
      now,
      now,
      now,
      now,
      now,
      limit,
    );
    return rows.toSorted(byCreation).map(toRecord);
  }

  async renew(owner: string, leaseMs: number): Promise<readonly Pick<TaskRecord, 'id' | 'version'>[]> {
    const now = this.#clock.now();
    return this.#db.transaction(() => {
      this.#db.run(
        'INSERT INTO mortise_task_owners VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET until_ms = excluded.until_ms',
        owner,
        now + leaseMs,
      );
      const rows = this.#db.all(`SELECT id, version FROM mortise_tasks WHERE owner = ? AND ${OPEN} AND ${LIVE}`, owner, now);
      return rows.map((row) => ({ id: text(row, 'id'), version: number(row, 'version') }));
    });
  }

  async getStep(id: string, key: string): Promise<{ readonly value: JsonValue } | undefined> {
    const row = this.#step(id, key);
    return row && { value: JSON.parse(text(row, 'value')) as JsonValue };
  }

  async putStep(id: string, key: string, value: JsonValue): Promise<JsonValue> {
    const json = JSON.stringify(value);
    return this.#db.transaction(() => {
      const known = this.#step(id, key);
      if (known) return JSON.parse(text(known, 'value')) as JsonValue;
      const task = this.#db.get(`SELECT principal FROM mortise_tasks WHERE id = ? AND ${LIVE}`, id, this.#clock.now());
      if (!task) throw new Error('the ctx.once step cannot be stored: its task does not exist or has expired');
      if (!this.#makeRoom(text(task, 'principal'), key.length + json.length)) throw fullError();
      this.#db.run('INSERT INTO mortise_steps (task_id, key, value) SELECT id, ?, ? FROM mortise_tasks WHERE id = ?', key, json, id);
      return JSON.parse(json) as JsonValue;
    });
  }

  /** Does nothing. To close the file, call the `close` of `SqliteStores`. */
  async close(): Promise<void> {
    return undefined;
  }

  #deleteExpired(now: number): void {
    this.#db.deleteSome('mortise_tasks', now);
    this.#db.run(
      `DELETE FROM mortise_task_owners WHERE until_ms <= ?
         AND NOT EXISTS (SELECT 1 FROM mortise_tasks WHERE mortise_tasks.owner = mortise_task_owners.owner AND ${OPEN})`,
      now,
    );
  }

  #countOpen(principal: Principal, now: number): number {
    const row = this.#db.get(
      `SELECT count(*) AS count FROM mortise_tasks WHERE principal = ? AND status IN ('working', 'input_required') AND ${LIVE}`,
      principal,
      now,
    );
    return row === undefined ? 0 : number(row, 'count');
  }

  #keepAlive(owner: string, untilMs: number): void {
    this.#db.run(
      'INSERT INTO mortise_task_owners VALUES (?, ?) ON CONFLICT (owner) DO UPDATE SET until_ms = max(until_ms, excluded.until_ms)',
      owner,
      untilMs,
    );
  }

  #find(id: string): TaskRecord | undefined {
    const row = this.#db.get(`SELECT ${COLUMNS} FROM mortise_tasks WHERE id = ? AND ${LIVE}`, id, this.#clock.now());
    return row && toRecord(row);
  }

  #toEnd(record: NewRecord): number | null {
    return isEnded(record) ? this.#clock.now() : null;
  }

  /** Deletes ended tasks until more characters fit. @returns false if unfinished tasks take all the room. */
  #makeRoom(principal: Principal, characters: number): boolean {
    const deleteFirst = (where: string, ...values: string[]): number =>
      this.#db.run(
        `DELETE FROM mortise_tasks WHERE rowid =
           (SELECT rowid FROM mortise_tasks WHERE ended_at_ms IS NOT NULL ${where} ORDER BY ended_at_ms, rowid LIMIT 1)`,
        ...values,
      );
    return (
      this.#makeRoomIn(`=${principal}`, TASK_BOUNDS.each, characters, () => deleteFirst('AND principal = ?', principal)) &&
      this.#makeRoomIn('*', TASK_BOUNDS.all, characters, () => deleteFirst(''))
    );
  }

  #makeRoomIn(
    owner: string,
    { maxEnded, maxCharacters }: (typeof TASK_BOUNDS)['each'],
    characters: number,
    deleteFirst: () => number,
  ): boolean {
    for (;;) {
      const sums = this.#db.get('SELECT ended, characters FROM mortise_task_sums WHERE owner = ?', owner);
      const [ended, stored] = sums ? [number(sums, 'ended'), number(sums, 'characters')] : [0, 0];
      if (ended < maxEnded && stored + characters <= maxCharacters) return true;
      if (deleteFirst() === 0) return false;
    }
  }

  #step(id: string, key: string): Row | undefined {
    return this.#db.get(
      `SELECT value FROM mortise_steps JOIN mortise_tasks ON id = task_id WHERE task_id = ? AND key = ? AND ${LIVE}`,
      id,
      key,
      this.#clock.now(),
    );
  }
}

function isEnded({ status }: NewRecord): boolean {
  return status !== 'working' && status !== 'input_required';
}

function fullError(): SqliteStoreError {
  return new SqliteStoreError('ERR_TASK_LIMIT', 'the task store is full of unfinished tasks: wait for some of them, or cancel them');
}

/** Converts a task's record to JSON, without its owner and version, which have columns of their own. */
function toText({ owner: _owner, version: _version, ...rest }: NewRecord & { readonly version?: number }): string {
  return JSON.stringify(rest);
}

function fromText(json: string, version: number, owner: string | undefined): TaskRecord {
  const rest = JSON.parse(json) as Omit<TaskRecord, 'version' | 'owner'>;
  return { ...rest, version, ...(owner !== undefined && { owner }) };
}

function toRecord(row: Row): TaskRecord {
  return fromText(text(row, 'record'), number(row, 'version'), row['owner'] === null ? undefined : text(row, 'owner'));
}

/** Orders the rows of an UPDATE, which gives them in any order. */
function byCreation(one: Row, other: Row): number {
  return number(one, 'created_at_ms') - number(other, 'created_at_ms') || (text(one, 'id') < text(other, 'id') ? -1 : 1);
}
