/**
 * What a user gets: all packages are published to a registry on loopback, empty folders install them from it by name, or from tarballs, and
 * programs run there. Those of the documents are run by `documents.built.test.ts`.
 */

import { spawn } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@mortise/jsonrpc-core/connection';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { edgeSafeEntries, packageManifests } from '../workspace-packages.mjs';
import { openRegistry } from '../local-registry.mjs';
import { packPackages } from '../pack.mjs';
import { root, runCommand, runNode } from '../run-command.mjs';

type Registry = Awaited<ReturnType<typeof openRegistry>>;
type Installed = Awaited<ReturnType<Registry['install']>>;

const crossSpawn = ['cross-spawn', 'isexe', 'path-key', 'shebang-command', 'shebang-regex', 'which'];
const base = ['@mortise/jsonrpc-core', '@mortise/protocol', '@mortise/transport-stdio', ...crossSpawn];

let registry: Registry;
let forServer: Installed, forClient: Installed, withOldZod: Installed;

beforeAll(async () => {
  registry = await openRegistry();
  [forServer, forClient, withOldZod] = await Promise.all([
    registry.install(['@mortise/server', '@mortise/transport-stdio']),
    registry.install(['@mortise/client', '@mortise/transport-stdio']),
    // npm refuses peers that do not fit (ERESOLVE), and then this rejects.
    registry.install(['@mortise/server', '@mortise/client', '@mortise/protocol', 'zod@3.25.76']),
  ]);
}, 300_000);

afterAll(() => registry?.close());

/** Runs a program in a folder, which must end well. @returns What it prints. */
async function runIn(cwd: string, ...args: string[]): Promise<string> {
  const { code, stdout, output } = await runNode(args, { cwd, timeoutMs: 110_000 });
  if (code !== 0) throw new Error(output);
  return stdout;
}

/** Runs code in a folder, as an ES module. */
const run = ({ folder }: Installed, code: string, ...flags: string[]): Promise<string> =>
  runIn(folder, ...flags, '--input-type=module', '-e', code);

const programs = {
  'server.js': `import { McpServer } from '@mortise/server';
    import { serveStdio } from '@mortise/transport-stdio/server';
    const server = new McpServer({ name: 'calculator', version: '1.0.0' });
    const inputSchema = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] };
    server.registerTool('add', { inputSchema }, ({ a, b }) => ({ structuredContent: { sum: a + b } }));
    await serveStdio(server);`,
  'client.js': `import { McpClient } from '@mortise/client';
    import { stdioTransport } from '@mortise/transport-stdio/client';
    const transport = stdioTransport({ command: 'node', args: ['server.js'] });
    const client = await McpClient.connect(transport, { name: 'my-app', version: '1.0.0' });
    console.log((await client.callTool('add', { a: 1, b: 2 })).structuredContent);
    await client.close();`,
};

