/** Clients, servers and bridges of other makers, as the processes that their users start: each lists tools, calls one and gets its result. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { McpClient } from '@mortise/client';
import type { JsonObject, Transport } from '@mortise/jsonrpc-core';
import { httpTransport } from '@mortise/transport-http/client';
import { type HttpServing, serveHttp } from '@mortise/transport-http/node';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runNode } from '../../scripts/run-command.mjs';
import { createMortiseServer } from '../fixtures/mortise-features.mjs';

const makers = fileURLToPath(new URL('../../tools/other-makers/', import.meta.url));
const program = (name: string): string => join(makers, 'node_modules', name);
const anyPort = new URL('../fixtures/any-port.mjs', import.meta.url).href;
const ourServer = fileURLToPath(new URL('../fixtures/mortise-server.mjs', import.meta.url));

let folder: string;
let ours: HttpServing;
const children: ChildProcess[] = [];
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'other-makers-')));
  ours = await serveHttp(createMortiseServer(), { port: 0, sse: true, drainMs: 1 });
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
  await ours.close();
  await rm(folder, { recursive: true, force: true });
});

/** A program that speaks MCP on stdio. */
function onStdio(...args: string[]): Transport {
  // mcp-remote keeps what it knows of servers, and server-memory what it is told.
  const env = { MCP_REMOTE_CONFIG_DIR: folder, MEMORY_FILE_PATH: join(folder, 'memory.jsonl') };
  return stdioTransport({ command: process.execPath, args, env, stderr: 'ignore' });
}

/** Starts a program that listens on a port. @returns Its address, such as `127.0.0.1:4000`. */
async function startListening(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, ['--import', anyPort, ...args], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  children.push(child);
  const lines = createInterface({ input: child.stdio[3] as NodeJS.ReadableStream });
  const [port] = (await once(lines, 'line')) as [string];
  return `127.0.0.1:${port}`;
}

const sse = (): string => new URL('/sse', ours.url).href;
const superGateway = program('supergateway/dist/index.js');
/** Our stdio server behind supergateway, which serves it otherwise. */
const gateway = (...args: string[]): Promise<string> =>
  startListening(superGateway, '--stdio', `${process.execPath} ${ourServer}`, ...args);
const server = (maker: string, transport: string): string[] => [join(makers, 'servers.mjs'), maker, transport];
const mcpRemote = (...args: string[]): Transport => onStdio(program('mcp-remote/dist/proxy.js'), ...args, '--allow-http');

interface Peer {
  readonly name: string;
  /** The eras that it speaks, the one that a client detects first. */
  readonly eras: readonly ('legacy' | 'modern')[];
  open(): Transport | Promise<Transport>;
  /** A tool, its arguments, and what its result contains. @default add, of two numbers */
  readonly call?: readonly [tool: string, args: () => JsonObject, text: string];
}

const peers: readonly Peer[] = [
  { name: 'a server of tmcp over stdio', eras: ['modern', 'legacy'], open: () => onStdio(...server('tmcp', 'stdio')) },
  {
    name: 'a server of tmcp over HTTP',
    eras: ['modern', 'legacy'],
    open: async () => httpTransport(`http://${await startListening(...server('tmcp', 'http'))}/mcp`),
  },
  { name: 'a server of fastmcp over stdio', eras: ['legacy'], open: () => onStdio(...server('fastmcp', 'stdio')) },
  {
    name: 'a server of fastmcp over HTTP',
    eras: ['legacy'],
    open: async () => httpTransport(`http://${await startListening(...server('fastmcp', 'http'))}/mcp`),
  },
  {
    name: 'a server of mcp-lite over HTTP',
    eras: ['legacy'],
    open: async () => httpTransport(`http://${await startListening(...server('mcp-lite', 'http'))}/mcp`),
  },
  {
    name: 'server-filesystem',
    eras: ['legacy'],
    open: () => onStdio(program('@modelcontextprotocol/server-filesystem/dist/index.js'), folder),
    call: ['read_text_file', () => ({ path: join(folder, 'note.txt') }), 'a note'],
  },
  {
    name: 'server-memory',
    eras: ['legacy'],
    open: () => onStdio(program('@modelcontextprotocol/server-memory/dist/index.js')),
    call: ['read_graph', () => ({}), 'entities'],
  },
  { name: 'our HTTP server through mcp-remote', eras: ['modern', 'legacy'], open: () => mcpRemote(ours.url) },
  { name: 'our HTTP+SSE server through mcp-remote', eras: ['legacy'], open: () => mcpRemote(sse(), '--transport', 'sse-only') },
  { name: 'our HTTP server through supergateway', eras: ['legacy'], open: () => onStdio(superGateway, '--streamableHttp', ours.url) },
  { name: 'our HTTP+SSE server through supergateway', eras: ['legacy'], open: () => onStdio(superGateway, '--sse', sse()) },
  {
    name: 'our stdio server through supergateway, over HTTP',
    eras: ['modern', 'legacy'],
    open: async () => httpTransport(`http://${await gateway('--outputTransport', 'streamableHttp', '--stateful')}/mcp`),
  },
  {
    name: 'our stdio server through supergateway, over HTTP+SSE',
    eras: ['legacy'],
    open: async () => httpTransport(`http://${await gateway('--outputTransport', 'sse')}/sse`),
  },
  {
    name: 'our stdio server through supergateway, over WebSocket',
    eras: ['modern', 'legacy'],
    open: async () => webSocketTransport(`ws://${await gateway('--outputTransport', 'ws')}/message`),
  },
];

describe.each(peers)('$name', ({ eras, open, call = ['add', () => ({ a: 2, b: 3 }), '5'] }) => {
  it.each(eras)('serves our client in the %s era', async (era) => {
    await writeFile(join(folder, 'note.txt'), 'a note');
    const options = { era: era === eras[0] ? undefined : era, probeTimeoutMs: 60_000 };
    const client = await McpClient.connect(await open(), { name: 'mortise', version: '1.0.0' }, options);
    const [tool, args, text] = call;
    expect(client.era).toBe(era);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain(tool);
    expect(await client.callTool(tool, args())).toMatchObject({ content: [{ type: 'text', text: expect.stringContaining(text) }] });
    await client.close();
  });
});

describe("Vercel's AI SDK client", () => {
  it.each([
    ['over stdio', () => ['stdio', process.execPath, ourServer]],
    ['over HTTP', () => ['http', ours.url]],
    ['over HTTP+SSE', () => ['sse', sse()]],
  ] as const)('uses our server %s', async (_name, args) => {
    const { stdout, stderr } = await runNode([join(makers, 'ai-sdk-client.mjs'), ...args()]);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({ tools: expect.arrayContaining(['add']), result: { structuredContent: { sum: 5 } } });
  });
});
