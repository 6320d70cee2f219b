/** Explores the sample database as a model would, and tries what must not work. Exits with 0 when every answer was the right one. */

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { McpClient } from '@mortise/client';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { program } from 'commander';

program
  .name('node apps/sqlite-explorer/dist/client.js')
  .description('Explores the sample database of the server, and exits with 0 when every answer was right.')
  .addHelpText('after', '\nExample: node apps/sqlite-explorer/dist/client.js')
  .showSuggestionAfterError(false)
  .configureOutput({ outputError: (reason, write) => write(reason.replace(/\.?\n$/, '; the flags are --help\n')) })
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse();

const server = fileURLToPath(new URL('./server.js', import.meta.url));

function connect(...flags: string[]): Promise<McpClient> {
  return McpClient.connect(stdioTransport({ command: process.execPath, args: [server, ...flags] }), { name: 'explorer', version: '1.0.0' });
}

/** Calls a tool and prints what came. @returns Its structured content, or the message of its error. */
async function call(client: McpClient, name: string, values: Record<string, string | readonly string[]>): Promise<unknown> {
  const { isError, content, structuredContent } = await client.callTool(name, values);
  const [block] = content;
  const answer = isError === true && block?.type === 'text' ? block.text : structuredContent;
  const shown = JSON.stringify(answer);
  console.log(`${name} ${JSON.stringify(values)}\n  ${shown.length > 160 ? `${shown.slice(0, 160)}...` : shown}`);
  return answer;
}

const reader = await connect();
const { resources } = await reader.listResources();
assert.deepEqual(
  resources.map(({ name }) => name),
  ['schema', 'albums', 'artists', 'customers', 'sales', 'sales_by_genre', 'tracks'],
);
assert.deepEqual(await call(reader, 'describe_table', { table: 'albums' }), {
  rows: 120,
  columns: [
    { name: 'id', type: 'INTEGER', isRequired: 0, primaryKey: 1 },
    { name: 'artist', type: 'INTEGER', isRequired: 1, primaryKey: 0 },
    { name: 'title', type: 'TEXT', isRequired: 1, primaryKey: 0 },
    { name: 'year', type: 'INTEGER', isRequired: 1, primaryKey: 0 },
  ],
  foreignKeys: [{ column: 'artist', table: 'artists', references: 'id' }],
});
assert.match(JSON.stringify(await call(reader, 'query', { sql: 'SELECT * FROM sales_by_genre ORDER BY revenue DESC' })), /"genre":"/);
const japan = await call(reader, 'query', { sql: 'SELECT name FROM customers WHERE country = ? ORDER BY name', params: ['Japan'] });
assert.match(JSON.stringify(japan), /"isCut":false/);
assert.match(JSON.stringify(await call(reader, 'query', { sql: 'SELECT id FROM sales' })), /"isCut":true/);

for (const [sql, says] of [
  ['DELETE FROM sales', /read-only/],
  ["ATTACH '/tmp/other.db' AS other", /read-only/],
  ["VACUUM INTO '/tmp/copy.db'", /read-only/],
  ['SELECT * FROM nowhere', /no such table/],
] as const) {
  assert.match(String(await call(reader, 'query', { sql })), says);
}
await reader.close();

const writer = await connect('--allow-writes');
const update = { sql: 'UPDATE artists SET genre = ? WHERE genre = ?', params: ['Blues', 'Jazz'] };
assert.match(JSON.stringify(await call(writer, 'execute', update)), /^{"changes":[1-9]/);
await writer.close();
console.log('Every answer was right');
