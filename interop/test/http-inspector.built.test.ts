/** The official inspector uses the calculator over Streamable HTTP, with sessions and without, and over HTTP+SSE. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const inspector = at('../../tools/inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const calculator = at('../../apps/http-calculator/dist/server.js');

describe('the inspector', () => {
  let node: string;
  let server: ChildProcess | undefined;
  beforeAll(async () => {
    node = (await run(process.execPath, [at('../../scripts/tool-node.mjs'), '24'])).stdout.trim().split('\n').at(-1) ?? '';
  }, 300_000);
  afterEach(async () => {
    if (!server) return;
    const exited = once(server, 'exit');
    server.kill();
    await exited;
  });

  it.each([
    { how: 'over Streamable HTTP', flags: [], path: '/mcp', transport: 'http' },
    { how: 'over Streamable HTTP without sessions', flags: ['--no-sessions'], path: '/mcp', transport: 'http' },
    { how: 'over HTTP+SSE', flags: ['--sse'], path: '/sse', transport: 'sse' },
  ])(
    'lists and calls the tools of the calculator $how',
    async ({ flags, path, transport }) => {
      server = spawn(process.execPath, [calculator, '--port', '0', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = (await once(createInterface({ input: server.stdout as NodeJS.ReadableStream }), 'line')) as [string];
      const url = new URL(path, line).href;
      const inspect = async (...args: string[]): Promise<unknown> => {
        const { stdout } = await run(node, [inspector, '--cli', url, '--transport', transport, ...args], { timeout: 110_000 });
        return JSON.parse(stdout);
      };
      expect(await inspect('--method', 'tools/list')).toMatchObject({ tools: [{ name: 'add' }, { name: 'sum_slowly' }] });
      const result = await inspect('--method', 'tools/call', '--tool-name', 'add', '--tool-arg', 'a=2', '--tool-arg', 'b=3');
      expect(result).toMatchObject({ structuredContent: { result: 5 } });
    },
    120_000,
  );
});
