/** The codemod on folders of hand-written hard cases: what it changes, what it leaves as it is, and what it lists. */

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrate, type Migration, type MigrateOptions } from '../src/index.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codemod-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function put(files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

const get = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
const run = (options: Partial<MigrateOptions> = {}): Promise<Migration> => migrate(folder, { from: 'v1', ...options });

/** Rewrites one file. */
async function rewrite(code: string, options: Partial<MigrateOptions> & { name?: string } = {}): Promise<[string, Migration]> {
  const { name = 'file.ts', ...more } = options;
  await put({ [name]: code });
  const migration = await run(more);
  return [await get(name), migration];
}

const SDK = '@modelcontextprotocol/sdk';
const COMPAT = '@mortise/compat-v1';

describe('imports of v1', () => {
  const cases = [
    ['a static import', `import { McpServer } from '${SDK}/server/mcp.js';`],
    ['double quotes without semicolon', `import {Client} from "${SDK}/client/index.js"`],
    ['a type import', `import type { Tool } from '${SDK}/types.js';`],
    ['a namespace', `import * as types from '${SDK}/types.js';`],
    ['an import for its effects', `import '${SDK}/types.js';`],
    ['a path without suffix', `import { McpServer } from '${SDK}/server/mcp';`],
    ['a re-export', `export { Client, type ClientOptions } from '${SDK}/client/index.js';`],
    ['a re-export of all', `export * from '${SDK}/types.js';`],
    ['a re-export of all as a name', `export * as types from '${SDK}/types.js';`],
    ['a dynamic import', `const types = await import('${SDK}/types.js');`],
    ['a type from an import', `type Tool = import('${SDK}/types.js').Tool;`],
    ['the type of a module', `type Types = typeof import('${SDK}/types.js');`],
    ['import-equals', `import types = require('${SDK}/types.js');`],
    ['an augmented module', `declare module '${SDK}/types.js' { interface Tool { extra: string } }`],
    ['require', `const { McpServer } = require('${SDK}/server/mcp.js');`],
    ['require.resolve', `const path = require.resolve('${SDK}/types.js');`],
    ['a mock of vitest', `vi.mock('${SDK}/client/index.js', () => ({ Client: class {} }));`],
    ['a mock of jest', `jest.mock('${SDK}/client/index.js'); jest.requireActual('${SDK}/client/index.js');`],
    ['a comment between the names', `import {\n  McpServer, // the server\n  ResourceTemplate,\n} from '${SDK}/server/mcp.js';`],
  ] as const;

  it.each(cases)('changes only the path in %s', async (_, code) => {
    const [text, { left }] = await rewrite(code);
    expect(text).toBe(code.replaceAll(SDK, COMPAT));
    expect(left).toEqual([]);
  });

  it('takes the folder of built files out of a deep path', async () => {
    const [text] = await rewrite(`import { Tool } from '${SDK}/dist/esm/types.js';`);
    expect(text).toBe(`import { Tool } from '${COMPAT}/types.js';`);
  });

  it.each(['file.js', 'file.mjs', 'file.cjs', 'file.jsx', 'file.mts', 'file.cts', 'file.tsx'])('reads %s', async (name) => {
    const code = `const types = import('${SDK}/types.js');\n${name.endsWith('x') ? 'const box = <b>hi</b>;\n' : ''}`;
    expect((await rewrite(code, { name }))[0]).toBe(code.replace(SDK, COMPAT));
  });

  it('keeps line ends, a byte order mark, a hashbang, decorators and odd formatting', async () => {
    const code = `\uFEFF#!/usr/bin/env node\r\nimport   {Tool}from"${SDK}/types.js" ;\r\n@dec() class A {\r\n\t x  =1 }\r\n`;
    const [text] = await rewrite(code.slice(1));
    expect(text).toBe(code.slice(1).replace(SDK, COMPAT));
    const marked = code.replace('#!/usr/bin/env node\r\n', '');
    expect((await rewrite(marked))[0]).toBe(marked.replace(SDK, COMPAT));
  });

  it('leaves a text that looks like an import in a string as it is, and lists it', async () => {
    const code = `const template = \`import { McpServer } from '${SDK}/server/mcp.js';\`;\n`;
    const [text, { left }] = await rewrite(code);
    expect(text).toBe(code);
    expect(left).toEqual([{ file: 'file.ts', line: 1, what: expect.stringContaining('by hand') as string }]);
  });

  it('leaves a commented-out import as it is, without a word', async () => {
    const code = `// import { McpServer } from '${SDK}/server/mcp.js';\n`;
    expect(await rewrite(code)).toEqual([code, { changed: [], left: [], diff: '' }]);
  });

  it('lists paths that compat lacks, computed paths, and types in comments, each with its line', async () => {
    const code = [
      `import { x } from '${SDK}/examples/server/x.js';`,
      `const y = require('${SDK}/' + name);`,
      `/** @type {import('${SDK}/types.js').Tool} */`,
      `import { Z } from '${SDK}-extras';`,
    ].join('\n');
    const [text, { left }] = await rewrite(code);
    expect(text).toBe(code);
    expect(left.map(({ line }) => line)).toEqual([1, 2, 3]);
  });

  it('lists a file that it cannot parse, and one that is not UTF-8, and leaves both as they are', async () => {
    const bytes = Buffer.concat([Buffer.from(`import '${SDK}/types.js'; // `), Buffer.from([0xff])]);
    await put({ 'broken.ts': `import { from '${SDK}/types.js'; ((`, 'latin.ts': bytes });
    const { left, changed } = await run();
    expect(left.map(({ file, what }) => [file, /parsed|UTF-8/.exec(what)?.[0]])).toEqual([
      ['broken.ts', 'parsed'],
      ['latin.ts', 'UTF-8'],
    ]);
    expect(changed).toEqual([]);
    expect(await readFile(join(folder, 'latin.ts'))).toEqual(bytes);
  });

  it('goes on after a file that is too deep for it, and says nothing of one in another encoding that names no official module', async () => {
    await put({
      'a.ts': `import '${SDK}/types.js';`,
      'deep.ts': `x.tool("a", ${'1+'.repeat(20_000)}1);`,
      'latin.ts': Buffer.from([0x2f, 0x2f, 0xe9]),
      'new.tsx': `import '${SDK}/types.js';\nclass A { @dec accessor z = 1; }`,
    });
    expect(await run()).toMatchObject({ changed: ['a.ts', 'new.tsx'], left: [] });
  });

  it('skips dependencies, builds and hidden folders, and lists lines of files that it does not rewrite', async () => {
    const code = `import '${SDK}/types.js';\n`;
    await put({
      'node_modules/a/index.js': code,
      'dist/index.js': code,
      '.git/hook.js': code,
      'src/a.ts': code,
      'app.vue': `<script>\n${code}</script>`,
    });
    const { changed, left } = await run();
    expect(changed).toEqual(['src/a.ts']);
    expect(left).toMatchObject([{ file: 'app.vue', line: 2 }]);
  });

  it('writes nothing on a dry run, and shows a diff', async () => {
    const code = `const a = 1;\nimport '${SDK}/types.js';\n`;
    const [text, { diff, changed }] = await rewrite(code, { dryRun: true });
    expect(text).toBe(code);
    expect(changed).toEqual(['file.ts']);
    expect(diff).toContain(`-import '${SDK}/types.js';\n+import '${COMPAT}/types.js';\n`);
  });

  it('changes nothing the second time', async () => {
    await put({ 'a.ts': `import '${SDK}/types.js';\n`, 'b.ts': 'export {};\n', 'package.json': `{ "dependencies": { "${SDK}": "^1" } }` });
    await run();
    expect(await run()).toEqual({ changed: [], left: [], diff: '' });
  });

  it('leaves names that compat lacks where they are, and says why', async () => {
    const [text, { left }] = await rewrite(
      `import { StreamableHTTPClientTransport, type StartSSEOptions } from '${SDK}/client/streamableHttp.js';`,
    );
    expect(text).toBe(
      [
        `import { StreamableHTTPClientTransport } from '${COMPAT}/client/streamableHttp.js';`,
        `import { type StartSSEOptions } from '${SDK}/client/streamableHttp.js';`,
      ].join('\n'),
    );
    expect(left).toEqual([{ file: 'file.ts', line: 1, what: expect.stringContaining('"StartSSEOptions" is not in') as string }]);
  });

  it('lists the tokens of resumed streams, which compat has no use for', async () => {
    const code = [
      `import { Client } from '${SDK}/client/index.js';`,
      'await client.callTool(params, undefined, {',
      '  resumptionToken: token,',
      '  onresumptiontoken: save,',
      '});',
      'await transport.resumeStream(token);',
    ].join('\n');
    const [, { left }] = await rewrite(code);
    expect(left.map(({ line }) => line)).toEqual([3, 4, 6]);
  });
});

