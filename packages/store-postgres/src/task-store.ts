/** The `TaskStore` in PostgreSQL. What must be one step behind a lock is a function of the schema, see `migrations.ts`. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import type { Principal, TaskChanges, TaskClaim, TaskPage, TaskRecord, TaskStore, TaskTerms } from '@mortise/protocol/contracts';
import { readTaskCursor, toTaskCursor } from '@mortise/protocol/edge';
import { after, duration, number, type PostgresConnection, type Row, text } from './connection.ts';
import { PostgresStoreError } from './errors.ts';

type NewRecord = Omit<TaskRecord, 'version'>;

/** The members that have columns of their own. */
const COLUMNS: ReadonlySet<string> = new Set(['version', 'owner']);

/** As text, so that no parser of types that the program has set for its own tables reads the record. */
const FIELDS = 'record::text, version, owner';

/** The most rows that a list may have: more than there is memory for. */
const MOST_ROWS = 2 ** 31 - 1;

/** Two searches by index: tasks that nobody holds any more, and those of owners that are not alive. */
const CLAIM_ORPHANS = `
WITH held AS (
  SELECT id, created FROM mortise.tasks
  WHERE state = 'run' AND held_until <= now() AND held_until < 'infinity' AND expires > now()
    AND NOT EXISTS (SELECT FROM mortise.owners WHERE owners.owner = tasks.owner AND until > now())
  ORDER BY created, id LIMIT $2 FOR UPDATE SKIP LOCKED),
owned AS (
  SELECT task.id, task.created FROM mortise.owners CROSS JOIN LATERAL (
    SELECT id, created FROM mortise.tasks
    WHERE state = 'run' AND tasks.owner = owners.owner AND held_until = 'infinity' AND expires > now()
    ORDER BY created, id LIMIT $2 FOR UPDATE SKIP LOCKED) AS task
  WHERE until <= now())
UPDATE mortise.tasks SET held_until = ${after('$1')} WHERE id = ANY (ARRAY(
  SELECT id FROM (SELECT * FROM held UNION ALL SELECT * FROM owned) AS orphans ORDER BY created, id LIMIT $2))
RETURNING ${FIELDS}`;

/** Keeps tasks in PostgreSQL, for any number of machines. Has the guarantees K1 to K9 of `TaskStore`; of K9, those for one principal, in bytes. */
export class PostgresTaskStore implements TaskStore {
  readonly #db: PostgresConnection;

  constructor(connection: PostgresConnection) {
    this.#db = connection;
  }

