import { describe, expect, it } from 'vitest';
import type { InMemoryTransport } from '@mortise/jsonrpc-core';
import { MemoryMessageBus } from '@mortise/protocol';
import type { McpServer } from '@mortise/server';
import { LEGACY, type Loose, MODERN, RawPeer } from './raw-peer.ts';
import { createCalculator, defer, MemoryLogger } from './support.ts';

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

function createFull(options: Loose = {}): McpServer {
  const server = createCalculator(options);
  server.registerPrompt('p', {}, () => 'p');
  server.registerResource('r', 'test://r', {}, () => 'r');
  return server;
}

/** Opens a subscription and waits for its acknowledgement. */
async function listen(peer: RawPeer, notifications: Loose, id: string | number = 'sub'): Promise<{ ack: Loose; answer: Promise<Loose> }> {
  const answer = peer.request('subscriptions/listen', { notifications }, id);
  const ack = (await peer.nextNotification('notifications/subscriptions/acknowledged')).params;
  return { ack, answer };
}

describe('subscriptions/listen', () => {
  it.each(['sub', 7, 0, ''])('[SUB-003][SUB-007][META-019] acknowledges first, under the id %j of the request', async (id) => {
    const server = createFull();
    const peer = await RawPeer.open(server, MODERN);
    const { ack } = await listen(peer, { toolsListChanged: true }, id);
    expect(ack).toEqual({ notifications: { toolsListChanged: true }, _meta: { [SUBSCRIPTION_ID]: id } });
    server.registerTool('x', {}, () => 'x');
    const told = await peer.nextNotification('notifications/tools/list_changed');
    expect(told.params._meta[SUBSCRIPTION_ID]).toBe(id);
    expect(peer.notifications()[0]?.method).toBe('notifications/subscriptions/acknowledged');
  });

  it('[SUB-004] delivers nothing before the acknowledgement, though it happens at once', async () => {
    const server = createFull();
    const peer = await RawPeer.open(server, MODERN);
    const answer = listen(peer, { resourceSubscriptions: ['test://r'] });
    for (let index = 0; index < 5; index++) {
      await server.sendResourceUpdated({ uri: 'test://r' });
      await Promise.resolve();
    }
    await answer;
    await peer.settle();
    expect(peer.notifications()[0]?.method).toBe('notifications/subscriptions/acknowledged');
  });

  it('[SUB-002] delivers only what the filter names', async () => {
    const server = createFull();
    const peer = await RawPeer.open(server, MODERN);
    await listen(peer, { promptsListChanged: true, toolsListChanged: false, resourceSubscriptions: ['test://r'] });
    server.registerTool('x', {}, () => 'x');
    server.registerResource('y', 'test://y', {}, () => 'y');
    server.registerPrompt('z', {}, () => 'z');
    await server.sendResourceUpdated({ uri: 'test://other' });
    await server.sendResourceUpdated({ uri: 'test://r' });
    await peer.nextNotification('notifications/prompts/list_changed');
    await peer.settle();
    expect(
      peer
        .notifications()
        .map((message) => message.method)
        .toSorted(),
    ).toEqual(['notifications/prompts/list_changed', 'notifications/resources/updated', 'notifications/subscriptions/acknowledged']);
  });

  it('[SUB-005] acknowledges the part that is offered, and leaves out the rest', async () => {
    const server = createCalculator({ capabilities: { tools: { listChanged: false } } });
    const peer = await RawPeer.open(server, MODERN);
    const wish = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['test://r'],
      'com.example/own': 1,
    };
    expect((await listen(peer, wish)).ack.notifications).toEqual({});
    const full = await RawPeer.open(createFull(), MODERN);
    expect((await listen(full, { ...wish, resourceSubscriptions: ['test://r', 'test://s'] })).ack.notifications).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['test://r', 'test://s'],
    });
  });

  it('[SUB-001] refuses a filter of another shape', async () => {
    const peer = await RawPeer.open(createFull(), MODERN);
    for (const notifications of [
      undefined,
      [],
      'all',
      { toolsListChanged: 'yes' },
      { resourceSubscriptions: 'test://r' },
      { resourceSubscriptions: [5] },
    ] as Loose[]) {
      expect((await peer.request('subscriptions/listen', notifications === undefined ? {} : { notifications })).error?.code).toBe(-32602);
    }
  });

  it('[RES-016] tells of updates of the named resources, tagged with the subscription', async () => {
    const server = createFull();
    const peer = await RawPeer.open(server, MODERN);
    await listen(peer, { resourceSubscriptions: ['test://r'] }, 3);
    await server.sendResourceUpdated({ uri: 'test://r' });
    expect((await peer.nextNotification('notifications/resources/updated')).params).toEqual({
      uri: 'test://r',
      _meta: { [SUBSCRIPTION_ID]: 3 },
    });
  });

  it('[SUB-008] keeps several subscriptions of one connection apart', async () => {
    const server = createFull();
    const peer = await RawPeer.open(server, MODERN);
    await listen(peer, { toolsListChanged: true }, 'a');
    await listen(peer, { toolsListChanged: true, promptsListChanged: true }, 'b');
    server.registerTool('x', {}, () => 'x');
    server.registerPrompt('y', {}, () => 'y');
    await peer.nextNotification('notifications/prompts/list_changed');
    await peer.settle();
    const told = peer.notifications().map((message) => `${String(message.params._meta[SUBSCRIPTION_ID])} ${String(message.method)}`);
    expect(told.filter((line) => line.includes('list_changed')).toSorted()).toEqual([
      'a notifications/tools/list_changed',
      'b notifications/prompts/list_changed',
      'b notifications/tools/list_changed',
    ]);
  });

  it('[SUB-010][SUB-017] ends by notifications/cancelled, after which nothing is sent for it', async () => {
    const server = createFull();
    const peer = await RawPeer.open(server, MODERN);
    await listen(peer, { toolsListChanged: true }, 'gone');
    peer.notify('notifications/cancelled', { requestId: 'gone' });
    await peer.settle();
    server.registerTool('x', {}, () => 'x');
    await peer.settle();
    expect(peer.notifications('notifications/tools/list_changed')).toEqual([]);
    expect(peer.answersTo('gone')).toEqual([]);
  });

  it('[SUB-011][SUB-012][SUB-013] is ended by the server with its result, then with notifications/cancelled', async () => {
    const server = createFull();
    const peer = await RawPeer.open(server, MODERN);
    const { answer } = await listen(peer, { toolsListChanged: true }, 'sub');
    await server.close();
    const { result } = await answer;
    expect(result).toMatchObject({ resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: 'sub' } });
    await peer.settle();
    const last = peer.received.slice(-2);
    expect(last[0]?.id).toBe('sub');
    expect(last[1]).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 'sub' } });
  });

  it('[SUB-014][CANCEL-016] sends notifications/cancelled for nothing but the subscriptions that it ends', async () => {
    const server = createFull();
    const gate = defer();
    server.registerTool('wait', {}, () => gate.promise.then(() => 'done'));
    const peer = await RawPeer.open(server, MODERN);
    await listen(peer, { toolsListChanged: true }, 'one');
    await listen(peer, {}, 'two');
    const call = peer.callTool('wait');
    const closed = server.close({ drainMs: 1000 });
    gate.resolve();
    await Promise.all([closed, call]);
    await peer.settle();
    expect(
      peer
        .notifications('notifications/cancelled')
        .map((message) => message.params.requestId)
        .toSorted(),
    ).toEqual(['one', 'two']);
  });

  it('[SUB-009] carries neither progress nor log messages of other requests', async () => {
    const server = createFull({ capabilities: { logging: {} } });
    server.registerTool('talk', {}, async (ctx) => {
      await ctx.progress(1);
      await ctx.log.info('hello');
      return 'said';
    });
    const peer = await RawPeer.open(server, MODERN, { logLevel: 'debug' });
    await listen(peer, { toolsListChanged: true }, 'sub');
    await peer.call('tools/call', { name: 'talk', _meta: { progressToken: 'p' } });
    for (const message of [...peer.notifications('notifications/progress'), ...peer.notifications('notifications/message')]) {
      expect(message.params._meta?.[SUBSCRIPTION_ID]).toBeUndefined();
    }
    expect(peer.notifications('notifications/progress')).toHaveLength(1);
  });

  it('[SUB-016] is forgotten with its connection', async () => {
    const server = createFull();
    const first = await RawPeer.open(server, MODERN);
    await listen(first, { toolsListChanged: true });
    await first.close();
    const second = await RawPeer.open(server, MODERN);
    server.registerTool('x', {}, () => 'x');
    await second.settle();
    expect(second.notifications()).toEqual([]);
  });

  it('is bounded in the resources that it names', async () => {
    const peer = await RawPeer.open(createFull({ maxSubscriptions: 2 }), MODERN);
    expect(
      (await peer.request('subscriptions/listen', { notifications: { resourceSubscriptions: ['a:1', 'a:2', 'a:3'] } })).error?.code,
    ).toBe(-32602);
  });

  it('[ROBUSTNESS-7] may not name more resources than the option says in all of one connection', async () => {
    const server = createFull({ maxSubscriptions: 3 });
    const peer = await RawPeer.open(server, MODERN);
    const names = (...uris: string[]) => ({ notifications: { resourceSubscriptions: uris } });
    const first = await listen(peer, names('a:1', 'a:2').notifications, 'first');
    expect((await peer.request('subscriptions/listen', names('a:3', 'a:4'))).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/name 4 resources in 12 characters: at most 3 .*"maxSubscriptions"/),
    });
    // Another connection has its own, and what was cancelled counts no more.
    await listen(await RawPeer.open(server, MODERN), names('a:1', 'a:2', 'a:3').notifications);
    peer.notify('notifications/cancelled', { requestId: 'first' });
    await listen(peer, names('a:1', 'a:2', 'a:3').notifications, 'second');
    void first.answer;
  });

  it('[ROBUSTNESS-7] may not name resources by URIs of more than 128 Ki characters in all', async () => {
    const peer = await RawPeer.open(createFull(), MODERN);
    const long = (first: number, count: number): string[] => Array.from({ length: count }, (_, n) => `a:${first + n}`.padEnd(2048, '/'));
    await listen(peer, { resourceSubscriptions: long(0, 64) });
    expect((await peer.request('subscriptions/listen', { notifications: { resourceSubscriptions: ['a:b'] } })).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('in 131075 characters'),
    });
  });

  it('[ROBUSTNESS-7] may not be open more often on one connection than a hundred times', async () => {
    const server = createFull();
    const peer = await RawPeer.open(server, MODERN);
    await listen(peer, { toolsListChanged: true }, 'first');
    for (let open = 1; open < 100; open++) await listen(peer, { promptsListChanged: true }, `open-${open}`);
    expect((await peer.request('subscriptions/listen', { notifications: { toolsListChanged: true } })).error).toMatchObject({
      code: -32603,
      message: expect.stringContaining('has 100 open subscriptions/listen requests, the maximum'),
    });
    await listen(await RawPeer.open(server, MODERN), { toolsListChanged: true });
    peer.notify('notifications/cancelled', { requestId: 'first' });
    await listen(peer, { toolsListChanged: true }, 'third');
  });

  it('[ROBUSTNESS-7] counts no listen that the message bus failed to carry', async () => {
    const messageBus = new MemoryMessageBus();
    const subscribe = messageBus.subscribe.bind(messageBus);
    const server = createFull({ messageBus, maxSubscriptions: 1 });
    const peer = await RawPeer.open(server, MODERN);
    messageBus.subscribe = () => {
      throw new Error('the bus is down');
    };
    expect((await peer.request('subscriptions/listen', { notifications: { resourceSubscriptions: ['a:1'] } })).error?.code).toBe(-32603);
    expect(peer.notifications()).toEqual([]);
    messageBus.subscribe = subscribe;
    await listen(peer, { resourceSubscriptions: ['a:1'] });
  });

  it('[ROBUSTNESS-7] keeps no address of any length that a client makes up', async () => {
    const peer = await RawPeer.open(createFull(), MODERN);
    const wish = (length: number) => ({ notifications: { resourceSubscriptions: ['test://r', `test://${'r'.repeat(length - 7)}`] } });
    expect((await peer.request('subscriptions/listen', wish(2049))).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('at most 2048 characters'),
    });
    expect((await listen(peer, wish(2048).notifications)).ack['notifications'].resourceSubscriptions).toHaveLength(2);
  });

  it('turns change notifications that a handler sends into events for those who listen', async () => {
    const server = createFull();
    server.registerTool('touch', {}, async (ctx) => {
      await ctx.sendNotification({ method: 'notifications/tools/list_changed' });
      await ctx.notify('notifications/resources/updated', { uri: 'test://r' });
      return 'touched';
    });
    const peer = await RawPeer.open(server, MODERN);
    await peer.callTool('touch');
    await peer.settle();
    expect(peer.notifications()).toEqual([]);
    await listen(peer, { toolsListChanged: true, resourceSubscriptions: ['test://r'] });
    await peer.callTool('touch');
    await peer.nextNotification('notifications/tools/list_changed');
    await peer.nextNotification('notifications/resources/updated');
  });
});