describe('package.json', () => {
  it('replaces the dependency in its place, and keeps tabs, line ends and order', async () => {
    await put({
      'package.json': `{\r\n\t"dependencies": {\r\n\t\t"${SDK}": "^1.32.0",\r\n\t\t"zod": "^4.0.0"\r\n\t}\r\n}\r\n`,
      'a.ts': `import '${SDK}/types.js';`,
    });
    const { left } = await run();
    expect(await get('package.json')).toMatch(
      /^\{\r\n\t"dependencies": \{\r\n\t\t"@mortise\/compat-v1": "\^\d[^"]*",\r\n\t\t"zod": "\^4.0.0"\r\n\t\}\r\n\}\r\n$/,
    );
    expect(left).toEqual([]);
  });

  it('adds what SDK v1 brought along for its Express entries, unless it is there', async () => {
    const manifest = { dependencies: { [SDK]: '^1', express: '^4.19.0' }, devDependencies: { [SDK]: '^1' } };
    await put({
      'package.json': JSON.stringify(manifest, null, 2),
      'a.ts': `import { mcpAuthRouter } from '${SDK}/server/auth/router.js';`,
    });
    await run();
    const { dependencies } = JSON.parse(await get('package.json')) as { dependencies: Record<string, string> };
    expect(Object.keys(dependencies)).toEqual([COMPAT, 'cors', 'express-rate-limit', 'express']);
    expect(dependencies['express']).toBe('^4.19.0');
  });

  it('stays valid JSON, whichever official packages it names, wherever they stand, and whatever takes their place', async () => {
    const names = ['a', '@modelcontextprotocol/client', '@modelcontextprotocol/node', 'b', '@modelcontextprotocol/server'];
    const sources = ['', "import { McpServer } from '@modelcontextprotocol/server';"];
    for (const source of sources) {
      for (let chosen = 1; chosen < 2 ** names.length; chosen++) {
        const dependencies = Object.fromEntries(names.filter((_, index) => chosen & (2 ** index)).map((name) => [name, '1.0.0']));
        await put({
          'package.json': JSON.stringify({ dependencies, devDependencies: { '@mortise/client': '^1' } }, null, 2),
          'a.ts': source,
        });
        await run({ from: 'v2' });
        const after = JSON.parse(await get('package.json')) as { dependencies: Record<string, string> };
        const own = Object.keys(dependencies).filter((name) => !name.startsWith('@'));
        const isReplaced = source !== '' && own.length < Object.keys(dependencies).length;
        expect(Object.keys(after.dependencies).toSorted()).toEqual(isReplaced ? ['@mortise/server', ...own] : own);
      }
    }
  });

  it('gives the package that a source needs to the nearest manifest that names the official one', async () => {
    await put({
      'package.json': JSON.stringify({ dependencies: { [SDK]: '^1' } }),
      'packages/a/package.json': '{ "name": "a" }',
      'packages/a/a.ts': `import { InMemoryTransport } from '${SDK}/inMemory.js';`,
      'packages/a/moved.ts': "import { StdioServerTransport } from '@mortise/transport-stdio/server';",
    });
    await run({ native: true });
    const { dependencies } = JSON.parse(await get('package.json')) as { dependencies: Record<string, string> };
    expect(Object.keys(dependencies).toSorted()).toEqual(['@mortise/jsonrpc-core', '@mortise/transport-stdio']);
  });

  it.each([
    ['a.ts', `const types = await import(\`${SDK}/types.js\`);`],
    ['a.js', `/** @import { Tool } from '${SDK}/types.js' */`],
    ['a.ts', `/// <reference types="${SDK}" />`],
    ['a.ts', `import { from '${SDK}/types.js'; ((`],
    ['a.vue', `<script>import '${SDK}/types.js';</script>`],
  ])('keeps the official package for what %s is left with: %s', async (name, code) => {
    await put({ 'package.json': JSON.stringify({ dependencies: { [SDK]: '^1' } }), [name]: code, 'b.ts': `import '${SDK}/types.js';` });
    const { left } = await run();
    expect(left.map(({ file }) => file)).toEqual([name, 'package.json']);
    expect(await get('package.json')).toContain(SDK);
  });

  it('changes each package of a workspace by what its own sources import', async () => {
    const manifest = JSON.stringify({ dependencies: { [SDK]: '^1' } });
    await put({
      'package.json': manifest,
      'one/package.json': manifest,
      'one/a.ts': `import { StdioServerTransport } from '${SDK}/server/stdio.js';`,
      'two/package.json': manifest,
      'two/a.ts': `import { InMemoryTransport } from '${SDK}/inMemory.js';`,
    });
    await run({ native: true });
    const names = async (path: string): Promise<string[]> =>
      Object.keys((JSON.parse(await get(path)) as { dependencies: Record<string, string> }).dependencies);
    expect(await names('package.json')).toEqual([COMPAT]);
    expect(await names('one/package.json')).toEqual(['@mortise/transport-stdio']);
    expect(await names('two/package.json')).toEqual(['@mortise/jsonrpc-core']);
  });

  it('keeps the official package beside the new one while a source imports it, and lists overrides', async () => {
    const manifest = { dependencies: { [SDK]: '^1' }, overrides: { [SDK]: '1.32.0' } };
    await put({ 'package.json': JSON.stringify(manifest, null, 2), 'a.ts': `import '${SDK}/types.js';\nimport '${SDK}/examples/x.js';` });
    const { left } = await run();
    const { dependencies } = JSON.parse(await get('package.json')) as { dependencies: Record<string, string> };
    expect(Object.keys(dependencies)).toEqual([SDK, COMPAT]);
    expect(left).toMatchObject([
      { file: 'a.ts', line: 2 },
      { file: 'package.json', line: 6 },
      { file: 'package.json', line: 1, what: expect.stringContaining('stays') as string },
    ]);
  });
});

it('lists the private members of v1 that a program replaces', async () => {
  const [, { left }] = await rewrite(`import { McpServer } from '${SDK}/server/mcp.js';\nserver.validateToolInput = capture;`);
  expect(left).toEqual([{ file: 'file.ts', line: 2, what: expect.stringContaining('private member of v1') as string }]);
});

describe('--native', () => {
  const server = (more: string): string =>
    [
      `import { McpServer } from '${SDK}/server/mcp.js';`,
      `import { StdioServerTransport } from '${SDK}/server/stdio.js';`,
      "const server = new McpServer({ name: 'a', version: '1.0.0' });",
      more,
      'await server.connect(new StdioServerTransport());',
    ].join('\n');

  it('moves a server whose uses are the same here', async () => {
    const [text, { left }] = await rewrite(
      server("server.registerTool('a', {}, async (args, extra) => ({ content: [], s: extra.signal }));"),
      {
        native: true,
      },
    );
    expect(text).toContain("import { McpServer } from '@mortise/server';");
    expect(text).toContain("import { StdioServerTransport } from '@mortise/transport-stdio/server';");
    expect(left).toEqual([]);
  });

  it.each([
    ['server.tool("a", async () => ({ content: [] }));', 'registerTool'],
    ['server.registerTool("a", {}, async (args, extra) => ({ content: [extra._meta] }));', 'extra._meta'],
    ['server.registerTool("a", {}, async (args, { requestInfo }) => ({ content: [requestInfo] }));', 'requestInfo'],
    ['server.registerTool("a", {}, handler);', 'written in place'],
    ['await server.server.elicitInput({});', 'elicitInput'],
    ['server.experimental.tasks.registerToolTask("a", {}, {});', 'experimental'],
    ['const b = new McpServer(info, { capabilities: {}, taskStore });', 'taskStore'],
    ['const b = new McpServer(info, options);', 'options'],
    ['import { z } from "zod/v3";', 'fromZodV3'],
    ['function add(s: McpServer) { s.isConnected(); }', 'isConnected'],
    ['class Own extends McpServer {}', 'extends McpServer'],
    ['server.registerTool("a", {}, async (args, e) => ({ content: [e.taskStore] }));', 'e.taskStore'],
    ['server.registerTool("a", {}, async (e) => ({ content: [e.taskStore] }));', 'e.taskStore'],
    ['server.registerTool("a", { inputSchema }, async (args, e) => helper(e));', '"e" as a whole'],
    ['server.registerTool("a", { inputSchema }, async (args, e) => { const { _meta } = e; });', '"e" as a whole'],
    ['server.registerTool("a", { inputSchema }, async (args, e) => e["taskStore"]);', '"e" as a whole'],
    ['server.registerTool("a", { inputSchema }, async (args, e = {}) => e.taskStore);', 'e.taskStore'],
    ['server.registerTool("a", { inputSchema }, async (args, { signal, ...rest }) => rest);', '"extra" as a whole'],
    ['server.registerTool("a", { inputSchema }, async (...all) => all[1].taskStore);', 'in another way than by name'],
    ['server.registerTool("a", { inputSchema }, async (args, { authInfo }) => authInfo?.extra);', 'extra.authInfo'],
    ['new ResourceTemplate("a://{b}", { list: (e) => e.requestInfo });', 'e.requestInfo'],
    ['new ResourceTemplate("a://{b}", { list: listAll });', '"list" of ResourceTemplate is not written in place'],
  ])('keeps the server on compat because of %s, and lists it', async (code, what) => {
    const [text, { left }] = await rewrite(server(code), { native: true });
    expect(text).toContain(`import { McpServer } from '${COMPAT}/server/mcp.js';`);
    expect(text).toContain("from '@mortise/transport-stdio/server'");
    expect(left).toContainEqual({ file: 'file.ts', line: 4, what: expect.stringContaining(what) as string });
  });

  it('moves on what an earlier run left on compat, once its uses are the same here', async () => {
    const call = 'server.tool("a", async () => ({}));';
    await put({ 'package.json': JSON.stringify({ dependencies: { [SDK]: '^1' } }), 'a.ts': server(call) });
    const names = async (): Promise<string[]> =>
      Object.keys((JSON.parse(await get('package.json')) as { dependencies: Record<string, string> }).dependencies);
    const first = await run({ native: true });
    expect(await names()).toEqual([COMPAT, '@mortise/transport-stdio']);
    expect(await run({ native: true })).toEqual({ ...first, changed: [] });
    await put({ 'a.ts': (await get('a.ts')).replace(call, '') });
    expect((await run({ native: true })).left).toEqual([]);
    expect(await get('a.ts')).toContain("from '@mortise/server'");
    expect((await names()).toSorted()).toEqual(['@mortise/server', '@mortise/transport-stdio']);
  });

  it('keeps the servers of all files on compat if one file uses something else', async () => {
    await put({ 'a.ts': server(''), 'b.ts': 'export const add = (server) => { server.tool("a", async () => ({})); };' });
    const { left } = await run({ native: true });
    expect(await get('a.ts')).toContain(`from '${COMPAT}/server/mcp.js'`);
    expect(left).toMatchObject([
      { file: 'b.ts', line: 1 },
      { file: 'a.ts', line: 1, what: `McpServer stays on ${COMPAT}: because of the uses that are listed` },
    ]);
  });

  it.each([
    ["import * as mcp from '@modelcontextprotocol/sdk/server/mcp.js';", '@mortise/compat-v1/server/mcp.js'],
    ["const { McpServer } = require('@modelcontextprotocol/sdk/server/mcp.js');", '@mortise/compat-v1/server/mcp.js'],
    ["vi.mock('@modelcontextprotocol/sdk/server/mcp.js');", '@mortise/compat-v1/server/mcp.js'],
  ])('keeps the servers of all files on compat because of %s', async (code, to) => {
    await put({ 'a.ts': server(''), 'b.ts': code });
    const { left } = await run({ native: true });
    expect(await get('a.ts')).toContain(`from '${COMPAT}/server/mcp.js'`);
    expect(await get('b.ts')).toContain(to);
    expect(left).toMatchObject([
      { file: 'b.ts', line: 1, what: expect.stringContaining('as a whole') as string },
      { file: 'a.ts', line: 1, what: expect.stringContaining('McpServer stays') as string },
    ]);
  });

  it('renames Client, splits a declaration whose names part, and lists the schema that stays on compat', async () => {
    const code = [
      `import { Client } from '${SDK}/client/index.js';`,
      `  import { isInitializeRequest, CallToolResultSchema as Schema } from '${SDK}/types.js';`,
      "const client = new Client({ name: 'a', version: '1' });",
      'await client.callTool({ name: "add" });',
    ].join('\n');
    const [text, { left }] = await rewrite(code, { native: true });
    expect(text).toBe(
      [
        "import { McpClient as Client } from '@mortise/client';",
        "  import { isInitializeRequest } from '@mortise/protocol';",
        `  import { CallToolResultSchema as Schema } from '${COMPAT}/types.js';`,
        "const client = new Client({ name: 'a', version: '1' });",
        'await client.callTool({ name: "add" });',
      ].join('\n'),
    );
    expect(left).toEqual([
      {
        file: 'file.ts',
        line: 2,
        what: expect.stringContaining(`CallToolResultSchema stays on ${COMPAT}: no sure place`) as string,
        isStay: true,
      },
    ]);
  });

  it('keeps the comments of an import whose names stay together, and lists one that it splits', async () => {
    const code = `import {\n  // eslint-disable-next-line\n  Client, // ours\n} from '${SDK}/client/index.js';\n`;
    expect(await rewrite(code, { native: true })).toMatchObject([
      code.replace('Client', 'McpClient as Client').replace(`${SDK}/client/index.js`, '@mortise/client'),
      { left: [] },
    ]);
    const split = `import { isInitializeRequest, /* c */ Tool } from '${SDK}/types.js';\n`;
    const [, { left }] = await rewrite(split, { native: true });
    expect(left).toContainEqual({ file: 'file.ts', line: 1, what: expect.stringContaining('without the comments') as string });
  });

  const http = `import { StreamableHTTPServerTransport } from '${SDK}/server/streamableHttp.js';`;

  it.each([
    ['a use of McpServer that differs', server('server.tool("a", async () => ({ content: [] }));')],
    ['a low-level Server', `import { Server } from '${SDK}/server/index.js';`],
    ['a low-level Server that is required', `const { Server } = require('${SDK}/server/index.js');`],
    ['a server behind a text', `const { McpServer } = await import(\`${SDK}/server/mcp.js\`);`],
    ['a file that cannot be parsed', `import { from '${SDK}/server/mcp.js'; ((`],
  ])('keeps the HTTP transport on compat with its server because of %s, and lists it', async (_, code) => {
    await put({ 'server.ts': code, 'http.ts': http });
    const { left } = await run({ native: true });
    expect(await get('http.ts')).toBe(http.replace(SDK, COMPAT));
    expect(left).toContainEqual({
      file: 'http.ts',
      line: 1,
      what: expect.stringContaining('reads authInfo and requestInfo') as string,
      isStay: true,
    });
  });

  it.each([
    "server.registerResource('a', new ResourceTemplate('a://{message}', {}), {}, async (uri, { message }) => read(uri, message));",
    "server.registerResource('a', template, {}, async (uri, { message }, { signal }) => read(uri, message, signal));",
    "server.registerTool('a', {}, async (args, ctx) => ctx.log.info(await ctx.elicit(form), ctx.client, ctx.origin, ctx.progress(1)));",
    "server.registerTool('a', {}, async (args, { log, once }) => once('a', log));",
    "server.registerTool('a', { inputSchema }, async ({ b }) => b);",
    "server.registerPrompt('a', config, async (args) => args.b);",
    "new ResourceTemplate('a://{b}', { list: undefined });",
    "new ResourceTemplate('a://{b}', { list: async ({ signal }) => read(signal) });",
    'import { fromZodV3 } from "@mortise/server/zod"; import { z } from "zod/v3";',
  ])('moves a server that is written as the guide says: %s', async (code) => {
    const [text, { left }] = await rewrite(server(code), { native: true });
    expect(text).toContain("from '@mortise/server'");
    expect(left).toEqual([]);
  });

  it('names for McpError what a tool throws, what the rest throws, and what a catch reads', async () => {
    const [, { left }] = await rewrite(server(`import { McpError } from '${SDK}/types.js';`), { native: true });
    expect(left).toContainEqual({
      file: 'file.ts',
      line: 4,
      what: expect.stringMatching(/ToolError.*isError.*ProtocolError.*rpcCode/) as string,
    });
  });

  it('lists what differs in the reader of a template behind its variables', async () => {
    const code = "server.registerResource('a', template, {}, async (uri, { message }, { requestInfo }) => read(message, requestInfo));";
    const [, { left }] = await rewrite(server(code), { native: true });
    expect(left).toContainEqual({ file: 'file.ts', line: 4, what: expect.stringContaining('"extra.requestInfo"') as string });
  });

  it.each(['v1', 'v2'] as const)('lists nothing of a finished program (%s)', async (from) => {
    await put({
      'a.ts':
        "import { McpServer } from '@mortise/server';\nimport { add } from './b.js';\nadd(new McpServer({ name: 'a', version: '1' }));",
      'b.ts':
        'export const add = (s) => { s.registerTool("a", {}, handler); s.registerTool("b", {}, (a, ctx) => use(ctx)); s.server.request(); };',
    });
    expect(await run({ from, native: from === 'v1' })).toEqual({ changed: [], left: [], diff: '' });
  });

  it('lists the classes that an earlier run has moved, where others of their kind stay now', async () => {
    await put({ 'moved.ts': server('') });
    expect((await run({ native: true })).left).toEqual([]);
    await put({ 'staying.ts': server('server.tool("a", async () => ({}));') });
    const { left } = await run({ native: true });
    expect(left).toContainEqual({ file: 'moved.ts', line: 1, what: expect.stringContaining('others of its kind stay') as string });
  });

  it('moves the HTTP transport together with its server', async () => {
    await put({ 'server.ts': server(''), 'http.ts': http });
    expect((await run({ native: true })).left).toEqual([]);
    expect(await get('server.ts')).toContain("from '@mortise/server'");
    expect(await get('http.ts')).toContain("from '@mortise/transport-http/server'");
  });

  it('keeps the server on compat because of zod 3 in package.json, and lists it', async () => {
    await put({ 'package.json': '{ "dependencies": { "zod": "^3.25.0" } }', 'a.ts': server('') });
    const { left } = await run({ native: true });
    expect(await get('a.ts')).toContain(`from '${COMPAT}/server/mcp.js'`);
    expect(left).toEqual([{ file: 'a.ts', line: 1, what: expect.stringContaining('zod 3') as string, isStay: true }]);
  });

  it.each([
    'await client.callTool({ name: "add" }, CallToolResultSchema);',
    'client.setRequestHandler(ElicitRequestSchema, handler);',
    'client.onerror = console.error;',
    'await client.connect(transport, { timeout: 5 });',
    'await client.ping({ timeout: 5 });',
    'const { onerror, request } = client;',
  ])('keeps the client on compat because of %s', async (code) => {
    const [text, { left }] = await rewrite(`import { Client } from '${SDK}/client/index.js';\nconst client = new Client(info);\n${code}`, {
      native: true,
    });
    expect(text).toContain(`from '${COMPAT}/client/index.js'`);
    expect(left).toMatchObject([{ line: 3 }, { line: 1, what: expect.stringContaining('Client stays') as string }]);
  });

  const client = `import { Client } from '${SDK}/client/index.js';\n`;

  it.each([
    'class App { #client = new Client(info); start() { this.#client.onclose = restart; } }',
    'class App { constructor(private readonly client: Client) {} start() { this.client.onclose = restart; } }',
    'interface Connection { client: Client }\nconst watch = (connection: Connection) => (connection.client.onclose = restart);',
    'class App { #client; async call() { return this.#client?.callTool(params, undefined, { timeout: 50 }); } }',
    'function watch(connection: { client: Client }) { connection.client.onclose = restart; }',
    'const c = make(); c.onerror = report;',
    'make().experimental.tasks.list();',
    "clients.get('a')!.setRequestHandler(ElicitRequestSchema, handler);",
    'for (const [, c] of clients) await c.request({ method: "tools/list" }, ListToolsResultSchema);',
    'await this.client.transport.close();',
  ])('keeps a client on compat that only a member shows: %s', async (code) => {
    const [text, { left }] = await rewrite(client + code, { native: true });
    expect(text).toContain(`from '${COMPAT}/client/index.js'`);
    expect(left).toMatchObject([{ line: code.startsWith('interface') ? 3 : 2 }, { line: 1 }]);
  });

  it.each([
    'const clients: Client[] = []; clients.push(client);',
    'transport.onclose = () => sessions.delete(id);',
    'const socket = new WebSocket(url); socket.onerror = report;',
    'const source = new EventSource(url); source.onerror = report;',
    'sessions[id].transport.onclose = () => {}; sessions[id].transport.close();',
    'app.use((ctx) => use(ctx.request.body)); http.request(url, { method: "GET" }); axios.request(config);',
    'hub.callTool("files", name, args); hub.callTool(name, args);',
    'class Own { close() { this.onclose?.(); } }',
  ])('moves a client beside %s', async (code) => {
    const [text, { left }] = await rewrite(client + code, { native: true });
    expect(text).toContain("from '@mortise/client'");
    expect(left).toEqual([]);
  });

  it('counts a member of either class where one name holds both, and says how to part them', async () => {
    const code = [
      `import { McpServer } from '${SDK}/server/mcp.js';`,
      "it('a', () => { const x = new Client(info); x.listTools(); });",
      "it('b', () => { const x = new McpServer(info); x.sendToolListChanged(); });",
    ];
    await put({ 'a.js': [client + code[0], ...code.slice(1)].join('\n') });
    expect((await run({ native: true })).left).toEqual([]);
    await put({ 'a.js': [client + code[0], 'x.onerror = report;', ...code.slice(1)].join('\n') });
    expect((await run({ native: true })).left).toMatchObject([
      { line: 3, what: expect.stringContaining('another name') as string },
      { line: 1, what: expect.stringContaining('Client stays') as string },
      { line: 2, what: expect.stringContaining('McpServer stays') as string },
    ]);
  });

  it.each([`export { Client } from '${SDK}/client/index.js';`, `${client}export { Client as Own };`, `${client}export default Client;`])(
    'keeps a client on compat that a file exports again: %s',
    async (code) => {
      await put({ 'mcp.js': code, 'app.js': "import { Client } from './mcp.js';\nnew Client(info).onerror = report;" });
      const { left } = await run({ native: true });
      expect(await get('mcp.js')).toContain(`from '${COMPAT}/client/index.js'`);
      expect(left).toMatchObject([
        { file: 'mcp.js', what: expect.stringContaining('exported again') as string },
        { file: 'mcp.js', what: expect.stringContaining('Client stays') as string },
      ]);
    },
  );

  it('lists the names that stay in one line for each import and reason, behind the uses to change', async () => {
    await put({
      'a.ts': `import { CallToolRequestSchema, isInitializeRequest, ListToolsRequestSchema, Tool } from '${SDK}/types.js';\n`,
      'b.ts': `${client}new Client(info).onerror = report;`,
    });
    expect((await run({ native: true })).left).toMatchObject([
      { file: 'b.ts', line: 2 },
      { file: 'a.ts', line: 1, what: expect.stringMatching(/^CallToolRequestSchema, ListToolsRequestSchema, Tool stay on/) as string },
      { file: 'b.ts', line: 1 },
    ]);
  });

  it('keeps a client on compat that one file makes and another uses under that name in a way that differs', async () => {
    const make = `import { Client } from '${SDK}/client/index.js';\nexport const makeClient = () => new Client(info);`;
    await put({ 'mcp.ts': make, 'app.ts': 'const client = makeClient();\nclient.onerror = log;\nsocket.onerror = log;' });
    const { left } = await run({ native: true });
    expect(await get('mcp.ts')).toContain(`from '${COMPAT}/client/index.js'`);
    expect(left).toMatchObject([
      { file: 'app.ts', line: 2 },
      { file: 'mcp.ts', line: 1, isStay: true },
    ]);
  });

  it.each([
    "await client.callTool({ name: 'slow' }, undefined, { timeout: 50 });",
    'await client.listTools({}, { timeout: 5 });',
    'await app.tools.callTool({ name }, CompatibilityCallToolResultSchema);',
  ])('keeps a client on compat that another file calls by %s', async (call) => {
    await put({ 'a.js': `import { Client } from '${SDK}/client/index.js';\nexport const client = new Client(info);`, 'b.js': call });
    const { left } = await run({ native: true });
    expect(await get('a.js')).toContain(`from '${COMPAT}/client/index.js'`);
    expect(left).toContainEqual({ file: 'b.js', line: 1, what: expect.stringContaining('have other names here') as string });
  });

  it('sees the options of calls on a parameter property, and takes no HTTP request and no transport for a client', async () => {
    const code = [
      `import { Client } from '${SDK}/client/index.js';`,
      'class A { constructor(private conn: Client) {} list() { return this.conn.listTools({}, { timeout: 5 }); } }',
      "axios.request({ method: 'get', url });",
      'transportToClient.onclose = end;',
    ].join('\n');
    const [, { left }] = await rewrite(code, { native: true });
    expect(left.map(({ line }) => line)).toEqual([2, 1]);
  });
});

describe('v2', () => {
  it('moves the names that mean the same, and lists the others with what stands in their place', async () => {
    const code = [
      "import { McpServer, completable } from '@modelcontextprotocol/server';",
      "import { serveStdio } from '@modelcontextprotocol/server/stdio';",
      "const server = new McpServer({ name: 'a', version: '1' });",
    ].join('\n');
    await put({ 'package.json': '{ "dependencies": { "@modelcontextprotocol/server": "^2", "zod": "^4" } }' });
    const [text, { left }] = await rewrite(code, { from: 'v2' });
    expect(text).toBe(code.replace('@modelcontextprotocol/server', '@mortise/server'));
    expect(left).toEqual([
      { file: 'file.ts', line: 2, what: expect.stringContaining('serveStdio(server)') as string },
      { file: 'package.json', line: 1, what: expect.stringContaining('stays') as string },
    ]);
    expect(await get('package.json')).toMatch(/"@modelcontextprotocol\/server": "\^2", "@mortise\/server": "[^"]+", "zod"/);
  });

  it('keeps the HTTP transport with its server, and lists it', async () => {
    const code = [
      "import { McpServer } from '@modelcontextprotocol/server';",
      "import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';",
      "server.registerTool('a', {}, async (args, ctx) => ctx.http.authInfo);",
    ].join('\n');
    const [text, { left }] = await rewrite(code, { from: 'v2' });
    expect(text).toBe(code);
    expect(left).toContainEqual({ file: 'file.ts', line: 2, what: expect.stringContaining('reads authInfo') as string, isStay: true });
  });

  it('keeps a server whose handlers read their context, since its members have other names', async () => {
    const code =
      "import { McpServer } from '@modelcontextprotocol/server';\nserver.registerTool('a', {}, async (args, ctx) => ctx.mcpReq.id);\n";
    const [text, { left }] = await rewrite(code, { from: 'v2' });
    expect(text).toBe(code);
    expect(left.map(({ line }) => line)).toEqual([2, 1]);
  });
});
