/**
 * Servers that are killed and started again, sessions that are gone, event streams that are cut, processes that die: whoever made the other side,
 * a call ends in a result or an error.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { McpClient } from '@mortise/client';
import { httpTransport } from '@mortise/transport-http/client';
import { StdioClientTransport } from '@mortise/transport-stdio/client';
import { afterEach, describe, expect, it } from 'vitest';
import { type Opened, openV1, openV2 } from './official-client-cases.ts';
import { answers } from './official-server-cases.ts';
import { RestartableServer } from './restartable-server.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(...args: readonly string[]): Promise<RestartableServer> {
  const server = await RestartableServer.start(...args);
  closers.push(() => server.close());
  return server;
}

/** Our server with the SQLite stores that let a session outlive it. */
async function startWithStores(): Promise<RestartableServer> {
  const folder = await mkdtemp(join(tmpdir(), 'restarts-'));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  return start('mortise', join(folder, 'stores.db'));
}

// ---- clients

/** A client of any maker. */
interface Party {
  call(name: string, args: object, options?: CallOptions): Promise<object>;
  sessionId(): string | undefined;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: () => void;
}

function toParty({ client, call }: Opened, transport: { readonly sessionId?: string | undefined }): Party {
  closers.push(() => client.close());
  return {
    call: (name, args, { onProgress, ...options } = {}) => call(name, args, { ...options, ...(onProgress && { onprogress: onProgress }) }),
    sessionId: () => transport.sessionId,
  };
}

async function openOfficial(sdk: 'v1' | 'v2', url: string, mode: 'legacy' | 'auto' = 'legacy'): Promise<Party> {
  if (sdk === 'v2') {
    const transport = new HttpV2(new URL(url));
    return toParty(await openV2(transport, mode), transport);
  }
  const transport = new HttpV1(new URL(url));
  return toParty(await openV1(transport as TransportV1), transport);
}

async function openOurs(url: string, era: 'legacy' | 'modern'): Promise<Party> {
  const transport = httpTransport(url);
  const client = await McpClient.connect(transport, { name: 'mortise', version: '1.0.0' }, { ...answers, era });
  closers.push(() => client.close());
  return { call: (name, args, options) => client.callTool(name, { ...args }, options), sessionId: () => transport.sessionId };
}

const sum = { structuredContent: { sum: 5 } };
const add = (party: Party): Promise<object> => party.call('add', { a: 2, b: 3 });

/** Starts a call that runs for a long time, and waits until it runs. */
async function startCall(party: Party, steps: number, signal?: AbortSignal): Promise<{ readonly ended: Promise<object> }> {
  let call: Promise<object> | undefined;
  await new Promise<void>((resolve, reject) => {
    call = party.call('slow', { steps }, { onProgress: resolve, ...(signal && { signal }) });
    call.catch(reject);
  });
  return { ended: call as Promise<object> };
}

const FOREVER = 1_000_000;

describe.each(['v1', 'v2'] as const)('the official client %s and our server, which is killed and started again', (sdk) => {
  it('go on in the session, if SQLite stores keep sessions and events', async () => {
    const server = await startWithStores();
    const party = await openOfficial(sdk, server.url);
    const { sessionId } = party;
    const before = sessionId();
    expect(await add(party)).toMatchObject(sum);
    await server.restart();
    expect(await add(party)).toMatchObject(sum);
    expect(await party.call('ask', { kinds: ['form', 'model', 'roots'] })).toMatchObject({
      content: [{ text: 'form: Ann, model: fine, roots: file:///home/ann' }],
    });
    expect(before).toBeTypeOf('string');
    expect(sessionId()).toBe(before);
  });

  it('get 404 for the session that is gone, if nothing keeps it', async () => {
    const server = await start('mortise');
    const party = await openOfficial(sdk, server.url);
    expect(await add(party)).toMatchObject(sum);
    await server.restart();
    await expect(add(party)).rejects.toThrow(
      'There is no such session: send \\"initialize\\" without \\"Mcp-Session-Id\\" to begin a new one',
    );
  });
});

