/** One legacy session over two machines: the real server behind two handlers that share their stores and the message bus. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { MemoryMessageBus } from '@mortise/protocol';
import type { MessageBus } from '@mortise/protocol/contracts';
import { MemorySessionStore } from '@mortise/protocol/edge';
import { McpServer } from '@mortise/server';
import type { HttpHandlerOptions } from '@mortise/transport-http/server';
import { LegacyClient } from '../support/legacy-client.ts';
import { TestEventStore } from '../support/memory-stores.ts';
import { type Gate, gate, until } from '../support/scripted-endpoint.ts';
import { type Answer, newId } from '../support/send.ts';
import { serve, type Serving } from '../support/serve.ts';

const URI = 'test://r';

class CountingBus extends MemoryMessageBus {
  /** How many listeners a topic has. */
  readonly listeners = new Map<string, number>();

  readonly #gaps: { readonly topic: string; readonly onGap: () => void }[] = [];

  /** The functions by which the subscribers of a topic hear of a gap. */
  gapsOf(topic: string): readonly (() => void)[] {
    return this.#gaps.filter((each) => each.topic === topic).map(({ onGap }) => onGap);
  }

  override async subscribe(...args: Parameters<MessageBus['subscribe']>): Promise<() => void> {
    const [topic, onMessage, onGap] = args;
    if (onGap) this.#gaps.push({ topic, onGap });
    const unsubscribe = await super.subscribe(topic, onMessage);
    this.#count(args[0], 1);
    return () => {
      unsubscribe();
      this.#count(args[0], -1);
    };
  }

  #count(topic: string, change: number): void {
    this.listeners.set(topic, (this.listeners.get(topic) ?? 0) + change);
  }
}

/** One machine: its server, and its handler. */
interface Node {
  readonly server: McpServer;
  readonly serving: Serving;
  /** The ids of the calls of the tool `wait` that were cancelled here. */
  readonly cancelled: unknown[];
}

let bus: CountingBus;
let sessionStore: MemorySessionStore;
let eventStore: TestEventStore;
let go: Gate;
let nodes: Node[];
beforeEach(() => {
  [bus, sessionStore, eventStore, go, nodes] = [new CountingBus(), new MemorySessionStore(), new TestEventStore(), gate(), []];
});
afterEach(async () => {
  await Promise.all(nodes.map(({ serving }) => serving.close()));
});

async function startNode(options: HttpHandlerOptions): Promise<Node> {
  const server = new McpServer({ name: 'node', version: '1' }, { capabilities: { logging: {} }, messageBus: bus });
  const cancelled: unknown[] = [];
  server.registerResource('r', URI, {}, () => 'r');
  server.registerTool('ask', {}, async (ctx) =>
    JSON.stringify(await ctx.elicit({ message: 'Name?', requestedSchema: { type: 'object', properties: {} } })),
  );
  server.registerTool('wait', {}, async (ctx) => {
    ctx.signal.addEventListener('abort', () => cancelled.push(ctx.requestId));
    await ctx.log('error', 'begun');
    await go.promise;
    return 'waited';
  });
  const serving = await serve('node', server, { sessionStore, messageBus: bus, ...options });
  const node = { server, serving, cancelled };
  nodes.push(node);
  return node;
}

/** Two machines, and one client at each of them: it is the same session. */
async function startTwo(options: HttpHandlerOptions = {}) {
  const [a, b] = [await startNode(options), await startNode(options)];
  const here = await LegacyClient.open(a.serving.port, undefined, {}, { elicitation: {} });
  return { a, b, here, there: here.at(b.serving.port) };
}

function subscribe(client: LegacyClient, uri = URI): Promise<Answer> {
  return client.post({ jsonrpc: '2.0', id: newId(), method: 'resources/subscribe', params: { uri } });
}

/** Changes the session at one machine, then at the other. */
async function changeAtBoth(first: LegacyClient, second: LegacyClient): Promise<void> {
  expect(await (await subscribe(first)).response()).toMatchObject({ result: {} });
  const setLevel = { jsonrpc: '2.0', id: newId(), method: 'logging/setLevel', params: { level: 'error' } };
  expect(await (await second.post(setLevel)).response()).toMatchObject({ result: {} });
}

async function storedUris({ sessionId }: LegacyClient): Promise<ReadonlySet<unknown>> {
  const record = await sessionStore.get(sessionId, 60_000);
  return new Set((record?.state['session'] as JsonObject)['subscriptions'] as string[]);
}

