/** The explorer as a program: its client checks every answer itself, and a query that never ends is ended. */

import { type ChildProcess, execFile } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { McpClient } from '@mortise/client';
import { connectInMemory } from '@mortise/client/in-memory';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../src/driver.ts';
import type * as Explorer from '../src/explorer.ts';
import { fillWithSample } from '../src/sample.ts';

const program = (name: string): string => fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url));

async function connect(...flags: string[]): Promise<McpClient> {
  const transport = stdioTransport({ command: process.execPath, args: [program('server'), ...flags] });
  const client = await McpClient.connect(transport, { name: 'test', version: '1.0.0' });
  onTestFinished(() => client.close());
  return client;
}

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sqlite-explorer-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function createDatabase(fill: string): Promise<string> {
  const file = join(createFolder(), 'made.db');
  const database = await openDatabase(file, { isReadOnly: false });
  database.exec(fill);
  database.close();
  return file;
}

it('explores the sample, and refuses what would change it', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [program('client')]);
  expect(stdout).toMatch(/Every answer was right\n$/);
});

const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';

it('ends a query that takes too long, and answers other calls meanwhile', async () => {
  const client = await connect();
  const slow = client.callTool('query', { sql: endless });
  const first = await Promise.race([slow, client.callTool('query', { sql: 'SELECT 1 AS one' })]);
  expect(first.structuredContent).toEqual({ columns: ['one'], rows: [{ one: 1 }], isCut: false });
  expect(await slow).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('longer than 5000 ms') }] });
});

it('runs four queries at once, and the next one when one of them ends', async () => {
  const client = await connect();
  const slow = Array.from({ length: 4 }, () => client.callTool('query', { sql: endless }));
  const next = client.callTool('query', { sql: 'SELECT 1 AS one' });
  expect(await Promise.race([next, ...slow])).toMatchObject({ isError: true });
  expect((await next).structuredContent).toMatchObject({ rows: [{ one: 1 }] });
  await Promise.all(slow);
});

const cancelled = [
  {
    what: 'describes or reads a table',
    isLocked: false,
    processes: 6,
    calls: (client: McpClient, signal: AbortSignal): readonly Promise<unknown>[] => [
      client.callTool('describe_table', { table: 'slow' }, { signal }),
      client.readResource('sqlite://tables/slow', { signal }),
    ],
  },
  {
    what: 'waits for a lock',
    isLocked: true,
    processes: 3,
    calls: (client: McpClient, signal: AbortSignal): readonly Promise<unknown>[] => [
      client.listResources({}, { signal }),
      client.getPrompt('explore', { question: 'Why?' }, { signal }),
      client.complete(
        { ref: { type: 'ref/resource', uri: 'sqlite://tables/{table}' }, argument: { name: 'table', value: '' } },
        { signal },
      ),
    ],
  },
];

it.each(cancelled)('ends each process of a cancelled call that $what', async ({ isLocked, processes, calls }) => {
  const file = await createDatabase(`CREATE VIEW slow AS ${endless}`);
  const locker = await openDatabase(file, { isReadOnly: false });
  onTestFinished(() => void locker.close());
  if (isLocked) locker.exec('BEGIN EXCLUSIVE');
  const children: ChildProcess[] = [];
  const onSpawn = (message: unknown): void => void children.push((message as { process: ChildProcess }).process);
  subscribe('child_process', onSpawn);
  onTestFinished(() => void unsubscribe('child_process', onSpawn));
  // As it is built: from there it finds the program that it runs.
  const { createExplorer } = (await import(program('explorer'))) as typeof Explorer;
  const client = await connectInMemory(createExplorer(file, { allowWrites: false }));
  onTestFinished(() => client.close());

  const abort = new AbortController();
  const running = Promise.allSettled(calls(client, abort.signal));
  await expect.poll(() => children.length).toBe(processes);
  abort.abort();
  await running;
  await client.listTools();
  expect(children.filter(({ exitCode, killed }) => exitCode === null && !killed)).toEqual([]);
});

