/**
 * The complete examples of the seed document that open no port run on `@mortise/compat-v1` with `@modelcontextprotocol/sdk` replaced in their
 * import lines, and nothing else. A client of SDK v1 sees the same of the copy as of the original.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cut, hasSeed } from './seed-code.ts';

const interop = fileURLToPath(new URL('..', import.meta.url));
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const sqlite3 = new URL('../fixtures/sqlite3-over-wasm.mjs', import.meta.url).href;
const SDK = '@modelcontextprotocol/sdk';
const serve = [`import { StdioServerTransport } from '${SDK}/server/stdio.js';`, 'await server.connect(new StdioServerTransport());'];

type Ask = (client: Client) => Promise<unknown>;
const cases: readonly { readonly heading: string; readonly lines: readonly string[]; readonly asks: readonly Ask[] }[] = [
  { heading: '### stdio', lines: [], asks: [async (client) => client.getServerVersion(), (client) => client.ping()] },
  {
    heading: '### Echo Server',
    lines: serve,
    asks: [
      (client) => client.listTools(),
      (client) => client.listResourceTemplates(),
      (client) => client.listPrompts(),
      (client) => client.callTool({ name: 'echo', arguments: { message: 'hi' } }),
      (client) => client.callTool({ name: 'echo', arguments: {} }),
      (client) => client.readResource({ uri: 'echo://hi' }),
      (client) => client.getPrompt({ name: 'echo', arguments: { message: 'hi' } }),
    ],
  },
  {
    heading: '### SQLite Explorer',
    lines: serve,
    asks: [
      (client) => client.listResources(),
      (client) => client.readResource({ uri: 'schema://main' }),
      (client) => client.callTool({ name: 'query', arguments: { sql: 'SELECT name FROM planets WHERE moons > 1' } }),
      (client) => client.callTool({ name: 'query', arguments: { sql: 'SELECT * FROM nowhere' } }),
    ],
  },
];

describe.skipIf(!hasSeed)('the seed', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(interop, '.seeds-'));
    const { default: sqlite } = await import('node-sqlite3-wasm');
    const database = new sqlite.Database(join(folder, 'database.db'));
    database.exec("CREATE TABLE planets (name TEXT, moons INTEGER); INSERT INTO planets VALUES ('Mars', 2), ('Venus', 0)");
    database.close();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function drive(name: string, code: string, asks: readonly Ask[]): Promise<readonly unknown[]> {
    const file = join(folder, `${name}.mts`);
    await writeFile(file, code.replaceAll("'sqlite3'", `'${sqlite3}'`));
    const client = new Client({ name: 'driver', version: '1.0.0' });
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: ['--import', tsx, file], cwd: folder, stderr: 'ignore' }),
    );
    try {
      const seen: unknown[] = [];
      for (const ask of asks) seen.push(await ask(client).catch((error: unknown) => (error as { readonly code?: unknown }).code));
      return seen;
    } finally {
      await client.close();
    }
  }

  it.each(cases)('$heading does what the original does', async ({ heading, lines, asks }) => {
    const code = [cut(heading), ...lines].join('\n');
    const name = heading.replaceAll(/\W+/gu, '-').toLowerCase();
    const original = await drive(`official${name}`, code, asks);
    const ours = await drive(`compat${name}`, code.replaceAll(`'${SDK}/`, "'@mortise/compat-v1/"), asks);
    expect(ours).toEqual(original);
    expect(original).not.toContain(undefined);
  });
});