describe('the message bus', () => {
  it.each(LEGACY)('[ROBUSTNESS-20] is asked before a subscription in %s is confirmed, and again after it has failed', async (version) => {
    const messageBus = new MemoryMessageBus();
    const subscribe = messageBus.subscribe.bind(messageBus);
    const server = createFull({ messageBus });
    const peer = await RawPeer.open(server, version);
    messageBus.subscribe = () => {
      throw new Error('the bus is down');
    };
    expect((await peer.request('resources/subscribe', { uri: 'test://r' })).error?.code).toBe(-32603);
    messageBus.subscribe = subscribe;
    await peer.call('resources/subscribe', { uri: 'test://r' });
    await server.sendResourceUpdated({ uri: 'test://r' });
    await peer.nextNotification('notifications/resources/updated');
  });

  it('tells clients of one server what happened on another that shares it', async () => {
    const messageBus = new MemoryMessageBus();
    const [here, there] = [createFull({ messageBus }), createFull({ messageBus })];
    const modern = await RawPeer.open(there, MODERN);
    await listen(modern, { toolsListChanged: true, resourceSubscriptions: ['test://r'] });
    const legacy = await RawPeer.open(there, '2025-06-18');
    await legacy.call('resources/subscribe', { uri: 'test://r' });
    await here.sendResourceUpdated({ uri: 'test://r' });
    here.registerTool('x', {}, () => 'x');
    for (const peer of [modern, legacy]) {
      await peer.nextNotification('notifications/resources/updated');
      await peer.nextNotification('notifications/tools/list_changed');
    }
  });

  it('keeps events for one principal from all others', async () => {
    const messageBus = new MemoryMessageBus();
    const server = createFull({ messageBus });
    const ann = await RawPeer.open(server, MODERN, { info: { principal: 'ann' } });
    const bob = await RawPeer.open(server, MODERN, { info: { principal: 'bob' } });
    const old = await RawPeer.open(server, '2025-11-25', { info: { principal: 'bob' } });
    for (const peer of [ann, bob]) await listen(peer, { resourceSubscriptions: ['test://r'] });
    await old.call('resources/subscribe', { uri: 'test://r' });
    await messageBus.publish({ topic: 'resource:test://r', principal: 'ann', payload: { uri: 'test://r' } });
    await ann.nextNotification('notifications/resources/updated');
    await bob.settle();
    expect([...bob.notifications('notifications/resources/updated'), ...old.notifications('notifications/resources/updated')]).toEqual([]);
  });

  it('[ROBUSTNESS-20] fails the sender of a change that it does not take, and is only logged where nobody waits', async () => {
    const logger = new MemoryLogger();
    const messageBus = new MemoryMessageBus();
    messageBus.publish = () => Promise.reject(new Error('bus is down'));
    const server = createFull({ messageBus, logger, clusterKey: new Uint8Array(32) });
    const updated = server.sendResourceUpdated({ uri: 'test://r' });
    await new Promise((resolve) => setImmediate(resolve));
    const data = expect.objectContaining({ topic: 'resource:test://r' }) as object;
    expect(logger.lines).toContainEqual({ level: 'error', message: 'An event could not be published', data });
    await expect(updated).rejects.toThrow('bus is down');
  });
});

