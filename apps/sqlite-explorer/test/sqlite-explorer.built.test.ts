/** The explorer as a program: its client checks every answer itself, and a query that never ends is ended. */

import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { McpClient } from '@mortise/client';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { expect, it, onTestFinished } from 'vitest';

const program = (name: string): string => fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url));

async function connect(...flags: string[]): Promise<McpClient> {
  const transport = stdioTransport({ command: process.execPath, args: [program('server'), ...flags] });
  const client = await McpClient.connect(transport, { name: 'test', version: '1.0.0' });
  onTestFinished(() => client.close());
  return client;
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

it('cuts long texts, counts bytes, and refuses rows that are too long together', async () => {
  const client = await connect();
  const { structuredContent } = await client.callTool('query', { sql: "SELECT printf('%.*c', 5000, 'x') AS t, zeroblob(3) AS b" });
  expect(structuredContent).toMatchObject({ rows: [{ t: expect.stringMatching(/^x{2000}\.\.\. \(5000 characters\)$/), b: '(3 bytes)' }] });
  const columns = Array.from({ length: 100 }, (_, index) => `printf('%.*c', 1999, 'x') AS c${index}`).join(', ');
  const long = await client.callTool('query', { sql: `SELECT ${columns} FROM sales` });
  expect(long).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('select fewer columns') }] });
});

it('opens a database that is there, writes to it only if told, and to no other file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sqlite-explorer-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'sample.db');
  const sampler = await connect('--allow-writes');
  await sampler.callTool('execute', { sql: `VACUUM INTO '${file}'` });
  const before = readFileSync(file);

  const reader = await connect('--database', file);
  for (const sql of ['CREATE TABLE t (x)', `VACUUM INTO '${file}.copy'`, `ATTACH '${file}.other' AS other`, 'PRAGMA user_version = 7']) {
    await reader.callTool('query', { sql });
  }
  expect(readFileSync(file).equals(before)).toBe(true);
  expect([existsSync(`${file}.copy`), existsSync(`${file}.other`)]).toEqual([false, false]);
  expect((await reader.listTools()).tools.map(({ name }) => name)).not.toContain('execute');

  const writer = await connect('--database', file, '--allow-writes');
  expect((await writer.callTool('execute', { sql: 'DELETE FROM sales WHERE id = 1' })).structuredContent).toEqual({ changes: 1 });
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
