/** The official inspector, on the newer Node that it needs, lists and calls the quickstart's server. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const inspector = at('../../tools/inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const server = at('../../apps/quickstart/dist/server.js');

describe('the inspector', () => {
  let node: string;
  beforeAll(async () => {
    node = (await run(process.execPath, [at('../../scripts/tool-node.mjs'), '24'])).stdout.trim().split('\n').at(-1) ?? '';
  }, 300_000);

  async function inspect(...args: string[]): Promise<unknown> {
    const { stdout } = await run(node, [inspector, '--cli', process.execPath, server, ...args], { timeout: 110_000 });
    return JSON.parse(stdout);
  }

  it('lists the tools of the quickstart', async () => {
    expect(await inspect('--method', 'tools/list')).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ name: 'add' })]),
    });
  });

  it('calls a tool of the quickstart', async () => {
    const result = await inspect('--method', 'tools/call', '--tool-name', 'add', '--tool-arg', 'a=2', '--tool-arg', 'b=3');
    expect(result).toMatchObject({ structuredContent: { result: 5 } });
  });
});
