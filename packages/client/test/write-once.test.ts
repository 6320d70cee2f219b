/**
 * One table: handlers that ask in every way, in every revision, over a channel and by exchanges. Their answers and steps are the
 * same everywhere. What the protocol forces to differ is in the table by name: how often a handler runs (`modernRuns`,
 * `legacyRuns`), and that revisions before 2025-06-18 have no forms (`needsForms`).
 */

import type { JsonRpcRequest, JsonRpcResponse } from '@mortise/jsonrpc-core';
import { NEWEST, REVISIONS, type Revision } from '@mortise/protocol';
import type { ExchangeCall } from '@mortise/protocol/contracts';
import { McpServer, type McpServerOptions } from '@mortise/server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClientOptions, McpClient } from '../src/index.ts';
import { connectInMemory } from '../src/in-memory.ts';
import { Effects, handlers, type WrittenOnce } from './write-once-handlers.ts';

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
const open: { close(): Promise<unknown> }[] = [];
beforeEach(() => process.on('unhandledRejection', note));
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  await new Promise((resolve) => setTimeout(resolve, 2));
  process.off('unhandledRejection', note);
  expect(unhandled.splice(0)).toEqual([]);
});

const answers: ClientOptions = {
  elicitation: ({ message }) => (message === 'refuse this' ? { action: 'decline' } : { action: 'accept', content: { name: 'Ann' } }),
  sampling: ({ messages }) => {
    const content = messages[0]?.content;
    const text = content && 'text' in content ? String(content['text']) : '';
    return { role: 'assistant', content: { type: 'text', text: text.toUpperCase() }, model: 'scripted' };
  },
  roots: [{ uri: 'file:///home/ann' }],
};

function serve(handler: WrittenOnce, effects: Effects, options: McpServerOptions = {}): McpServer {
  const server = new McpServer({ name: 'written-once', version: '1.0.0' }, options);
  open.push(server);
  const run: WrittenOnce['run'] = async (ctx) => {
    effects.begun += 1;
    try {
      return await handler.run(ctx, effects);
    } finally {
      effects.ended += 1;
    }
  };
  if (handler.kind === 'prompt') server.registerPrompt('x', {}, (ctx) => run(ctx, effects));
  else if (handler.kind === 'resource') server.registerResource('x', 'x://x', {}, (_uri, ctx) => run(ctx, effects));
  else server.registerTool('x', {}, (ctx) => run(ctx, effects));
  return server;
}

async function call(client: McpClient, { kind }: WrittenOnce): Promise<unknown> {
  if (kind === 'prompt') return (await client.getPrompt('x')).messages[0]?.content['text'];
  if (kind === 'resource') return (await client.readResource('x://x')).contents[0]?.['text'];
  return (await client.callTool('x')).content[0]?.['text'];
}

const WAYS = ['channel', 'exchange'] as const;
const places = REVISIONS.flatMap((revision) => WAYS.map((via) => ({ revision, via, title: `${revision.version} by ${via}` })));
const hasForms = ({ rules }: Revision): boolean => rules.elicitation !== 'none';

describe.each(places)('in $title', ({ revision, via }) => {
  const here = handlers.filter((handler) => !handler.needsForms || hasForms(revision));

  it.each(here)('$name: the same answer, the same steps', async (handler) => {
    const effects = new Effects();
    const client = await connectInMemory(serve(handler, effects), {
      ...answers,
      protocolVersion: revision.version,
      via,
      passBy: 'json',
    });
    open.push(client);
    expect(client.protocolVersion).toBe(revision.version);
    expect(await call(client, handler)).toBe(handler.answer);
    expect(effects.steps).toEqual(handler.steps ?? []);
    expect(effects.begun).toBe(revision.era === 'modern' ? handler.modernRuns : (handler.legacyRuns ?? 1));
    expect(effects.ended).toBe(effects.begun);
  });
});

describe('over two servers that share a key', () => {
  const shared: McpServerOptions = { requestState: { keys: [crypto.getRandomValues(new Uint8Array(32))] } };

  it.each(handlers)('$name: the same, though each round is on the other one', async (handler) => {
    const effects = new Effects();
    const servers = [serve(handler, effects, shared), serve(handler, effects, shared)];
    let turn = 0;
    const [first] = servers;
    if (!first) return;
    const endpoint = {
      connect: first.connect.bind(first),
      openSession: first.openSession.bind(first),
      paramHeaders: first.paramHeaders.bind(first),
      nameParam: first.nameParam.bind(first),
      handle: (request: JsonRpcRequest, exchange: ExchangeCall): Promise<JsonRpcResponse> =>
        (servers[turn++ % 2] ?? first).handle(request, exchange),
    };
    const client = await connectInMemory(endpoint, { ...answers, protocolVersion: NEWEST.version, passBy: 'json' });
    open.push(client);
    expect(await call(client, handler)).toBe(handler.answer);
    expect(effects.steps).toEqual(handler.steps ?? []);
    expect(effects.begun).toBe(handler.modernRuns);
    expect(effects.ended).toBe(effects.begun);
  });
});