describe.each(LEGACY)('change notifications in %s', (version) => {
  it('[LIFE-013] come only where the client was told that they would', async () => {
    const server = createFull({ capabilities: { tools: { listChanged: false } } });
    const peer = await RawPeer.open(server, version);
    await peer.settle();
    server.registerTool('x', {}, () => 'x');
    server.registerPrompt('y', {}, () => 'y');
    await peer.nextNotification('notifications/prompts/list_changed');
    expect(peer.notifications('notifications/tools/list_changed')).toEqual([]);
  });

  it('has no subscriptions/listen', async () => {
    const peer = await RawPeer.open(createFull(), version);
    expect((await peer.request('subscriptions/listen', { notifications: {} })).error?.code).toBe(-32601);
  });
});

describe('a client of the legacy era that takes nothing for a while', () => {
  const uris = Array.from({ length: 1_026 }, (_, index) => `test://${index}`);

  /** Opens a session that has subscribed to all resources, updates the first `count` while nothing is taken, then takes everything. */
  async function updateUntaken(server: McpServer, count: number): Promise<RawPeer> {
    let ours: InMemoryTransport | undefined;
    const peer = await RawPeer.open({ connect: (transport) => server.connect((ours = transport)) }, '2025-11-25');
    for (const uri of uris) await peer.call('resources/subscribe', { uri });
    const taken = defer();
    const transport = ours ?? expect.fail('not connected');
    const send = transport.send.bind(transport);
    transport.send = (...args) => taken.promise.then(() => send(...args));
    for (const uri of uris.slice(0, count)) await server.sendResourceUpdated({ uri });
    taken.resolve();
    await peer.settle();
    return peer;
  }
  const updatesOf = (peer: RawPeer): readonly string[] =>
    peer.notifications('notifications/resources/updated').map(({ params }) => params.uri);

  it('gets all of it where at most 1,024 notifications wait', async () => {
    const logger = new MemoryLogger();
    const peer = await updateUntaken(createFull({ logger, maxSubscriptions: 2_000 }), 1_025);
    await expect.poll(() => updatesOf(peer)).toHaveLength(1_025);
    expect(updatesOf(peer)).toEqual(uris.slice(0, 1_025));
    expect(logger.lines).toEqual([]);
  });

  it('loses what waits where it is more, and gets what comes after', async () => {
    const logger = new MemoryLogger();
    const server = createFull({ logger, maxSubscriptions: 2_000 });
    const peer = await updateUntaken(server, 1_026);
    expect(logger.lines.map(({ message }) => message)).toEqual(['A client is too slow: its notifications were dropped']);
    await server.sendResourceUpdated({ uri: 'test://1' });
    await peer.settle();
    expect(updatesOf(peer)).toEqual(['test://0', 'test://1']);
  });
});

