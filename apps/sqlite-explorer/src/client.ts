/** Uses everything the explorer offers on the sample library, and tries what must fail. Exits with 0 when every answer was the right one. */

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { McpClient } from '@mortise/client';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { program } from 'commander';

program
  .name('node apps/sqlite-explorer/dist/client.js')
  .description('Explores the sample library, tries what must fail, and exits with 0 when every answer was right.')
  .addHelpText('after', '\nExample: npm start --prefix apps/sqlite-explorer      (from the root of the repository, after npm run build)')
  .showSuggestionAfterError(false)
  .configureOutput({ outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --help\n')) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();

const server = fileURLToPath(new URL('server.js', import.meta.url));
const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function connect(...flags: string[]): Promise<McpClient> {
  const transport = stdioTransport({ command: process.execPath, args: [server, ...flags] });
  return McpClient.connect(transport, { name: 'sqlite-explorer-client', version: '1.0.0' });
}

/** Runs a statement. @returns What came of it, or the error that the model would read. */
async function run(
  client: McpClient,
  tool: string,
  sql: string,
  parameters: readonly (string | number)[] = [],
  limit = 50,
): Promise<unknown> {
  const { isError, structuredContent, content } = await client.callTool(tool, { sql, parameters, ...(tool === 'query' && { limit }) });
  const [block] = content;
  return isError === true && block?.type === 'text' ? block.text : structuredContent;
}

async function explore(): Promise<void> {
  await using client = await connect();
  const { structuredContent } = await client.callTool('list_tables');
  const { tables } = structuredContent as { readonly tables: readonly { readonly name: string; readonly type: string }[] };
  print(`tables: ${tables.map(({ name, type }) => (type === 'view' ? `${name} (view)` : name)).join(', ')}`);
  assert.deepEqual(
    tables.map(({ name }) => name),
    ['authors', 'books', 'loans', 'members', 'open_loans'],
  );

  const [loans] = (await client.readResource('table:///loans')).contents;
  assert.match(String(loans?.text), /^CREATE TABLE loans/);
  const described = await client.callTool('describe_table', { table: 'loans' });
  assert.deepEqual((described.structuredContent as { readonly columns: readonly unknown[] }).columns[1], {
    name: 'book_id',
    type: 'INTEGER',
    isRequired: true,
    references: 'books',
  });

  const sql =
    'SELECT title, count(*) AS loans FROM loans JOIN books ON books.id = book_id WHERE genre = ? GROUP BY title ORDER BY loans DESC, title';
  const best = (await run(client, 'query', sql, ['travel'], 3)) as {
    readonly rows: readonly Record<string, unknown>[];
    readonly isTruncated: boolean;
  };
  for (const { title, loans: count } of best.rows) print(`  ${String(count).padStart(3)} loans: ${String(title)}`);
  assert.equal(best.rows.length, 3);
  assert.equal(best.isTruncated, true);

  const { completion } = await client.complete({
    ref: { type: 'ref/prompt', name: 'explore_table' },
    argument: { name: 'table', value: 'mem' },
  });
  assert.deepEqual(completion.values, ['members']);
  const { messages } = await client.getPrompt('explore_table', { table: 'members' });
  assert.match(JSON.stringify(messages), /CREATE TABLE members/);

  for (const [wrong, reason] of [
    ['DELETE FROM loans RETURNING id', /readonly database/],
    ["ATTACH DATABASE '/tmp/other.db' AS other", /only statements that return rows/],
    ['SELECT 1; DELETE FROM loans', /one statement/],
    ['SELECT * FROM customers', /no such table: customers/],
  ] as const) {
    const answer = await run(client, 'query', wrong);
    print(`  ${wrong}\n    -> ${String(answer)}`);
    assert.match(String(answer), reason);
  }
  const tools = (await client.listTools()).tools.map(({ name }) => name);
  assert.ok(!tools.includes('change'), 'nothing writes unless it was allowed');
}

/** A query without an end. The server is told to wait a second, so that the demonstration is short. */
async function wait(): Promise<void> {
  await using client = await connect('--seconds=1');
  const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
  const answer = await run(client, 'query', endless);
  print(`  ${endless}\n    -> ${String(answer)}`);
  assert.equal(answer, 'query: stopped after 1 s; ask for less');
}

async function write(): Promise<void> {
  await using client = await connect('--allow-writes');
  assert.deepEqual(await run(client, 'change', 'INSERT INTO members (name, joined) VALUES (?, ?)', ['Hedy Larsson', '2026-01-02']), {
    changes: 1,
  });
  assert.deepEqual(await run(client, 'query', 'SELECT joined FROM members WHERE name = ?', ['Hedy Larsson']), {
    rows: [{ joined: '2026-01-02' }],
    isTruncated: false,
  });
  for (const elsewhere of ["VACUUM INTO '/tmp/copy.db'", "ATTACH DATABASE '/tmp/other.db' AS other"])
    assert.match(String(await run(client, 'change', elsewhere)), /only this database can be changed/);
  print('with --allow-writes: one member was added');
}

await explore();
await wait();
await write();
print('Every answer was right');