describe.each([0, 1])('while a session changes at another machine, and its client posts to machine %d,', (at) => {
  it('[ROBUSTNESS-20] a question in flight gets its answer', async () => {
    const { here, there } = await startTwo();
    const answer = await here.tool('ask');
    const question = await answer.nextMessage();
    await changeAtBoth(there, here);
    const result = { action: 'decline' };
    const accepted = await [here, there][at]?.post({ jsonrpc: '2.0', id: question?.['id'], result });
    expect([accepted?.status, JSON.stringify(await answer.response())]).toEqual([202, expect.stringContaining('decline')]);
    expect(await storedUris(here)).toEqual(new Set([URI]));
  });

  it('[ROBUSTNESS-20] a call in flight is cancelled', async () => {
    const { a, here, there } = await startTwo();
    const answer = await here.tool('wait', {}, 'w');
    await answer.nextMessage();
    await changeAtBoth(there, here);
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'w' } };
    expect((await [here, there][at]?.post(cancel))?.status).toBe(202);
    expect(await answer.events()).toEqual([]);
    expect(a.cancelled).toEqual(['w']);
  });
});

describe('a session over two machines', () => {
  it('tells its client of a resource that it subscribed to at another machine than that of its GET, until it unsubscribes', async () => {
    const { a, b, here, there } = await startTwo();
    const get = await here.get();
    await (await subscribe(there)).text();
    await until(() => bus.listeners.get(`resource:${URI}`) === 2);
    // Once because the resource may have changed before the machine listened, and once because it changes.
    expect(await get.nextMessage()).toMatchObject({ method: 'notifications/resources/updated', params: { uri: URI } });
    await b.server.sendResourceUpdated({ uri: URI });
    expect(await get.nextMessage()).toMatchObject({ method: 'notifications/resources/updated', params: { uri: URI } });
    await (await there.post({ jsonrpc: '2.0', id: newId(), method: 'resources/unsubscribe', params: { uri: URI } })).text();
    await until(() => bus.listeners.get(`resource:${URI}`) === 0);
    await b.server.sendResourceUpdated({ uri: URI });
    a.server.registerTool('more', {}, () => 'more');
    expect(await get.nextMessage()).toMatchObject({ method: 'notifications/tools/list_changed' });
  });

  it('hears of what another machine changed while this one opened the session', async () => {
    const { here, there } = await startTwo();
    const [opening, ready] = [gate(), gate()];
    const listen = bus.subscribe.bind(bus);
    bus.subscribe = async (...args) => {
      if (args[0].startsWith('session:')) {
        opening.open();
        await ready.promise;
      }
      return listen(...args);
    };
    const stream = there.get();
    await opening.promise;
    await (await subscribe(here)).text();
    ready.open();
    await stream;
    await until(() => bus.listeners.get(`resource:${URI}`) === 2);
  });

  it('makes no room for others while it is opened', async () => {
    const { b, there } = await startTwo({ maxSessions: 1 });
    const [opening, ready] = [gate(), gate()];
    const listen = bus.subscribe.bind(bus);
    bus.subscribe = async (...args) => {
      opening.open();
      await ready.promise;
      return listen(...args);
    };
    const stream = there.get();
    await opening.promise;
    await expect(LegacyClient.open(b.serving.port)).rejects.toThrow();
    ready.open();
    expect((await stream).status).toBe(200);
  });

  it('[HTTP-024][HTTP-036] sends nothing twice on a GET stream that its client has resumed at another machine, and then back', async () => {
    const { a, here, there } = await startTwo({ eventStore });
    let stream = await here.get();
    let lastEventId = (await stream.event())?.id ?? '';
    for (const client of [there, here, there]) {
      const resumed = await client.get({ 'last-event-id': lastEventId });
      expect(await stream.events()).toEqual([]);
      a.server.registerTool(`more-${newId()}`, {}, () => 'more');
      let told = await resumed.event();
      if (told?.data === '') told = await resumed.event();
      expect(told?.data).toContain('list_changed');
      [stream, lastEventId] = [resumed, told?.id ?? ''];
    }
    expect(eventStore.events.filter(({ message }) => message !== undefined)).toHaveLength(3);
  });

  it('[HTTP-024] ends the other connection of a GET stream that is resumed once more, where the message bus lost word of it', async () => {
    const { here, there } = await startTwo({ eventStore });
    const lastEventId = (await (await here.get()).event())?.id ?? '';
    const publish = bus.publish.bind(bus);
    bus.publish = (message) => ('taken' in (message.payload as object) ? Promise.reject(new Error('no bus')) : publish(message));
    const elsewhere = await there.get({ 'last-event-id': lastEventId });
    bus.publish = publish;
    await here.get({ 'last-event-id': lastEventId });
    expect((await elsewhere.events()).filter(({ data }) => data !== '')).toEqual([]);
  });

  it('[ROBUSTNESS-20] asks the client to come back where the message bus fails as a stored session is opened, and leaves nothing', async () => {
    const { here, there } = await startTwo();
    await (await subscribe(here)).text();
    const listen = bus.subscribe.bind(bus);
    bus.subscribe = (topic, listener) => {
      if (topic.startsWith('session:')) throw new Error('no bus');
      return listen(topic, listener);
    };
    expect((await subscribe(there)).status).toBe(503);
    bus.subscribe = listen;
    expect((await subscribe(there)).status).toBe(200);
    await here.delete();
    await until(() => bus.listeners.get(`resource:${URI}`) === 0);
  });

  it('[HTTP-036] ends the connection of a call whose stream its client has resumed at another machine', async () => {
    const { here, there } = await startTwo({ eventStore });
    const call = await here.tool('wait', {}, 'w');
    const lastEventId = (await call.event())?.id ?? '';
    expect(JSON.stringify(await call.nextMessage())).toContain('begun');
    const resumed = await there.get({ 'last-event-id': lastEventId });
    expect((await resumed.events()).map(({ data }) => data)).toEqual(['', expect.stringContaining('begun')]);
    expect(await call.events()).toEqual([]);
    go.open();
    await until(() => eventStore.events.some(({ message }) => message !== undefined && 'result' in message));
    expect(await (await there.get({ 'last-event-id': lastEventId })).response()).toMatchObject({ id: 'w', result: {} });
  });

  it('[HTTP-046] ends the streams and calls of a session that its client ends at another machine', async () => {
    const { a, b, here, there } = await startTwo();
    const get = await here.get();
    const call = await here.tool('wait', {}, 'w');
    await call.nextMessage();
    expect((await there.delete()).status).toBe(204);
    expect(await get.events()).toEqual([]);
    expect(await call.response()).toMatchObject({ id: 'w', error: { code: -32600 } });
    expect([a.cancelled, a.serving.handler.counts.sessions, b.serving.handler.counts.sessions]).toEqual([['w'], 0, 0]);
  });

  it.each([
    ['one machine', (here: LegacyClient) => [here, here]],
    ['each of two machines', (here: LegacyClient, there: LegacyClient) => [here, there]],
  ])('stores 60 subscriptions that are made at once, half of them at %s', async (_, choose) => {
    const { here, there } = await startTwo();
    const uris = Array.from({ length: 60 }, (_each, n) => `test://${n}`);
    const clients = choose(here, there);
    const answers = await Promise.all(uris.map((uri, n) => subscribe(clients[n % 2] ?? here, uri)));
    for (const answer of answers) expect(await answer.response()).toMatchObject({ result: {} });
    expect(await storedUris(here)).toEqual(new Set(uris));
    // Both machines listen for all of them in the end.
    await until(() => uris.every((uri) => bus.listeners.get(`resource:${uri}`) === (clients[0] === clients[1] ? 1 : 2)));
  });

  it('[ROBUSTNESS-20] costs one call of the store, with a change two, and one more if another machine changed the session first', async () => {
    const calls: string[] = [];
    const { put, get } = { put: sessionStore.put.bind(sessionStore), get: sessionStore.get.bind(sessionStore) };
    sessionStore.get = (...args) => (calls.push('get'), get(...args));
    sessionStore.put = (...args) => (calls.push('put'), put(...args));
    const { here, there } = await startTwo();
    calls.length = 0;
    go.open();
    await (await here.tool('wait')).response();
    expect(calls.splice(0)).toEqual(['get']);
    await (await subscribe(here)).text();
    expect(calls.splice(0)).toEqual(['get', 'put']);
    // The other machine reads the session before this change, and writes it afterwards.
    sessionStore.put = async (record, version, ttlMs) => {
      sessionStore.put = (...args) => (calls.push('put'), put(...args));
      const present = await get(record.id, ttlMs);
      if (present) await put(present, present.version, ttlMs);
      return sessionStore.put(record, version, ttlMs);
    };
    expect(await (await subscribe(there, 'test://other')).response()).toMatchObject({ result: {} });
    expect(calls.filter((name) => name === 'put')).toHaveLength(2);
    expect(await storedUris(here)).toEqual(new Set([URI, 'test://other']));
  });

  it('[ROBUSTNESS-20] is read again after a gap of the message bus: it has changed, and then ended, at another machine', async () => {
    const { here, there } = await startTwo();
    const get = await here.get();
    // No news of the session arrives: both machines only hear of the gap afterwards.
    const gaps = bus.gapsOf(`session:${here.sessionId}`);
    const publish = bus.publish.bind(bus);
    bus.publish = async (message) => (message.topic.startsWith('session:') ? undefined : publish(message));
    await (await subscribe(there)).text();
    expect(bus.listeners.get(`resource:${URI}`)).toBe(1);
    for (const onGap of gaps) onGap();
    await until(() => bus.listeners.get(`resource:${URI}`) === 2);
    expect((await there.delete()).status).toBe(204);
    for (const onGap of gaps) onGap();
    expect((await get.events()).map(({ data }) => data).at(-1)).toContain('resources/updated');
  });
});
