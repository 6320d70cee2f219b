/** The `TaskStore` in SQLite. Properties that queries use have columns of their own; the rest of a task's record is one JSON text. */

import type { Clock, JsonValue } from '@mortise/jsonrpc-core';
import type { Principal, TaskChanges, TaskPage, TaskRecord, TaskStatus, TaskStore } from '@mortise/protocol/contracts';
import { LIMIT, number, type Row, type SqliteConnection, text } from './connection.ts';
import { SqliteStoreError } from './errors.ts';

type NewRecord = Omit<TaskRecord, 'version'>;

/** A call of `lease` that waits for its answer. */
interface Lease {
  readonly id: string;
  readonly owner: string;
  readonly untilMs: number;
  readonly nowMs: number;
  readonly resolve: (record: Promise<TaskRecord | undefined>) => void;
  readonly reject: (reason: unknown) => void;
}

/** The limits of one principal's tasks, or of all (guarantee K9). */
interface Bound {
  readonly maxEnded: number;
  readonly maxCharacters: number;
}
const BOUND_OF_EACH: Bound = { maxEnded: 10_000, maxCharacters: 32 * 2 ** 20 };
const BOUND_OF_ALL: Bound = { maxEnded: 50_000, maxCharacters: 128 * 2 ** 20 };

const COLUMNS = 'record, version, lease_owner, lease_until_ms';
const LIVE = '(expires_at_ms IS NULL OR expires_at_ms > ?)';

/** Keeps tasks in a SQLite file, for any number of processes. Has the guarantees K1 to K9 of `TaskStore`. */
export class SqliteTaskStore implements TaskStore {
  readonly #db: SqliteConnection;
  readonly #clock: Clock;
  /** The leases that are asked for in one go, and written once the code that asks is done. */
  #leases: Lease[] = [];

  constructor(connection: SqliteConnection, clock: Clock) {
    this.#db = connection;
    this.#clock = clock;
  }

