/**
 * One table: handlers that ask in every way, in every revision, over every transport. Their answers and steps are the same everywhere. What the
 * protocol forces to differ is in the table by name: how often a handler runs (`modernRuns`, `legacyRuns`), and that revisions before
 * 2025-06-18 have no forms (`needsForms`).
 */

import type { JsonRpcRequest, JsonRpcResponse } from '@mortise/jsonrpc-core';
import type { ClientOptions, McpClient } from '@mortise/client';
import { connectInMemory } from '@mortise/client/in-memory';
import { NEWEST, type Revision } from '@mortise/protocol';
import type { Call } from '@mortise/protocol/contracts';
import type { McpServerOptions } from '@mortise/server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEffects, createEveryHandlerServer, toIdentifier } from './create-every-handler-server.ts';
import { handlers, type ToldEffects, type WrittenOnce } from './handlers.ts';
import { type Opened, places } from './places.ts';

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => process.on('unhandledRejection', note));
afterEach(async () => {
  // Rejections are told after the microtasks of a turn.
  await new Promise((resolve) => setImmediate(resolve));
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

async function call(client: McpClient, { kind, name }: WrittenOnce): Promise<unknown> {
  const identifier = toIdentifier(name);
  if (kind === 'prompt') return (await client.getPrompt(identifier)).messages[0]?.content['text'];
  if (kind === 'resource') return (await client.readResource(`x://${identifier}`)).contents[0]?.['text'];
  return (await client.callTool(identifier)).content[0]?.['text'];
}

async function effectsOf(client: McpClient, { name }: WrittenOnce): Promise<ToldEffects> {
  const { content } = await client.callTool('effects', { name });
  return JSON.parse(String(content[0]?.['text'])) as ToldEffects;
}

function expectEffects({ begun, ended, steps }: ToldEffects, handler: WrittenOnce, { era }: Revision): void {
  expect(steps).toEqual(handler.steps ?? []);
  expect(begun).toBe(era === 'modern' ? handler.modernRuns : (handler.legacyRuns ?? 1));
  expect(ended).toBe(begun);
}

const hasForms = ({ rules }: Revision): boolean => rules.elicitation !== 'none';

describe.each(places)('$title', (place) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await place.open(answers);
  });
  afterAll(async () => {
    await opened.close();
    expect(opened.stderr.filter((line) => line.includes('unhandled'))).toEqual([]);
  });

  it.each(handlers.filter((handler) => !handler.needsForms || hasForms(place.revision)))(
    '$name: the same answer, the same steps',
    async (handler) => {
      const { client } = opened;
      expect(client.protocolVersion).toBe(place.revision.version);
      expect(await call(client, handler)).toBe(handler.answer);
      expectEffects(await effectsOf(client, handler), handler, place.revision);
    },
  );
});

describe('two servers that share a key, by turns', () => {
  const shared: McpServerOptions = { requestState: { keys: [crypto.getRandomValues(new Uint8Array(32))] } };

  it.each(handlers)('$name: the same answer, the same steps', async (handler) => {
    const effects = createEffects();
    const [first, second] = [createEveryHandlerServer(effects, shared), createEveryHandlerServer(effects, shared)];
    let turn = 0;
    const client = await connectInMemory(
      {
        connect: first.connect.bind(first),
        openSession: first.openSession.bind(first),
        paramHeaders: first.paramHeaders.bind(first),
        nameParam: first.nameParam.bind(first),
        handle: (request: JsonRpcRequest, exchange: Call): JsonRpcResponse | Promise<JsonRpcResponse> =>
          (turn++ % 2 === 0 ? first : second).handle(JSON.parse(JSON.stringify(request)) as JsonRpcRequest, exchange),
      },
      { ...answers, protocolVersion: NEWEST.version },
    );
    expect(await call(client, handler)).toBe(handler.answer);
    expectEffects(await effectsOf(client, handler), handler, NEWEST);
    await Promise.all([client.close(), first.close(), second.close()]);
  });
});
