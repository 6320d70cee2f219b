/**
 * What a user gets: the packages are packed and installed into empty folders by npm, the README's server and client run from
 * there, and nothing else came along.
 */

import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPacked } from '../measure-install.mjs';

const execute = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const installTimeoutMs = 180_000;

type Installed = Awaited<ReturnType<typeof installPacked>>;

/** The first `ts` block below a heading of the README. */
function example(heading: string): string {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const code = /```ts[^\n]*\n([\s\S]*?)\n```/.exec(readme.slice(readme.indexOf(`\n${heading}\n`)))?.[1];
  if (code === undefined) throw new Error(`README.md has no ts block below "${heading}"`);
  return code;
}

const zodRange = /^ {2}zod: (.+)$/m.exec(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8'))?.[1] ?? '*';
const crossSpawn = ['cross-spawn', 'isexe', 'path-key', 'shebang-command', 'shebang-regex', 'which'];
const base = ['@mortise/jsonrpc-core', '@mortise/protocol', '@mortise/transport-stdio', ...crossSpawn];

let forServer: Installed;
let forServerWithZod: Installed;
let forClient: Installed;
let withOldZod: Installed;

beforeAll(async () => {
  if (!existsSync(join(root, 'packages/server/dist/index.js'))) throw new Error('The packages are not built: run npm run build first');
  forServer = await installPacked(['@mortise/server', '@mortise/transport-stdio']);
  forServerWithZod = await installPacked(['@mortise/server', '@mortise/transport-stdio', `zod@${zodRange}`]);
  forClient = await installPacked(['@mortise/client', '@mortise/transport-stdio']);
  // npm refuses peers that do not fit (ERESOLVE), and then this rejects.
  withOldZod = await installPacked(['@mortise/server', '@mortise/client', '@mortise/protocol', 'zod@3.25.76']);
}, installTimeoutMs);

afterAll(() => {
  for (const installed of [forServer, forServerWithZod, forClient, withOldZod]) installed?.remove();
});

describe('the packed packages', () => {
  it('bring a stdio server with its transport and nothing else', () => {
    expect([...forServer.names].sort()).toEqual([...base, '@mortise/server'].sort());
  });

  it('take less than a megabyte for a stdio server, all files of all packages counted', () => {
    expect(forServer.bytes).toBeLessThan(1_000_000);
  });

  it('bring a stdio client with its transport and nothing else', () => {
    expect([...forClient.names].sort()).toEqual([...base, '@mortise/client'].sort());
  });

  it('serve and call as the README says', async () => {
    writeFileSync(join(forServerWithZod.folder, 'server.js'), example('## A server'));
    writeFileSync(join(forClient.folder, 'client.js'), example('## A client'));
    // The client's README starts `node server.js`, which is looked for in the folder that the client is run in.
    const { stdout } = await execute(process.execPath, [join(forClient.folder, 'client.js')], {
      cwd: forServerWithZod.folder,
      timeout: 110_000,
    });
    expect(stdout).toBe('{ sum: 3 }\n');
  });

  it('serve a tool with a plain JSON Schema where no schema library is installed', async () => {
    const code = example('## A server')
      .replace(/^import .* from 'zod';\n/m, '')
      .replace(
        '{ a: z.number(), b: z.number() }',
        "{ type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] }",
      )
      .replace('{ sum: z.number() }', "{ type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }");
    writeFileSync(join(forServer.folder, 'server.js'), code);
    writeFileSync(join(forClient.folder, 'client.js'), example('## A client'));
    const { stdout } = await execute(process.execPath, [join(forClient.folder, 'client.js')], { cwd: forServer.folder, timeout: 110_000 });
    expect(stdout).toBe('{ sum: 3 }\n');
  });

  it.each(['@mortise/server', '@mortise/transport-stdio/server'])(
    'can be required where Node can require ES modules: %s',
    async (entry) => {
      const code = `console.log(typeof require('${entry}'))`;
      const flags = process.allowedNodeEnvironmentFlags.has('--experimental-require-module') ? ['--experimental-require-module'] : [];
      const { stdout } = await execute(process.execPath, [...flags, '--input-type=commonjs', '-e', code], { cwd: forServer.folder });
      expect(stdout).toBe('object\n');
    },
  );

  it('have classes of errors that Node prints by the names under which they are imported', async () => {
    const code = `import * as core from '@mortise/jsonrpc-core';
      import * as client from '@mortise/client';
      for (const [name, value] of Object.entries({ ...core, ...client })) if (value.prototype instanceof Error) console.log(name, value.name);`;
    const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', code], { cwd: forClient.folder });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toContain('ConnectionClosedError ConnectionClosedError');
    for (const line of lines) expect(line).toMatch(/^(?:internal_)?(\w+) \1$/);
  });

  it('go with the zod that brought its version 4 along, 3.25', async () => {
    const code = `import { CallToolResultSchema } from '@mortise/protocol/schemas';
      console.log(CallToolResultSchema.safeParse({ content: [{ type: 'text', text: 'x' }] }).success, CallToolResultSchema.safeParse({ content: 5 }).success);`;
    const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', code], { cwd: withOldZod.folder });
    expect(stdout).toBe('true false\n');
  });

  it('have types that need no types of Node, and no newer library than ES2022', async () => {
    const { folder } = withOldZod;
    writeFileSync(
      join(folder, 'program.ts'),
      `import { createInMemoryPair, type ServerConnection } from '@mortise/jsonrpc-core';
      import { McpServer } from '@mortise/server';
      import { McpClient } from '@mortise/client';
      const [near, far] = createInMemoryPair();
      export const connection: ServerConnection = await new McpServer({ name: 'a', version: '1' }).connect(far);
      export const client: McpClient = await McpClient.connect(near, { name: 'b', version: '1' });`,
    );
    const compilerOptions = {
      target: 'es2022',
      lib: ['es2022', 'dom'],
      module: 'nodenext',
      strict: true,
      types: [],
      noEmit: true,
      skipLibCheck: false,
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    const { stdout } = await execute(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });
});
