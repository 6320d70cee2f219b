/** Serves one MCP server on Bun, Deno and Workers, and calls it in both eras. */

import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { initializeRequest, LEGACY, LegacyClient } from '../support/legacy-client.ts';
import { modern, modernHeaders, modernRequest, modernTool } from '../support/modern.ts';
import { post, send } from '../support/send.ts';

const here = import.meta.dirname;
let folder = '';
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mortise-platforms-'));
});

afterAll(async () => {
  for (const child of children) child.kill();
  await rm(folder, { recursive: true, force: true });
});

/** One file without Node: bundling fails where anything imports a `node:` module. */
async function bundle(name: string): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  const conditions = ['mortise-source'];
  await build({
    entryPoints: [join(here, `${name}.ts`)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2023',
    conditions,
    mainFields: ['module', 'main'],
    logLevel: 'error',
  });
  return outfile;
}

/** The binary that a package of a platform's runtime ships, whatever its install script did. */
function findBinary(runtime: string, platformPackage: string, path: string): string {
  const ofRuntime = createRequire(createRequire(import.meta.url).resolve(`${runtime}/package.json`));
  return join(dirname(ofRuntime.resolve(`${platformPackage}/package.json`)), path);
}

async function start(command: string, args: readonly string[], port: RegExp): Promise<number> {
  await chmod(command, 0o755).catch(() => undefined);
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  children.push(child);
  return new Promise((resolve, reject) => {
    let output = '';
    for (const stream of [child.stdout, child.stderr, child.stdio[3]]) {
      stream?.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const found = port.exec(output)?.[1];
        if (found !== undefined) resolve(Number(found));
      });
    }
    child.on('exit', (code) => reject(new Error(`It ended with ${code}: ${output}`)));
    child.on('error', reject);
  });
}

async function callModern(port: number, headers: Record<string, string> = {}): Promise<readonly unknown[]> {
  const json = await modernTool(port, 'add', { a: 1, b: 2 }, headers);
  const request = modernRequest('tools/call', { name: 'add', arguments: { a: 1, b: 2 }, _meta: { progressToken: 1 } });
  const stream = await post(port, request, { ...modernHeaders(request), ...headers });
  const refused = await modernTool(port, 'add', {}, { ...headers, host: 'evil.example' });
  const wrong = await modern(port, 'tools/call', { name: 'add' }, { ...headers, 'mcp-name': 'other' });
  const messages = (await stream.events()).map(({ data }) => (JSON.parse(data) as JsonObject)['method'] ?? 'answer');
  return [json.status, (await json.text()).includes('"text":"3"'), messages, refused.status, wrong.status];
}

const MODERN_OUTCOME = [200, true, ['notifications/progress', 'answer'], 403, 400];

async function callLegacy(port: number): Promise<readonly unknown[]> {
  const client = await LegacyClient.open(port);
  const stream = await client.get();
  const answer = await (await client.tool('add', { a: 1, b: 2 })).response();
  stream.leave();
  const ended = await client.delete();
  return [stream.isStream, JSON.stringify(answer).includes('"text":"3"'), ended.status, (await client.tool('add')).status];
}

const LEGACY_OUTCOME = [true, true, 204, 404];

describe('the fetch face elsewhere', () => {
  it('serves on Bun', async () => {
    const port = await start(
      findBinary('bun', `@oven/bun-${process.platform}-${process.arch}`, 'bin/bun'),
      ['run', await bundle('bun')],
      /port (\d+)/,
    );
    expect([await callModern(port), await callLegacy(port)]).toEqual([MODERN_OUTCOME, LEGACY_OUTCOME]);
  });

  it('serves on Deno', async () => {
    const deno = findBinary('deno', `@deno/${process.platform}-${process.arch}${process.platform === 'linux' ? '-glibc' : ''}`, 'deno');
    const port = await start(deno, ['run', '--no-config', '--allow-net', await bundle('deno')], /port (\d+)/);
    expect([await callModern(port), await callLegacy(port)]).toEqual([MODERN_OUTCOME, LEGACY_OUTCOME]);
  });

  it('serves on Workers, without sessions', async () => {
    await bundle('worker');
    await writeFile(
      join(folder, 'config.capnp'),
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const worker :Workerd.Worker = (modules = [(name = "worker", esModule = embed "worker.mjs")], compatibilityDate = "2026-01-01");
`,
    );
    const workerd = findBinary(
      'workerd',
      `@cloudflare/workerd-${process.platform}-${process.arch === 'x64' ? '64' : process.arch}`,
      'bin/workerd',
    );
    const port = await start(workerd, ['serve', join(folder, 'config.capnp'), '--control-fd=3'], /"port":(\d+)/);
    expect(await callModern(port, { host: 'mcp.example.com' })).toEqual(MODERN_OUTCOME);
    const headers = { host: 'mcp.example.com', 'mcp-protocol-version': LEGACY };
    const opened = await post(port, initializeRequest(), { host: 'mcp.example.com' });
    const call = await post(
      port,
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add', arguments: { a: 1, b: 2 } } },
      headers,
    );
    const get = await send(port, { method: 'GET', headers: { ...headers, accept: 'text/event-stream' } });
    expect([opened.status, JSON.stringify(await call.response()).includes('"text":"3"'), get.status]).toEqual([200, true, 405]);
  });
});
