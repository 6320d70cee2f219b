/** A server that sends anything: nothing of it may end the client, reach an uncaught path, or change another answer. */

import type { JsonObject, JsonRpcMessage, JsonValue } from '@mortise/jsonrpc-core';
import { NEWEST, NEWEST_LEGACY } from '@mortise/protocol';
import { META_SUBSCRIPTION_ID } from '@mortise/protocol/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { McpClient } from '../src/index.ts';
import { complete, info, type Reply, ScriptedServer, scriptOf } from './scripted-server.ts';

/** Numbers that are the same in every run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const methods = [
  'ping',
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
  'tools/list',
  'notifications/progress',
  'notifications/cancelled',
  'notifications/message',
  'notifications/tools/list_changed',
  'notifications/resources/updated',
  'notifications/subscriptions/acknowledged',
  'notifications/elicitation/complete',
  '__proto__',
  '',
];
const keys = [
  'requestId',
  'progressToken',
  'progress',
  'total',
  'uri',
  'level',
  'data',
  'message',
  'messages',
  'mode',
  'url',
  '_meta',
  'notifications',
  '__proto__',
];
const results: JsonObject[] = [
  {},
  { resultType: 'input_required', inputRequests: { a: { method: 'roots/list' } } },
  { resultType: 'input_required', requestState: 5 },
  { content: 5 },
  { tools: [null, 5, { name: 5 }] },
  { content: [null], structuredContent: null },
  { nextCursor: 5, tools: [] },
  { resultType: [] },
];

function makeChaos(seed: number): { value: (depth?: number) => JsonValue; message: () => unknown } {
  const random = randomFrom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const value = (depth = 0): JsonValue => {
    const kind = random();
    if (kind < 0.5 || depth > 2) return pick<JsonValue>([null, true, 0, 1, -1, 1.5, 2, '', 'a:b', 'x', '1', 1e300]);
    if (kind < 0.65) return [value(depth + 1), value(depth + 1)];
    return Object.fromEntries(Array.from({ length: 3 }, () => [pick([...keys, META_SUBSCRIPTION_ID]), value(depth + 1)]));
  };
  const id = (): JsonValue => pick<JsonValue>([1, 2, 3, 4, 5, '1', 'q', null, 1.5, {}]);
  const message = (): unknown => {
    const kind = random();
    if (kind < 0.1) return value();
    if (kind < 0.4) return { jsonrpc: '2.0', method: pick(methods), params: value() };
    if (kind < 0.65) return { jsonrpc: '2.0', id: id(), method: pick(methods), params: value() };
    // No answers to the ids of this test's own calls: those are large.
    if (kind < 0.8) return { jsonrpc: '2.0', id: id(), result: value() };
    if (kind < 0.95) return { jsonrpc: '2.0', id: id(), error: value() };
    return [{ jsonrpc: '2.0', id: id(), method: 'ping' }, value()];
  };
  return { value, message };
}

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);

describe.each([NEWEST, NEWEST_LEGACY])('in $version', (revision) => {
  beforeEach(() => {
    unhandled.length = 0;
    process.on('unhandledRejection', onUnhandled);
  });
  afterEach(() => {
    process.off('unhandledRejection', onUnhandled);
  });

  it('[ROBUSTNESS-19] malformed notifications reach no handler, and are reported', async () => {
    const server = new ScriptedServer(scriptOf(revision, {}));
    const errors: string[] = [];
    const seen: unknown[] = [];
    const onError = (error: Error): void => void errors.push(error.message);
    const client = await McpClient.connect(server.factory, info, { protocolVersion: revision.version, onError });
    client.onLog((message) => seen.push(message));
    client.onResourceUpdated((message) => seen.push(message));
    for (const params of [
      { level: 'loud', data: 1 },
      { level: 'info', data: 1, logger: 5 },
    ])
      await server.send({ jsonrpc: '2.0', method: 'notifications/message', params });
    await server.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 5 } });
    await server.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'good' } });
    expect(seen).toEqual([{ level: 'info', data: 'good' }]);
    expect(errors).toHaveLength(3);
    expect(errors[2]).toContain('the server sent a malformed "notifications/resources/updated"');
    await client.close();
  });

  it.each([1, 2, 3, 4, 5])('[ROBUSTNESS-5] answers go on being right among any messages (seed %d)', async (seed) => {
    const chaos = makeChaos(seed);
    const server = new ScriptedServer(
      scriptOf(revision, {
        'tools/call': ({ params }) =>
          complete(revision, { content: [{ type: 'text', text: String((params?.['arguments'] as JsonObject)['n']) }] }),
        'subscriptions/listen': () => 'silence',
      }),
    );
    const client = await McpClient.connect(server.factory, info, {
      protocolVersion: revision.version,
      elicitation: { form: () => ({ action: 'cancel' }), url: () => ({ action: 'cancel' }) },
      sampling: () => ({ role: 'assistant', content: { type: 'text', text: '' }, model: 'm' }),
      roots: [],
      onError: () => undefined,
    });
    client.onToolsChanged(() => client.listTools());
    client.onLog(() => undefined);
    client.onResourceUpdated(() => undefined);
    const subscription = client.listen({ toolsListChanged: true });
    // The ids that chaos answers are spent first.
    for (let n = 0; n < 6; n += 1) await client.ping();
    for (let n = 0; n < 40; n += 1) {
      for (let m = 0; m < 25; m += 1) await server.send(chaos.message() as JsonRpcMessage);
      const { content } = await client.callTool('echo', { n });
      expect(content).toEqual([{ type: 'text', text: String(n) }]);
    }
    subscription.close();
    await client.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });

  it.each([11, 12, 13])('[ROBUSTNESS-4][ROBUSTNESS-5] every call settles whatever answers it (seed %d)', async (seed) => {
    const chaos = makeChaos(seed);
    const random = randomFrom(seed);
    const anything = (): Reply => {
      if (random() < 0.5) return { result: results[Math.floor(random() * results.length)] ?? {} };
      if (random() < 0.5) return { result: chaos.value() as JsonObject };
      return { error: chaos.value() as never };
    };
    const server = new ScriptedServer(
      scriptOf(revision, {
        'tools/list': anything,
        'tools/call': anything,
        'resources/read': anything,
        'prompts/get': anything,
        'completion/complete': anything,
      }),
    );
    const client = await McpClient.connect(server.factory, info, {
      protocolVersion: revision.version,
      roots: [],
      onError: () => undefined,
    });
    for (let n = 0; n < 60; n += 1) {
      const settled = await Promise.allSettled([
        client.listTools(),
        client.callTool('x'),
        client.readResource('a:b'),
        client.getPrompt('p'),
        client.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }),
        (async () => {
          for await (const tool of client.tools()) void tool;
        })(),
      ]);
      expect(settled).toHaveLength(6);
      for (const outcome of settled) if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(Error);
    }
    await client.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });
});