describe('slow listeners', () => {
  const params = (notifications: Loose): Loose => ({
    notifications,
    _meta: { 'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientCapabilities': {} },
  });

  it('get the newest of what they missed, once', async () => {
    const server = createFull();
    const sent: Loose[] = [];
    const gates: (() => void)[] = [];
    const controller = new AbortController();
    const call = {
      principal: 'x',
      signal: controller.signal,
      cancel: () => undefined,
      get isCancelled() {
        return controller.signal.aborted;
      },
      send: (message: Loose) => {
        sent.push(message.params.uri ?? message.method);
        return new Promise<void>((resolve) => gates.push(resolve));
      },
    };
    const uris = ['test://1', 'test://2'];
    const answer = server.handle(
      { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: params({ resourceSubscriptions: uris }) },
      call,
    );
    await new Promise((resolve) => setImmediate(resolve));
    for (let round = 0; round < 100; round++) for (const uri of uris) await server.sendResourceUpdated({ uri });
    expect(sent).toEqual(['notifications/subscriptions/acknowledged']);
    // One after the other: the next is sent once the one before is taken.
    for (const count of [2, 3, 3]) {
      gates.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
      expect(sent).toHaveLength(count);
    }
    expect(sent).toEqual(['notifications/subscriptions/acknowledged', 'test://1', 'test://2']);
    controller.abort();
    await answer;
  });

  it('lose their subscription, not the server its memory, where too much waits', async () => {
    const logger = new MemoryLogger();
    const server = createFull({ logger, maxSubscriptions: 2_000 });
    const uris = Array.from({ length: 1_100 }, (_, index) => `test://${index}`);
    const controller = new AbortController();
    const call = {
      principal: 'x',
      signal: controller.signal,
      cancel: () => undefined,
      isCancelled: false,
      send: () => new Promise<void>(() => undefined),
    };
    const answer = server.handle(
      { jsonrpc: '2.0', id: 'slow', method: 'subscriptions/listen', params: params({ resourceSubscriptions: uris }) },
      call,
    );
    await new Promise((resolve) => setImmediate(resolve));
    for (const uri of uris) await server.sendResourceUpdated({ uri });
    expect(await answer).toMatchObject({ id: 'slow', result: { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: 'slow' } } });
    expect(logger.lines.some(({ message }) => message.includes('too slow'))).toBe(true);
  });
});
