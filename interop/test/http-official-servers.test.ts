/** Mortise's client uses servers written with the official SDKs over HTTP, in each era that they speak, and the reference server. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpClient } from '@mortise/client';
import { REVISIONS } from '@mortise/protocol';
import { httpTransport } from '@mortise/transport-http/client';
import { nodeHttpSender } from '@mortise/transport-http/node';
import { afterEach } from 'vitest';
import { serveV1, serveV1Stateless, serveV2 } from '../fixtures/official-http-servers.mjs';
import { answers, describeEverythingServer, describeOfficialServer } from './official-server-cases.ts';

const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Serve = () => Promise<{ readonly url: string; close(): Promise<void> }>;

async function open(serve: Serve, protocolVersion?: string): Promise<McpClient> {
  const { url, close } = await serve();
  closers.push(close);
  return connect(url, protocolVersion);
}

function connect(url: string, protocolVersion?: string, options: Parameters<typeof httpTransport>[1] = {}): Promise<McpClient> {
  return McpClient.connect(httpTransport(url, options), { name: 'mortise', version: '1.0.0' }, { ...answers, protocolVersion });
}

for (const { version, era, http } of REVISIONS.filter((revision) => revision.http.endpoints === 'single')) {
  if (http.sessions) {
    describeOfficialServer({ name: `v1 over HTTP, pinned to ${version}`, era, open: () => open(serveV1, version) });
    const name = `v1 over HTTP without sessions, pinned to ${version}`;
    describeOfficialServer({ name, era, hasMemory: false, open: () => open(serveV1Stateless, version) });
  }
  describeOfficialServer({ name: `v2 over HTTP, pinned to ${version}`, era, hasMemory: false, open: () => open(serveV2, version) });
}
describeOfficialServer({ name: 'v1 over HTTP, detected', era: 'legacy', open: () => open(serveV1) });
describeOfficialServer({ name: 'v2 over HTTP, detected', era: 'modern', hasMemory: false, open: () => open(serveV2) });

// ---- over the transports that the official SDKs' clients have; v1's sends none of the headers of the modern era

const v1Http = (url: string) => new HttpV1(new URL(url));
const v2Http = (url: string) => new HttpV2(new URL(url));
for (const { name, era, create, serve, pinned } of [
  { name: 'v1 over the HTTP transport of v1', era: 'legacy', create: v1Http, serve: serveV1 },
  { name: 'v1 over the HTTP transport of v2', era: 'legacy', create: v2Http, serve: serveV1 },
  { name: 'v2 over the HTTP transport of v1', era: 'legacy', create: v1Http, serve: serveV2 },
  { name: 'v2 over the HTTP transport of v2', era: 'modern', create: v2Http, serve: serveV2 },
  { name: 'v2 over the HTTP transport of v2, legacy', era: 'legacy', create: v2Http, serve: serveV2, pinned: 'legacy' },
] as const)
  describeOfficialServer({
    name,
    era,
    hasMemory: serve === serveV1,
    async open() {
      const { url, close } = await serve();
      closers.push(close);
      return McpClient.connect(create(url), { name: 'mortise', version: '1.0.0' }, { ...answers, era: pinned });
    },
  });

// ---- the reference server: a process of its own, on a port that it is told

async function startEverything(transport: string): Promise<number> {
  const port = await findFreePort();
  const child = spawn(process.execPath, [everything, transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  closers.push(() => stop(child));
  await saysItListens(child);
  return port;
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}

function saysItListens({ stderr }: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (/listening|running on port/i.test(said)) resolve();
    });
    stderr?.once('end', () => reject(new Error(`the everything server ended: ${said}`)));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

describeEverythingServer('over Streamable HTTP', async () => connect(`http://127.0.0.1:${await startEverything('streamableHttp')}/mcp`));
describeEverythingServer('over Streamable HTTP, by node:http', async () =>
  connect(`http://127.0.0.1:${await startEverything('streamableHttp')}/mcp`, undefined, { sender: nodeHttpSender() }),
);
describeEverythingServer('over HTTP+SSE', async () => connect(`http://127.0.0.1:${await startEverything('sse')}/sse`));
