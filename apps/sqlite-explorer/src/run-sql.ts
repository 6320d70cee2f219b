/**
 * Runs one SQL statement and ends: reads a `Query` as JSON from standard input, writes an `Answer` as JSON to standard output. SQLite's
 * drivers block their process while they work, so a query gets a process that can be killed.
 */

import { text } from 'node:stream/consumers';
import { openDatabase, type SqlValue, type Statement } from './driver.ts';

export interface Query {
  readonly database: string;
  readonly isReadOnly: boolean;
  readonly sql: string;
  readonly params: readonly (string | number | null)[];
  readonly maxRows: number;
}

/** What SQLite says: rows, or how many it changed, or why it refused. */
export type Answer =
  | { readonly columns: readonly string[]; readonly rows: readonly unknown[]; readonly isCut: boolean }
  | { readonly changes: number }
  | { readonly error: string };

/** Longer texts are cut. */
const MAX_TEXT = 2000;
/** What changes this database alone: ATTACH and VACUUM INTO make other files. */
const CHANGES = /^\s*(?:alter|create|delete|drop|insert|replace|update|with)\b/i;

async function run({ database: path, isReadOnly, sql, params, maxRows }: Query): Promise<Answer> {
  const database = await openDatabase(path, { isReadOnly });
  try {
    const statement = database.prepare(sql);
    if (returnsRows(statement)) {
      if (isReadOnly) return readRows(statement, params, maxRows);
      return { error: 'this statement returns rows: run it by the tool "query", or leave out RETURNING' };
    }
    // ATTACH and VACUUM INTO make other files even where this one is read-only. Neither returns rows.
    if (isReadOnly) return { error: 'the database is open read-only: only statements that return rows are run' };
    if (!CHANGES.test(sql)) return { error: 'begin with ALTER, CREATE, DELETE, DROP, INSERT, REPLACE, UPDATE or WITH, without a comment' };
    return { changes: Number(statement.run(...params).changes) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  } finally {
    database.close();
  }
}

function returnsRows(statement: Statement): boolean {
  return statement.reader ?? statement.columns().length > 0;
}

function readRows(statement: Statement, params: readonly SqlValue[], maxRows: number): Answer {
  const columns = statement.columns().map(({ name }) => name);
  const twice = columns.find((name, index) => columns.indexOf(name) < index);
  if (twice !== undefined) return { error: `two columns are called "${twice}": give each its own name with AS` };
  statement.safeIntegers?.();
  statement.setReadBigInts?.(true);
  const rows: unknown[] = [];
  for (const row of statement.iterate(...params)) {
    if (rows.length === maxRows) return { columns, rows, isCut: true };
    rows.push(row);
  }
  return { columns, rows, isCut: false };
}

/** A value as JSON can hold it. */
function toJsonValue(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  // Of bytes, `value` is what Buffer's own toJSON has made.
  const raw = this[key];
  if (raw instanceof Uint8Array) return `(${raw.length} bytes)`;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (typeof value === 'number' && !Number.isFinite(value)) return value.toString();
  if (typeof value === 'string' && value.length > MAX_TEXT) return `${value.slice(0, MAX_TEXT)}... (${value.length} characters)`;
  return value;
}

process.stdout.write(JSON.stringify(await run(JSON.parse(await text(process.stdin)) as Query), toJsonValue));