  /** Stores a new task. @throws {SqliteStoreError} `ERR_TASK_LIMIT`: the unfinished tasks of this principal, or of all, fill the store. */
  async create(record: NewRecord): Promise<TaskRecord> {
    const json = toText(record);
    const changes = this.#db.transaction(() => {
      if (!this.#makeRoom(record.principal, json.length)) throw fullError();
      return this.#db.run(
        `INSERT INTO mortise_tasks
           (id, principal, status, driver, created_at_ms, expires_at_ms, ended_at_ms, lease_owner, lease_until_ms, version, record)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?) ON CONFLICT (id) DO NOTHING`,
        record.id,
        record.principal,
        record.status,
        record.driver,
        record.createdAtMs,
        record.expiresAtMs,
        this.#toEnd(record),
        record.lease?.owner ?? null,
        record.lease?.untilMs ?? null,
        json,
      );
    });
    if (changes === 0) throw new Error('a task with this id already exists: use a new id');
    return fromText(json, 1, record.lease);
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    return this.#find(id);
  }

  async update(id: string, version: number, changes: TaskChanges): Promise<TaskRecord | undefined> {
    const stored = this.#find(id);
    if (stored?.version !== version) return undefined;
    const record = { ...stored, ...changes, version: version + 1 } as TaskRecord;
    const json = toText(record);
    const write = (): number =>
      this.#db.run(
        `UPDATE mortise_tasks
         SET status = ?, driver = ?, expires_at_ms = ?, ended_at_ms = coalesce(ended_at_ms, ?), lease_owner = ?, lease_until_ms = ?,
             version = ?, record = ?
         WHERE id = ? AND version = ?`,
        record.status,
        record.driver,
        record.expiresAtMs,
        this.#toEnd(record),
        record.lease?.owner ?? null,
        record.lease?.untilMs ?? null,
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
    return fromText(json, version + 1, record.lease);
  }

  async list(principal: Principal, options: { readonly cursor?: string; readonly limit: number }): Promise<TaskPage> {
    const { createdAtMs, id } = readCursor(options.cursor);
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
    return { tasks, ...(last !== undefined && rows.length > tasks.length && { nextCursor: `${last.createdAtMs} ${last.id}` }) };
  }

  async count(principal: Principal, statuses: readonly TaskStatus[]): Promise<number> {
    const row = this.#db.get(
      `SELECT count(*) AS count FROM mortise_tasks
       WHERE principal = ? AND ${LIVE} AND status IN (SELECT value FROM json_each(?))`,
      principal,
      this.#clock.now(),
      JSON.stringify(statuses),
    );
    return row === undefined ? 0 : number(row, 'count');
  }

  /** Leases that are asked for in one go are written in one transaction, because each transaction flushes the disk. */
  lease(id: string, owner: string, untilMs: number, nowMs: number): Promise<TaskRecord | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#leases.length === 0) queueMicrotask(() => this.#writeLeases());
      this.#leases.push({ id, owner, untilMs, nowMs, resolve, reject });
    });
  }

  async listOrphans(nowMs: number, limit: number): Promise<readonly string[]> {
    const rows = this.#db.all(
      `SELECT id FROM mortise_tasks
       WHERE driver = 'engine' AND status IN ('working', 'input_required') AND ${LIVE} AND (lease_owner IS NULL OR lease_until_ms <= ?)
       ORDER BY created_at_ms, id ${LIMIT}`,
      this.#clock.now(),
      nowMs,
      limit,
    );
    return rows.map((row) => text(row, 'id'));
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

  async deleteExpired(nowMs: number): Promise<number> {
    return this.#db.run('DELETE FROM mortise_tasks WHERE expires_at_ms <= ?', nowMs);
  }

  /** Does nothing. To close the file, call the `close` of `SqliteStores`. */
  async close(): Promise<void> {
    return undefined;
  }

  #writeLeases(): void {
    const leases = this.#leases;
    this.#leases = [];
    try {
      const rows = this.#db.transaction(() => leases.map((lease) => this.#writeLease(lease)));
      // A record that cannot be read rejects its own call alone.
      leases.forEach(({ resolve }, index) => resolve(Promise.resolve(rows[index]).then((row) => row && toRecord(row))));
    } catch (error) {
      for (const { reject } of leases) reject(error);
    }
  }

  #writeLease({ id, owner, untilMs, nowMs }: Lease): Row | undefined {
    return this.#db.get(
      `UPDATE mortise_tasks SET lease_owner = ?, lease_until_ms = ?, version = version + 1
       WHERE id = ? AND ${LIVE} AND (lease_owner IS NULL OR lease_owner = ? OR lease_until_ms <= ?)
       RETURNING ${COLUMNS}`,
      owner,
      untilMs,
      id,
      this.#clock.now(),
      owner,
      nowMs,
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
      this.#makeRoomIn(`=${principal}`, BOUND_OF_EACH, characters, () => deleteFirst('AND principal = ?', principal)) &&
      this.#makeRoomIn('*', BOUND_OF_ALL, characters, () => deleteFirst(''))
    );
  }

  #makeRoomIn(owner: string, { maxEnded, maxCharacters }: Bound, characters: number, deleteFirst: () => number): boolean {
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

/** Converts a task's record to JSON, without its lease and version, which have columns of their own. */
function toText({ lease: _lease, version: _version, ...rest }: Omit<TaskRecord, 'version'> & { readonly version?: number }): string {
  return JSON.stringify(rest);
}

function fromText(json: string, version: number, lease: TaskRecord['lease']): TaskRecord {
  const rest = JSON.parse(json) as Omit<TaskRecord, 'version' | 'lease'>;
  return { ...rest, version, ...(lease && { lease: { owner: lease.owner, untilMs: lease.untilMs } }) };
}

function toRecord(row: Row): TaskRecord {
  const lease = row['lease_owner'] === null ? undefined : { owner: text(row, 'lease_owner'), untilMs: number(row, 'lease_until_ms') };
  return fromText(text(row, 'record'), number(row, 'version'), lease);
}

/** Reads from a cursor of `list` after which task the next page begins. */
function readCursor(cursor: string | undefined): { readonly createdAtMs: number; readonly id: string } {
  if (cursor === undefined) return { createdAtMs: -Infinity, id: '' };
  const at = cursor.indexOf(' ');
  const createdAtMs = Number(cursor.slice(0, at));
  if (at <= 0 || !Number.isFinite(createdAtMs)) throw new RangeError('invalid cursor: it is not from this task store');
  return { createdAtMs, id: cursor.slice(at + 1) };
}
