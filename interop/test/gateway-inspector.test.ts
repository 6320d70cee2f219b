/** All that `inspector --cli` can ask of a server: through the gateway it gets what it gets from the server itself. */

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createGateway } from '@mortise/host/gateway';
import { serveHttp } from '@mortise/transport-http/node';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const inspector = at('../../tools/inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

/** Leaves out what only the modern era says, and that a gateway waits for tasks itself. */
function withoutEra(key: string, value: unknown): unknown {
  if (['ttlMs', 'cacheScope', 'execution', 'io.modelcontextprotocol/serverInfo'].includes(key)) return undefined;
  return key === '_meta' && Object.keys(value as object).length === 0 ? undefined : value;
}

describe('the inspector, through a gateway to server-everything (legacy, stdio),', () => {
  let node: string;
  let folder: string;
  let url: string;
  const ends: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    node = (await run(process.execPath, [at('../../scripts/tool-node.mjs'), '24'])).stdout.trim().split('\n').at(-1) ?? '';
    folder = await mkdtemp(join(tmpdir(), 'gateway-inspector-'));
    const transport = stdioTransport({ command: process.execPath, args: [everything, 'stdio'], stderr: 'ignore' });
    // On a busy machine a server may take seconds to start; as long as it is silent nothing is known of its era.
    const gateway = createGateway({ servers: { everything: { transport, keepsNames: true, client: { probeTimeoutMs: 60_000 } } } });
    const serving = await serveHttp(gateway, { port: 0, drainMs: 1 });
    ({ url } = serving);
    ends.push(
      () => serving.close(),
      () => gateway.close(),
      () => rm(folder, { recursive: true }),
    );
  }, 300_000);
  afterAll(async () => {
    for (const end of ends) await end();
  });

  async function inspect(target: readonly string[], ...args: string[]): Promise<unknown> {
    const env = { ...process.env, MCP_CATALOG_PATH: join(folder, 'catalog.json') };
    const words = [inspector, '--cli', ...target, '--quiet', '--connect-timeout', '60000', ...args];
    // A tool that fails ends the inspector with an error, which it prints as JSON, too.
    const { stdout, stderr } = await run(node, words, { env, timeout: 110_000 }).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
    return JSON.parse(stdout || stderr, withoutEra);
  }
  const direct = (...args: string[]): Promise<unknown> => inspect([process.execPath, everything, 'stdio'], ...args);
  const through = (era: string, ...args: string[]): Promise<unknown> => inspect([url, '--protocol-era', era], ...args);

  it.each<readonly string[]>([
    ['tools/list'],
    ['tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hi'],
    ['tools/call', '--tool-name', 'get-structured-content', '--tool-arg', 'location=Chicago'],
    ['tools/call', '--tool-name', 'get-tiny-image'],
    ['tools/call', '--tool-name', 'get-sum', '--tool-arg', 'a=x'],
    ['resources/list'],
    ['resources/read', '--uri', 'demo://resource/static/document/architecture.md'],
    ['resources/templates/list'],
    ['prompts/list'],
    ['prompts/get', '--prompt-name', 'args-prompt', '--prompt-args', 'city=Paris'],
  ])('gets the same: %j', async (...args) => {
    const expected = await direct('--method', ...args);
    expect(await through('modern', '--method', ...args)).toEqual(expected);
    // Of the legacy era, which both sides then speak, two are enough: each run is a process.
    if (args.includes('echo') || args.includes('args-prompt')) expect(await through('legacy', '--method', ...args)).toEqual(expected);
  });

  it('connects, sets the level of log messages, and measures the load', async () => {
    expect(await through('legacy', '--method', 'initialize')).toMatchObject({ serverInfo: { name: 'mortise-gateway' } });
    expect(await through('legacy', '--method', 'logging/setLevel', '--log-level', 'debug')).toEqual({});
    const load = [
      '--method',
      'tools/call',
      '--tool-name',
      'echo',
      '--tool-arg',
      'message=hi',
      '--load',
      '--load-requests',
      '50',
      '--format',
      'json',
    ];
    for (const era of ['legacy', 'modern']) expect(JSON.stringify(await through(era, ...load))).toMatch(/"(?:ok|succeeded|successes)":50/);
  });
});