it('gives each value as it is, or refuses the query', async () => {
  const client = await connect();
  const values = await client.callTool('query', {
    sql: 'SELECT 9007199254740993 AS big, -9007199254740991 AS safe, 9e999 AS inf, 0.5 AS half',
  });
  expect(values.structuredContent).toMatchObject({
    rows: [{ big: '9007199254740993', safe: -9007199254740991, inf: 'Infinity', half: 0.5 }],
  });
  const join = await client.callTool('query', { sql: 'SELECT a.name, c.name FROM artists a JOIN customers c USING (id)' });
  expect(join).toMatchObject({ isError: true, content: [{ text: 'two columns are called "name": give each its own name with AS' }] });
});

it('knows each of many tables, and says where the schema is cut', async () => {
  const tables = Array.from({ length: 231 }, (_, index) => `CREATE TABLE z${index} (x);`);
  const client = await connect('--database', await createDatabase(tables.join('')));
  expect((await client.callTool('describe_table', { table: 'z99' })).structuredContent).toMatchObject({
    rows: 0,
    columns: [{ name: 'x' }],
  });
  expect((await client.listResources()).resources).toHaveLength(1 + 231);
  expect(await client.callTool('describe_table', { table: 'none' })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('there are 231: ') }],
  });
  const { contents } = await client.readResource('sqlite://schema');
  const [, sql] = /-- There are more: query (.*)$/.exec(String((contents[0] as { text?: unknown }).text)) ?? [];
  expect((await client.callTool('query', { sql: String(sql) })).structuredContent).toMatchObject({ rows: { length: 31 }, isCut: false });
});

it('cuts long texts, counts bytes, and refuses rows that are too long together', async () => {
  const client = await connect();
  const { structuredContent } = await client.callTool('query', { sql: "SELECT printf('%.*c', 5000, 'x') AS t, zeroblob(3) AS b" });
  expect(structuredContent).toMatchObject({ rows: [{ t: expect.stringMatching(/^x{2000}\.\.\. \(5000 characters\)$/), b: '(3 bytes)' }] });
  const columns = Array.from({ length: 100 }, (_, index) => `printf('%.*c', 1999, 'x') AS c${index}`).join(', ');
  const long = await client.callTool('query', { sql: `SELECT ${columns} FROM sales` });
  expect(long).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('select fewer columns') }] });
});

it('opens a database that is there, writes to it only if told, and to no other file', async () => {
  const folder = createFolder();
  const file = join(folder, 'sample.db');
  const sample = await openDatabase(file, { isReadOnly: false });
  fillWithSample(sample);
  sample.close();
  const before = readFileSync(file);

  const reader = await connect('--database', file);
  const otherFiles = [`VACUUM INTO '${file}.copy'`, `ATTACH '${file}.other' AS other`, `/* INSERT */ attach '${file}.other' AS other`];
  for (const sql of ['CREATE TABLE t (x)', 'PRAGMA user_version = 7', ...otherFiles]) {
    await reader.callTool('query', { sql });
  }
  expect(readFileSync(file).equals(before)).toBe(true);
  expect((await reader.listTools()).tools.map(({ name }) => name)).not.toContain('execute');

  const writer = await connect('--database', file, '--allow-writes');
  expect((await writer.callTool('execute', { sql: 'DELETE FROM sales WHERE id = 1' })).structuredContent).toEqual({ changes: 1 });
  for (const sql of otherFiles) expect(await writer.callTool('execute', { sql })).toMatchObject({ isError: true });
  expect(readdirSync(folder)).toEqual(['sample.db']);
  const returning = await writer.callTool('execute', { sql: 'DELETE FROM sales WHERE id = 2 RETURNING id' });
  expect(returning).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('leave out RETURNING') }] });
  expect((await reader.callTool('query', { sql: 'SELECT count(*) AS n FROM sales' })).structuredContent).toMatchObject({
    rows: [{ n: 2999 }],
  });
});

it('completes the names of tables', async () => {
  const client = await connect();
  const { completion } = await client.complete({
    ref: { type: 'ref/resource', uri: 'sqlite://tables/{table}' },
    argument: { name: 'table', value: 'sales' },
  });
  expect(completion.values).toEqual(['sales', 'sales_by_genre']);
});
