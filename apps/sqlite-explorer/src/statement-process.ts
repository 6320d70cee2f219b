/**
 * Runs one statement and ends: a process of its own, because SQLite works without a pause and only killing it stops a query that never ends.
 * Reads an `Order` as JSON from its input, and prints what is `Printed` as JSON.
 */

import { text } from 'node:stream/consumers';
import { type Database, openDatabase, type SqlValue } from './open-database.ts';
import type { Order, Printed } from './run-statement.ts';

/** A longer text is cut, so that one value does not fill the model's context. */
const maxTextLength = 1000;

const order = JSON.parse(await text(process.stdin)) as Order;
process.stdout.write(JSON.stringify(await run(order)));

async function run({ kind, database: path, sql, parameters, limit }: Order): Promise<Printed> {
  const database = await openDatabase(path, { isReadOnly: kind === 'query' });
  try {
    return kind === 'query' ? query(database, sql, parameters, limit) : change(database, sql, parameters);
  } catch (error) {
    return { error: (error as Error).message };
  } finally {
    database.close();
  }
}

/** SQLite refuses every write on this connection. A statement without columns is not run at all: ATTACH would open another file. */
function query(database: Database, sql: string, parameters: readonly SqlValue[], limit: number): Printed {
  const statement = database.prepare(sql);
  if (!statement.hasColumns) return { error: 'only statements that return rows can be run' };
  const rows: Record<string, unknown>[] = [];
  for (const row of statement.iterate(...parameters)) {
    if (rows.length === limit) return { rows, isTruncated: true };
    rows.push(Object.fromEntries(Object.entries(row).map(([column, value]) => [column, show(value)])));
  }
  return { rows, isTruncated: false };
}

/** SQLite compiles the statement with EXPLAIN. Its program shows if it opens or writes another file. */
function change(database: Database, sql: string, parameters: readonly SqlValue[]): Printed {
  for (const { opcode, p4 } of database.prepare(`EXPLAIN ${sql}`).iterate(...parameters)) {
    if (opcode === 'Vacuum' || String(p4).startsWith('sqlite_attach')) return { error: 'only this database can be changed' };
  }
  const statement = database.prepare(sql);
  if (statement.hasColumns) return { error: 'this statement returns rows: use the tool "query"' };
  return { changes: Number(statement.run(...parameters).changes) };
}

function show(value: SqlValue): string | number | null {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return `(${value.length} bytes)`;
  if (typeof value !== 'string' || value.length <= maxTextLength) return value;
  return `${value.slice(0, maxTextLength)}... (${value.length} characters)`;
}