describe.each([
  ['our client at our server, legacy', ['mortise'], 'legacy'],
  ['our client at our server, modern', ['mortise'], 'modern'],
  ['our client at the official server v1', ['v1'], 'legacy'],
  ['our client at the official server v2, legacy', ['v2'], 'legacy'],
  ['our client at the official server v2, modern', ['v2'], 'modern'],
] as const)('%s', (_name, serve, era) => {
  const broke = 'the connection broke before "tools/call" was answered';

  it('sees an error when the server is started again in a call, and calls on, in a new session if the old one is gone', async () => {
    const server = await start(...serve);
    const party = await openOurs(server.url, era);
    const { ended } = await startCall(party, FOREVER);
    await server.restart();
    await expect(ended).rejects.toThrow(broke);
    expect(await add(party)).toMatchObject(sum);
  });

  it('sees an error when the stream of a call is cut and nothing stores events, and calls on', async () => {
    const server = await start(...serve);
    const party = await openOurs(server.url, era);
    const { ended } = await startCall(party, FOREVER);
    server.cut();
    await expect(ended).rejects.toThrow(broke);
    expect(await add(party)).toMatchObject(sum);
  });
});

describe.each([
  ['the official client v1', (url: string) => openOfficial('v1', url)],
  ['the official client v2', (url: string) => openOfficial('v2', url)],
  ['our client', (url: string) => openOurs(url, 'legacy')],
] as const)('%s at our server with SQLite stores', (_name, open) => {
  it('gets the result of a call whose stream was cut', async () => {
    const server = await startWithStores();
    const party = await open(server.url);
    const { ended } = await startCall(party, 1);
    server.cut();
    await party.call('finish', {});
    expect(await ended).toMatchObject({ content: [{ text: 'done' }] });
  });

  it('can end a call whose handler died with the server, and calls on in the session', async () => {
    const server = await startWithStores();
    const party = await open(server.url);
    const before = party.sessionId();
    const controller = new AbortController();
    const { ended } = await startCall(party, FOREVER, controller.signal);
    await server.restart();
    expect(await add(party)).toMatchObject(sum);
    controller.abort(new Error('enough'));
    await expect(ended).rejects.toThrow();
    expect(party.sessionId()).toBe(before);
  });
});

// ---- processes that die

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const command = (name: string) => ({ command: process.execPath, args: [fixture(name)], stderr: 'ignore' as const });

/** A client on stdio, and the id of its server's process. */
type OpenOnStdio = () => Promise<{ readonly party: Party; readonly pid: number | null | undefined }>;

const onStdio: readonly (readonly [name: string, open: OpenOnStdio])[] = [
  [
    'the official client v1 at our server',
    async () => {
      const transport = new StdioV1(command('mortise-server.mjs'));
      return { party: toParty(await openV1(transport), {}), pid: transport.pid };
    },
  ],
  ...(['legacy', 'auto'] as const).map((mode): readonly [string, OpenOnStdio] => [
    `the official client v2 at our server, ${mode}`,
    async () => {
      const transport = new StdioV2(command('mortise-server.mjs'));
      return { party: toParty(await openV2(transport, mode), {}), pid: transport.pid };
    },
  ]),
  ...['official-v1-server.mjs', 'official-v2-server.mjs', 'mortise-server.mjs'].map((name): readonly [string, OpenOnStdio] => [
    `our client at ${name}`,
    async () => {
      const transport = new StdioClientTransport(command(name));
      const client = await McpClient.connect(transport, { name: 'mortise', version: '1.0.0' }, { ...answers, probeTimeoutMs: 60_000 });
      closers.push(() => client.close());
      const party: Party = { call: (tool, args, options) => client.callTool(tool, { ...args }, options), sessionId: () => undefined };
      return { party, pid: transport.pid };
    },
  ]),
];

describe.each(onStdio)('%s over stdio', (_name, open) => {
  it('sees an error when the process of the server dies in a call', async () => {
    const { party, pid } = await open();
    const { ended } = await startCall(party, FOREVER);
    process.kill(pid as number, 'SIGKILL');
    await expect(ended).rejects.toThrow();
  });
});