  /** Stores a new task. @throws {PostgresStoreError} `ERR_TASK_LIMIT`: the unfinished tasks of this principal fill its share of the store. */
  async create(record: NewRecord, { maxOpen = Infinity, leaseMs }: TaskTerms): Promise<TaskRecord | undefined> {
    const { id, principal, createdAtMs, ttlMs, owner } = record;
    this.#db.clearSometimes('tasks', 'SELECT mortise.delete_expired_tasks()');
    const row = await this.#db.get(
      `SELECT mortise.create_task($1, $2, $3, $4, $5, $6::float8 * interval '1 ms', $7, $8::float8 * interval '1 ms', $9) AS outcome`,
      id,
      principal,
      toMembers(record),
      isEnded(record) ? 'end' : record.driver === 'engine' ? 'run' : 'hand',
      createdAtMs,
      ttlMs === null ? null : duration(ttlMs),
      owner ?? null,
      duration(leaseMs),
      maxOpen < MOST_ROWS ? Math.ceil(maxOpen) : null,
    );
    const outcome = row?.['outcome'];
    if (outcome === 'limit') return undefined;
    if (outcome === 'full') throw fullError();
    if (outcome === 'exists') throw new Error('a task with this id already exists: use a new id');
    return structuredClone({ ...record, version: 1 });
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    const row = await this.#db.get(`SELECT ${FIELDS} FROM mortise.tasks WHERE id = $1 AND expires > now()`, id);
    return row && toRecord(row);
  }

  async update(id: string, version: number, { remove = [], ...changes }: TaskChanges): Promise<TaskRecord | undefined> {
    const isEnding = changes.status !== undefined && isEnded({ status: changes.status });
    const sql = `SELECT ${FIELDS} FROM mortise.update_task($1, $2, $3, $4, $5)`;
    const row = await this.#db.get(sql, id, version, toMembers(changes), remove, isEnding);
    return row && toRecord(row);
  }

  async delete(id: string): Promise<void> {
    await this.#db.query('SELECT mortise.delete_tasks(ARRAY[$1])', id);
  }

  async list(principal: Principal, options: { readonly cursor?: string; readonly limit: number }): Promise<TaskPage> {
    const { createdAtMs, id } = readTaskCursor(options.cursor) ?? { createdAtMs: -Infinity, id: '' };
    const limit = Math.min(options.limit, MOST_ROWS - 1);
    const rows = await this.#db.query(
      `SELECT ${FIELDS} FROM mortise.tasks
       WHERE principal = $1 AND (created, id) > ($2::float8, $3) AND expires > now() ORDER BY created, id LIMIT $4`,
      principal,
      createdAtMs,
      id,
      limit + 1,
    );
    const tasks = rows.slice(0, limit).map(toRecord);
    const last = tasks.at(-1);
    return { tasks, ...(last !== undefined && rows.length > tasks.length && { nextCursor: toTaskCursor(last) }) };
  }

  async claim(id: string, owner: string, leaseMs: number): Promise<TaskClaim | undefined> {
    const row = await this.#db.get(
      `SELECT was_owned, (task).record::text, (task).version, (task).owner FROM mortise.claim_task($1, $2, $3::float8 * interval '1 ms')`,
      id,
      owner,
      duration(leaseMs),
    );
    if (row === undefined || row['record'] === null) return undefined;
    return { record: toRecord(row), wasStarted: row['was_owned'] === true };
  }

  async claimOrphans(leaseMs: number, limit: number): Promise<readonly TaskRecord[]> {
    const rows = await this.#db.query(CLAIM_ORPHANS, duration(leaseMs), Math.min(limit, MOST_ROWS));
    return rows.map(toRecord).toSorted(byCreation);
  }

  async renew(owner: string, leaseMs: number): Promise<readonly Pick<TaskRecord, 'id' | 'version'>[]> {
    const row = await this.#db.get(
      `SELECT mortise.renew_owner($1, $2::float8 * interval '1 ms')::text AS versions`,
      owner,
      duration(leaseMs),
    );
    const versions = JSON.parse(row === undefined || row['versions'] === null ? '{}' : text(row, 'versions')) as Record<string, number>;
    return Object.entries(versions).map(([id, version]) => ({ id, version }));
  }

  async getStep(id: string, key: string): Promise<{ readonly value: JsonValue } | undefined> {
    const row = await this.#db.get(
      'SELECT value FROM mortise.steps JOIN mortise.tasks ON id = task_id WHERE task_id = $1 AND key = $2 AND expires > now()',
      id,
      key,
    );
    return row && { value: JSON.parse(text(row, 'value')) as JsonValue };
  }

  async putStep(id: string, key: string, value: JsonValue): Promise<JsonValue> {
    const row = await this.#db.get('SELECT value, refusal FROM mortise.put_step($1, $2, $3)', id, key, JSON.stringify(value));
    if (row?.['refusal'] === 0) throw new Error('the ctx.once step cannot be stored: its task does not exist or has expired');
    if (row === undefined || row['refusal'] === 1) throw fullError();
    return JSON.parse(text(row, 'value')) as JsonValue;
  }

  /** Does nothing. To close the connections, call the `close` of `PostgresStores`. */
  async close(): Promise<void> {
    return undefined;
  }
}

function isEnded({ status }: Pick<TaskRecord, 'status'>): boolean {
  return status !== 'working' && status !== 'input_required';
}

function fullError(): PostgresStoreError {
  return new PostgresStoreError('ERR_TASK_LIMIT', 'the task store is full of unfinished tasks: wait for some of them, or cancel them');
}

/** Converts members of a record to what the column has: an object of each member as JSON text. */
function toMembers(record: Partial<NewRecord>): string {
  const members = Object.entries(record).filter(([name, value]) => value !== undefined && !COLUMNS.has(name));
  return JSON.stringify(Object.fromEntries(members.map(([name, value]) => [name, JSON.stringify(value)])));
}

function toRecord(row: Row): TaskRecord {
  const members = Object.entries(JSON.parse(text(row, 'record')) as Record<string, string>);
  const record = Object.fromEntries(members.map(([name, json]) => [name, JSON.parse(json) as JsonValue]));
  return {
    ...record,
    ...(row['owner'] !== null && { owner: text(row, 'owner') }),
    version: number(row, 'version'),
  } as unknown as TaskRecord;
}

/** Orders the rows of an UPDATE, which come in any order. */
function byCreation(one: TaskRecord, other: TaskRecord): number {
  return one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1);
}
