/**
 * The complete examples of the seed document that open no port run with nothing changed but their import lines (and three
 * lines to serve them). Each is cut out of the seed, written beside this package, run with tsx and driven by a real client.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { McpClient } from '@mortise/client';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cut, hasSeed, rewriteImports } from './seed-code.ts';

const interop = fileURLToPath(new URL('..', import.meta.url));
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

const serveLines = [
  "import { StdioServerTransport } from '@mortise/transport-stdio/server';",
  '',
  'await server.connect(new StdioServerTransport());',
];

describe.skipIf(!hasSeed)('the seed', () => {
  let folder: string;
  let client: McpClient | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(interop, '.seeds-'));
  });
  afterEach(async () => {
    await client?.close();
    client = undefined;
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function run(name: string, code: string): Promise<McpClient> {
    const file = join(folder, `${name}.mts`);
    await writeFile(file, code);
    const transport = stdioTransport({ command: process.execPath, args: ['--import', tsx, file], cwd: folder });
    client = await McpClient.connect(transport, { name: 'seeds', version: '1.0.0' });
    return client;
  }

  it('has a stdio server that runs', async () => {
    const connected = await run('stdio', rewriteImports(cut('### stdio')));
    expect(connected.serverInfo).toMatchObject({ name: 'example-server', version: '1.0.0' });
  });

  it('has an echo server whose tool, resource and prompt share one name', async () => {
    const connected = await run('echo', [rewriteImports(cut('### Echo Server')), ...serveLines].join('\n'));
    expect((await connected.callTool('echo', { message: 'hi' })).structuredContent).toEqual({ echo: 'Tool echo: hi' });
    expect((await connected.readResource('echo://hi')).contents).toMatchObject([{ uri: 'echo://hi', text: 'Resource echo: hi' }]);
    expect((await connected.getPrompt('echo', { message: 'hi' })).messages).toMatchObject([
      { role: 'user', content: { type: 'text', text: 'Please process this message: hi' } },
    ]);
  });

  it('has an SQLite explorer that shows its schema and answers a good and a bad query', async () => {
    const { default: sqlite } = await import('node-sqlite3-wasm');
    const database = new sqlite.Database(join(folder, 'database.db'));
    database.exec("CREATE TABLE planets (name TEXT, moons INTEGER); INSERT INTO planets VALUES ('Mars', 2), ('Venus', 0)");
    database.close();

    const connected = await run('sqlite', [rewriteImports(cut('### SQLite Explorer')), ...serveLines].join('\n'));
    const { contents } = await connected.readResource('schema://main');
    expect(contents).toMatchObject([{ uri: 'schema://main', text: expect.stringContaining('CREATE TABLE planets') }]);
    const good = await connected.callTool('query', { sql: 'SELECT name FROM planets WHERE moons > 1' });
    expect(good.structuredContent).toEqual({ rows: [{ name: 'Mars' }], rowCount: 1 });
    const bad = await connected.callTool('query', { sql: 'SELECT * FROM nowhere' });
    expect(bad).toMatchObject({ isError: true, content: [{ type: 'text', text: expect.stringContaining('no such table') }] });
  });
});
