/**
 * The examples of the seed document that serve HTTP run with nothing changed but their import lines. Each is cut out of the seed, written
 * beside this package, run with tsx and driven by real clients, Mortise's and the official ones. The examples name port 3000: a module that is loaded
 * before them makes that a free one.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { McpClient } from '@mortise/client';
import { httpTransport } from '@mortise/transport-http/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cut, hasSeed, rewriteImports } from './seed-code.ts';

const interop = fileURLToPath(new URL('..', import.meta.url));
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const anyPort = new URL('../fixtures/any-port.mjs', import.meta.url).href;
const info = { name: 'seeds', version: '1.0.0' };
const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info },
});

describe.skipIf(!hasSeed)('the seed', () => {
  let folder: string;
  let child: ChildProcess | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(interop, '.seeds-http-'));
  });
  afterEach(async () => {
    if (!child) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Runs an example. @returns Where it serves. */
  async function run(name: string, code: string): Promise<string> {
    const file = join(folder, `${name}.mts`);
    await writeFile(file, rewriteImports(code));
    const args = ['--import', anyPort, '--import', tsx, file];
    child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit', 'pipe'] });
    const lines = createInterface({ input: child.stdio[3] as NodeJS.ReadableStream });
    const [port] = (await once(lines, 'line')) as [string];
    return `http://127.0.0.1:${port}/mcp`;
  }

  const openInitialize = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(url, { method: 'POST', headers: { ...json, ...headers }, body: initialize });

  /** `fetch` never sends a host of one's own. */
  async function statusUnderHost(url: string, host: string): Promise<number | undefined> {
    const posted = request(url, { method: 'POST', headers: { ...json, host }, agent: false }).end(initialize);
    const [answer] = (await once(posted, 'response')) as [IncomingMessage];
    answer.destroy();
    return answer.statusCode;
  }

  async function connectV1(url: string): Promise<ClientV1> {
    const client = new ClientV1(info);
    await client.connect(new HttpV1(new URL(url)) as TransportV1);
    return client;
  }

  /** What the quick start offers, by each client. */
  async function useQuickStart(url: string): Promise<void> {
    for (const options of [{}, { protocolVersion: '2025-11-25' }, { protocolVersion: '2025-03-26' }]) {
      const client = await McpClient.connect(httpTransport(url), info, options);
      expect((await client.callTool('add', { a: 2, b: 3 })).content).toEqual([{ type: 'text', text: '{"result":5}' }]);
      expect((await client.readResource('greeting://Ada')).contents).toMatchObject([{ uri: 'greeting://Ada', text: 'Hello, Ada!' }]);
      await client.close();
    }
    const official = await connectV1(url);
    expect((await official.callTool({ name: 'add', arguments: { a: 2, b: 3 } }))['structuredContent']).toEqual({ result: 5 });
    await official.close();
  }

  it('has a quick start that adds and greets', async () => {
    await useQuickStart(await run('quick-start', cut('## Quick Start')));
  });

  it('has a server without sessions that answers any number of clients at once', async () => {
    const url = await run('without-sessions', cut('#### Without Session Management'));
    const names = Array.from({ length: 5 }, async () => {
      const client = await McpClient.connect(httpTransport(url), info, { era: 'legacy' });
      const { serverInfo } = client;
      await client.close();
      return serverInfo?.name;
    });
    expect(await Promise.all(names)).toEqual(Array.from({ length: 5 }, () => 'example-server'));
    const answer = await openInitialize(url);
    expect(answer.headers.get('mcp-session-id')).toBeNull();
    expect(answer.headers.get('content-type')).toContain('application/json');
    const official = await connectV1(url);
    expect(official.getServerVersion()).toMatchObject({ name: 'example-server' });
    await official.close();
  });

  it('has a server with sessions that come, are used, and end', async () => {
    const url = await run('with-sessions', cut('#### With Session Management'));
    const client = await McpClient.connect(httpTransport(url), info);
    expect(client.era).toBe('legacy');
    await client.ping();
    await client.close();
    const official = await connectV1(url);
    await official.ping();
    await official.close();

    const opened = await openInitialize(url);
    await opened.text();
    const id = opened.headers.get('mcp-session-id') ?? '';
    expect(id).toMatch(/^[\da-f-]{36}$/);
    const headers = { ...json, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' });
    expect((await fetch(url, { method: 'POST', headers, body: ping })).status).toBe(200);
    expect((await fetch(url, { method: 'DELETE', headers })).ok).toBe(true);
    // What the example itself answers once its transport has closed.
    expect((await fetch(url, { method: 'POST', headers, body: ping })).status).toBe(400);
    expect((await fetch(url)).status).toBe(400);
  });

  it('lets pages of other origins on this machine call, where its lines for CORS stand in the quick start', async () => {
    const [importLine = '', ...rest] = cut('#### CORS Configuration').split('\n');
    const code = `${importLine}\n${cut('## Quick Start')}`.replace('const app = express();', `const app = express();\n${rest.join('\n')}`);
    const url = await run('cors', code);
    await useQuickStart(url);
    const origin = 'http://localhost:5173';
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    });
    expect(preflight.headers.get('access-control-allow-headers')).toContain('mcp-session-id');
    const answer = await openInitialize(url, { origin });
    expect(answer.status).toBe(200);
    // What the program's own CORS middleware has said stands.
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-expose-headers')).toContain('Mcp-Session-Id');
  });

  it('refuses foreign hosts and origins, where its lines against DNS rebinding stand in the server with sessions', async () => {
    const options = cut('#### DNS Rebinding Protection').split('\n').slice(2, -1).join('\n');
    const code = cut('#### With Session Management').replace(
      'sessionIdGenerator: () => randomUUID(),',
      `sessionIdGenerator: () => randomUUID(),\n${options},`,
    );
    const url = await run('dns-rebinding', code);
    const client = await McpClient.connect(httpTransport(url), info);
    await client.close();
    expect((await openInitialize(url, { origin: 'https://yourdomain.com' })).status).toBe(200);
    expect((await openInitialize(url, { origin: 'https://evil.example' })).status).toBe(403);
    expect(await statusUnderHost(url, '127.0.0.1:80')).toBe(200);
    expect(await statusUnderHost(url, 'evil.example')).toBe(403);
  });
});