describe('the published packages', () => {
  it('bring a stdio server with its transport and nothing else', () => {
    expect([...forServer.names].sort()).toEqual([...base, '@mortise/server'].sort());
  });

  it('take less than 1.2 MB for a stdio server, but for the sources and maps that debuggers read', () => {
    expect(forServer.bytes - forServer.sourceBytes).toBeLessThan(1_200_000);
  });

  it('bring a stdio client with its transport and nothing else', () => {
    expect([...forClient.names].sort()).toEqual([...base, '@mortise/client'].sort());
  });

  it('load from every entry, and have each class once', async () => {
    const optionalPeers = [
      'zod',
      '@opentelemetry/api',
      'vitest',
      'express',
      'express-rate-limit',
      'cors',
      'ai',
      '@langchain/core',
      'bullmq',
    ];
    const manifests = packageManifests();
    const all = await registry.install([...manifests.map(({ name }) => name), ...optionalPeers]);
    const entries = manifests.flatMap(({ name, exports }) => Object.keys(exports).map((subpath) => [name, name + subpath.slice(1)]));
    // The kits for vitest load only in a test, and "*.js" stands for entries that are listed besides.
    const loaded = entries.filter(([, entry = '']) => !/package\.json$|\/vitest$|\*\.js$/.test(entry));
    const code = `const classes = new Map();
      for (const [name, entry] of ${JSON.stringify(loaded)})
        for (const [key, value] of Object.entries(await import(entry))) {
          if (!/^class\\b/.test(String(value))) continue;
          const known = classes.get(name + key) ?? value;
          if (known !== value) console.log(entry + ' has another ' + key);
          classes.set(name + key, known);
        }
      console.log(classes.size > 50);`;
    expect(entries.map(([, entry]) => entry)).toEqual(expect.arrayContaining([...edgeSafeEntries()]));
    expect(await run(all, code)).toBe('true\n');
  });

  it('name our functions and lines in a stack trace', async () => {
    const code = `import { McpServer } from '@mortise/server';
      const server = new McpServer({ name: 'a', version: '1' });
      try { server.registerTool('', {}, () => 'x'); } catch (error) { console.log(error.stack); }`;
    const named = /at McpServer\.registerTool \((?:file:\/\/)?(.*\/server\/(?:src|dist)\/[\w/-]+\.[tj]s):(\d+):\d+\)/;
    for (const flags of [[], ['--enable-source-maps']]) {
      const [frame, file = '', line = ''] = named.exec(await run(forServer, code, ...flags)) ?? [];
      expect(frame).toContain(flags.length === 0 ? '/dist/index.js' : '/src/mcp-server.ts');
      // The published file has that line, as written.
      expect(readFileSync(file, 'utf8').split('\n')[Number(line) - 1]).toMatch(/register\(/);
    }
  });

  it('serve and call a tool with a plain JSON Schema where no schema library is installed', async () => {
    writeFileSync(join(forServer.folder, 'server.js'), programs['server.js']);
    writeFileSync(join(forClient.folder, 'client.js'), programs['client.js']);
    expect(await runIn(forServer.folder, join(forClient.folder, 'client.js'))).toBe('{ sum: 3 }\n');
  });

  it('install from the tarballs of `npm run pack` where no registry has them', async () => {
    const folder = registry.makeFolder();
    await packPackages(join(folder, 'packed'));
    const tarballs = readdirSync(join(folder, 'packed')).map((file) => join(folder, 'packed', file));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    // Whoever asked the registry for one of ours would fail.
    writeFileSync(join(folder, '.npmrc'), '@mortise:registry=http://127.0.0.1:9/\nfetch-retries=0\n');
    const { code, output } = await runCommand('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...tarballs], {
      cwd: folder,
    });
    expect(code, output).toBe(0);
    for (const [file, program] of Object.entries(programs)) writeFileSync(join(folder, file), program);
    expect(await runIn(folder, 'client.js')).toBe('{ sum: 3 }\n');
  });

  it.each(['@mortise/server', '@mortise/transport-stdio/server'])(
    'can be required where Node can require ES modules: %s',
    async (entry) => {
      const code = `console.log(typeof require('${entry}'))`;
      const flags = process.allowedNodeEnvironmentFlags.has('--experimental-require-module') ? ['--experimental-require-module'] : [];
      expect(await runIn(forServer.folder, ...flags, '--input-type=commonjs', '-e', code)).toBe('object\n');
    },
  );

  it('have classes of errors that Node prints by the names under which they are imported', async () => {
    const code = `import * as core from '@mortise/jsonrpc-core';
      import * as client from '@mortise/client';
      for (const [name, value] of Object.entries({ ...core, ...client })) if (value.prototype instanceof Error) console.log(name, value.name);`;
    const lines = (await run(forClient, code)).trimEnd().split('\n');
    expect(lines).toContain('ConnectionClosedError ConnectionClosedError');
    for (const line of lines) expect(line).toMatch(/^(\w+) \1$/);
  });

  it('go with the zod that brought its version 4 along, 3.25', async () => {
    const code = `import { CallToolResultSchema } from '@mortise/protocol/schemas';
      console.log(CallToolResultSchema.safeParse({ content: [{ type: 'text', text: 'x' }] }).success, CallToolResultSchema.safeParse({ content: 5 }).success);`;
    expect(await run(withOldZod, code)).toBe('true false\n');
  });

  it.each([
    ['server', ['npx', 'mortise', 'call', 'src/server.ts', 'add', 'a=1', 'b=2'], '{"sum":3}\n'],
    ['http-server', ['npx', 'mortise', 'call', 'src/server.ts', 'add', 'a=1', 'b=2'], '{"sum":3}\n'],
    ['host', ['npm', 'start', '--silent'], /^quickstart__add: /],
    ['client', ['npm', 'start', '--silent', '--', 'node', join(root, 'apps/quickstart/dist/server.js')], /^add: /],
  ])('make a project that compiles, tests and runs by mortise create --kind %s', async (kind, [command = '', ...args], printed) => {
    const folder = registry.makeFolder();
    const project = join(folder, 'project');
    await runIn(folder, join(root, 'packages/cli/bin/mortise.js'), 'create', 'project', '--kind', kind);
    copyFileSync(join(folder, '.npmrc'), join(project, '.npmrc'));
    if (kind === 'host')
      writeFileSync(
        join(project, 'mcp.json'),
        JSON.stringify({ mcpServers: { quickstart: { command: 'node', args: [join(root, 'apps/quickstart/dist/server.js')] } } }),
      );
    for (const words of [['install', '--no-audit', '--no-fund', '--prefer-offline'], ['run', 'check'], ['test']]) {
      const { code, output } = await runCommand('npm', words, { cwd: project });
      expect(code, output).toBe(0);
    }
    expect((await runCommand(command, args, { cwd: project })).stdout).toMatch(printed);
  });

  it('write an entry that npx starts if @mortise/cli is not installed', async () => {
    const folder = registry.makeFolder();
    writeFileSync(join(folder, 'server.js'), '');
    const words = ['--yes', '--prefer-offline', '--cache', join(folder, 'npm'), '@mortise/cli', 'install', 'server.js', 'cursor', '--yes'];
    const { code, output } = await runCommand('npx', words, { cwd: folder });
    expect(code, output).toBe(0);
    const { mcpServers } = JSON.parse(readFileSync(join(folder, '.cursor/mcp.json'), 'utf8')) as Record<string, object>;
    expect(Object.values(mcpServers ?? {})).toEqual([{ command: 'npx', args: ['-y', '@mortise/cli', 'run', join(folder, 'server.js')] }]);
  });

  it('bring a new server to a tool call in the inspector by two commands', async () => {
    const startMs = performance.now();
    const folder = registry.makeFolder();
    const project = join(folder, 'my-server');
    await runIn(folder, join(root, 'packages/cli/bin/mortise.js'), 'create', 'my-server');
    copyFileSync(join(folder, '.npmrc'), join(project, '.npmrc'));
    const { code, output } = await runCommand('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: project });
    expect(code, output).toBe(0);
    const child = spawn('npm', ['run', 'dev'], { cwd: project, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    onTestFinished(() => void (child.pid === undefined || process.kill(-child.pid, 'SIGKILL')));
    let told = '';
    for await (const chunk of child.stderr) if (/http:\S+/.test((told += String(chunk)))) break;
    const url = /http:\S+/.exec(told)?.[0] ?? '';
    let onReady: (server: string) => void = () => undefined;
    const ready = new Promise<string>((resolve) => (onReady = resolve));
    const page = new Connection(webSocketTransport(`${url.replace('http', 'ws')}link`, { headers: { Origin: new URL(url).origin } }), {
      onNotification: ({ params }) => {
        const events = params?.['events'] as unknown as readonly {
          readonly server: string;
          readonly state?: { readonly status: string };
        }[];
        for (const { server, state } of events) if (state?.status === 'ready') onReady(server);
      },
    });
    await page.start();
    onTestFinished(() => page.close());
    await page.request('hello');
    const call = { server: await ready, method: 'tools/call', params: { name: 'add', arguments: { a: 1, b: 2 } } };
    expect(await page.request('request', call)).toMatchObject({ result: { structuredContent: { sum: 3 } } });
    console.log(`from nothing to a tool call in the inspector: ${Math.round(performance.now() - startMs)} ms`);
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
    const target = { target: 'es2022', lib: ['es2022', 'dom'], module: 'nodenext' };
    const compilerOptions = { ...target, strict: true, types: [], noEmit: true, skipLibCheck: false };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    const { stdout } = await runNode(['node_modules/typescript/bin/tsc', '-p', folder]);
    expect(stdout).toBe('');
  });
});
