/** The client checks every answer itself and exits with 0 only when all were right. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { McpClient } from '@mortise/client';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { afterEach, beforeEach, expect, it } from 'vitest';

const run = promisify(execFile);
const built = (file: string): string => fileURLToPath(new URL(`../dist/${file}`, import.meta.url));
const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';

let client: McpClient;
beforeEach(async () => {
  client = await McpClient.connect(stdioTransport({ command: process.execPath, args: [built('server.js')] }), {
    name: 'test',
    version: '1.0.0',
  });
});
afterEach(() => client.close());

it('explores the sample library, refuses what it must, and writes only when that is allowed', async () => {
  const { stdout } = await run(process.execPath, [built('client.js')]);
  expect(stdout).toContain('with --allow-writes: one member was added');
  expect(stdout.trimEnd()).toMatch(/Every answer was right$/);
});

it('answers other calls while a query runs, and a cancel ends that query', async () => {
  const patience = new AbortController();
  const counted = client.callTool('query', { sql: endless }, { signal: patience.signal });
  const refused = expect(counted).rejects.toThrow('enough');
  const { structuredContent } = await client.callTool('query', { sql: 'SELECT count(*) AS books FROM books' });
  expect(structuredContent).toEqual({ rows: [{ books: 50 }], isTruncated: false });
  patience.abort(new Error('enough'));
  await refused;
});

it('makes the same rows each time', async () => {
  const { structuredContent } = await client.callTool('query', { sql: 'SELECT name FROM authors ORDER BY id', limit: 2 });
  expect(structuredContent).toMatchInlineSnapshot(`
    {
      "isTruncated": true,
      "rows": [
        {
          "name": "Radia Fischer",
        },
        {
          "name": "Ken Jansen",
        },
      ],
    }
  `);
});

it('shows no more of a value than fits, and the size of bytes', async () => {
  const { structuredContent } = await client.callTool('query', { sql: "SELECT printf('%2000s', 'x') AS long, x'0102' AS bytes" });
  const [row] = (structuredContent as { readonly rows: readonly { readonly long: string; readonly bytes: string }[] }).rows;
  expect(row?.long).toMatch(/^ {1000}\.\.\. \(2000 characters\)$/);
  expect(row?.bytes).toBe('(2 bytes)');
});

it('does not make a database that is missing', async () => {
  const missing = '/nowhere/at-all.db';
  await expect(run(process.execPath, [built('server.js'), '--database', missing])).rejects.toMatchObject({
    code: 1,
    stderr: `There is no database ${missing}: name an existing file in --database\n`,
  });
  expect(existsSync(missing)).toBe(false);
});
