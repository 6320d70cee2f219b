/** Changes at the server, in either era. */

import type { JsonObject, JsonRpcNotification, JsonRpcRequest } from '@mortise/jsonrpc-core';
import { NEWEST, REVISIONS, revisionsOf } from '@mortise/protocol';
import { META_SUBSCRIPTION_ID } from '@mortise/protocol/wire';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ClientOptions, createResultCache, McpClient, type Subscription } from '../src/index.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { complete, info, legacyScript, modernScript, type Reply, type Script, ScriptedServer, scriptOf } from './scripted-server.ts';

const open: McpClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

const TOOLS = 'notifications/tools/list_changed';
const UPDATED = 'notifications/resources/updated';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** Tells subscribers of the modern era something, under the id of their request. */
function tell(server: ScriptedServer, id: JsonRpcRequest['id'], method: string, params: JsonObject = {}): Promise<void> {
  return server.notify(method, { ...params, _meta: { [META_SUBSCRIPTION_ID]: id } });
}

/** Acknowledges a wish, or a part of it. */
function listenScript(honour: (filter: JsonObject) => JsonObject = (filter) => filter): Script {
  return {
    'subscriptions/listen': async ({ id, params }, server): Promise<Reply> => {
      await tell(server, id, ACKNOWLEDGED, { notifications: honour((params?.['notifications'] ?? {}) as JsonObject) });
      return 'silence';
    },
    'tools/list': () => complete(NEWEST, { tools: [{ name: 'new', inputSchema: { type: 'object' } }] }),
    'resources/read': () => complete(NEWEST, { contents: [] }),
  };
}

async function connect(script: Script, options: ClientOptions = {}): Promise<{ client: McpClient; server: ScriptedServer }> {
  const server = new ScriptedServer(script);
  const client = await McpClient.connect(server.factory, info, options);
  open.push(client);
  return { client, server };
}

/** Reads the next event. */
async function next(subscription: Subscription): Promise<JsonRpcNotification | undefined> {
  const { value } = await subscription[Symbol.asyncIterator]().next();
  return value;
}

describe('a subscription of the modern era', () => {
  it('[SUB-001] asks for exactly what is wished for and begins with what the server honours', async () => {
    const { client, server } = await connect(modernScript(listenScript()));
    const filter = { toolsListChanged: true, resourceSubscriptions: ['a:b'] };
    const subscription = client.listen(filter);
    expect(await next(subscription)).toMatchObject({ method: ACKNOWLEDGED, params: { notifications: filter } });
    expect(await subscription.accepted).toEqual(filter);
    expect(server.requests('subscriptions/listen')[0]?.params?.['notifications']).toEqual(filter);
    expect(server.requests('subscriptions/listen')[0]?.params?.['_meta']).not.toHaveProperty('progressToken');
  });

  it('[SUB-006] shows which part of the wish is not honoured', async () => {
    const { client } = await connect(modernScript(listenScript(() => ({ toolsListChanged: true }))));
    expect(await client.listen({ toolsListChanged: true, promptsListChanged: true }).accepted).toEqual({ toolsListChanged: true });
  });

  it('[STDIO-007][SUB-008] is told only what carries its own id, of its own type', async () => {
    const { client, server } = await connect(modernScript(listenScript()));
    const one = client.listen({ toolsListChanged: true });
    const two = client.listen({ resourceSubscriptions: ['a:b'] });
    await Promise.all([one.accepted, two.accepted]);
    const [first, second] = server.requests('subscriptions/listen').map(({ id }) => id);
    if (first === undefined || second === undefined) throw new Error('two subscriptions were expected');
    await tell(server, second, UPDATED, { uri: 'a:b' });
    await tell(server, String(first), TOOLS, { wrong: 'type' });
    await tell(server, 999, TOOLS, { wrong: 'id' });
    await tell(server, first, TOOLS);
    await next(one);
    await next(two);
    expect(await next(one)).toMatchObject({ method: TOOLS, params: { _meta: { [META_SUBSCRIPTION_ID]: first } } });
    expect(await next(two)).toMatchObject({ method: UPDATED, params: { uri: 'a:b' } });
    expect(JSON.stringify(await Promise.race([next(one), 'nothing more']))).toContain('nothing more');
  });

  it('[SUB-010][CANCEL-012] is ended by leaving the loop, with a cancellation of its request', async () => {
    const { client, server } = await connect(modernScript(listenScript()));
    for await (const { method } of client.listen({ toolsListChanged: true })) {
      expect(method).toBe(ACKNOWLEDGED);
      break;
    }
    const [request] = server.requests('subscriptions/listen');
    expect((await server.nextMethod('notifications/cancelled')).params).toEqual({ requestId: request?.id });
  });

  it("is ended by its signal, with the signal's reason", async () => {
    const { client, server } = await connect(modernScript(listenScript()));
    const controller = new AbortController();
    const subscription = client.listen({ toolsListChanged: true }, { signal: controller.signal });
    await next(subscription);
    const waiting = next(subscription);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await server.nextMethod('notifications/cancelled');
    await expect(next(client.listen({ toolsListChanged: true }, { signal: controller.signal }))).rejects.toThrow('enough');
  });

  it.each([
    {
      how: 'a result',
      end: (server: ScriptedServer, id: JsonRpcRequest['id']) =>
        server.send({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta: { [META_SUBSCRIPTION_ID]: id } } }),
    },
    {
      how: 'a cancellation',
      end: (server: ScriptedServer, id: JsonRpcRequest['id']) => server.notify('notifications/cancelled', { requestId: id }),
    },
    {
      how: 'a cancellation under its id',
      end: (server: ScriptedServer, id: JsonRpcRequest['id']) =>
        server.notify('notifications/cancelled', { requestId: id, _meta: { [META_SUBSCRIPTION_ID]: id } }),
    },
  ])('[CANCEL-015][CANCEL-016] is ended by the server with $how, and what comes after is ignored', async ({ how, end }) => {
    const errors: Error[] = [];
    const { client, server } = await connect(modernScript(listenScript()), { onError: (error) => errors.push(error) });
    const subscription = client.listen({ toolsListChanged: true });
    await next(subscription);
    const id = server.requests('subscriptions/listen')[0]?.id ?? 0;
    await end(server, id);
    expect(await next(subscription)).toBeUndefined();
    expect(subscription.isOver).toBe(true);
    if (how !== 'a result') await server.send({ jsonrpc: '2.0', id, result: { resultType: 'complete' } });
    await server.notify('notifications/cancelled', { requestId: id });
    await tell(server, id, TOOLS);
    await client.ping();
    expect(errors).toEqual([]);
    expect(server.methods).not.toContain('notifications/cancelled');
  });

  it("that the server refuses fails with the server's error", async () => {
    const { client } = await connect(modernScript({ 'subscriptions/listen': () => ({ error: { code: -32602, message: 'no' } }) }));
    const subscription = client.listen({ toolsListChanged: true });
    await expect(next(subscription)).rejects.toMatchObject({ rpcCode: -32602 });
    await expect(subscription.accepted).rejects.toMatchObject({ rpcCode: -32602 });
  });

  it('that is not acknowledged in time is given up', async () => {
    const clock = new FakeClock();
    const { client, server } = await connect(modernScript({ 'subscriptions/listen': () => 'silence' }), { clock, requestTimeoutMs: 100 });
    const subscription = client.listen({ toolsListChanged: true });
    await server.nextMethod('subscriptions/listen');
    clock.advance(100);
    await expect(next(subscription)).rejects.toMatchObject({ code: 'ERR_TIMEOUT' });
    await server.nextMethod('notifications/cancelled');
  });

  it('once acknowledged lasts, however long nothing happens', async () => {
    const clock = new FakeClock();
    const { client, server } = await connect(modernScript(listenScript()), { clock });
    const subscription = client.listen({ toolsListChanged: true });
    await next(subscription);
    clock.advance(86_400_000);
    await tell(server, server.requests('subscriptions/listen')[0]?.id ?? 0, TOOLS);
    expect(await next(subscription)).toMatchObject({ method: TOOLS });
  });

  it('ends when the client is closed', async () => {
    const { client } = await connect(modernScript(listenScript()));
    const subscription = client.listen({ toolsListChanged: true });
    await next(subscription);
    await client.close();
    expect(await next(subscription)).toBeUndefined();
  });
});

describe.each(revisionsOf('legacy'))('a subscription in $version', ({ version }) => {
  it('is fed by what the server tells unasked, after an acknowledgement of what it promises', async () => {
    const { client, server } = await connect(
      legacyScript(version, {}, { capabilities: { tools: { listChanged: true }, prompts: {}, resources: { subscribe: true } } }),
    );
    const subscription = client.listen({ toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['a:b'] });
    const accepted = { toolsListChanged: true, resourceSubscriptions: ['a:b'] };
    expect(await next(subscription)).toMatchObject({ method: ACKNOWLEDGED, params: { notifications: accepted } });
    await server.notify('notifications/prompts/list_changed');
    await server.notify(TOOLS);
    expect(await next(subscription)).toMatchObject({ method: TOOLS });
  });

  it('[RES-017] is told of a resource below the one that was subscribed to', async () => {
    const { client, server } = await connect(legacyScript(version));
    const subscription = client.listen({ resourceSubscriptions: ['file:///dir'] });
    const other = client.listen({ resourceSubscriptions: ['file:///elsewhere'] });
    await Promise.all([next(subscription), next(other)]);
    await server.notify(UPDATED, { uri: 'file:///dir/file' });
    expect(await next(subscription)).toMatchObject({ params: { uri: 'file:///dir/file' } });
    await server.notify(UPDATED, { uri: 'x:unrelated' });
    expect(await next(subscription)).toMatchObject({ params: { uri: 'x:unrelated' } });
    expect(await next(other)).toMatchObject({ params: { uri: 'x:unrelated' } });
  });

  it('subscribes to a resource once however many want it, and takes that back when the last has left', async () => {
    const { client, server } = await connect(legacyScript(version));
    const [one, two] = [client.listen({ resourceSubscriptions: ['a:b'] }), client.listen({ resourceSubscriptions: ['a:b', 'a:c'] })];
    await Promise.all([one.accepted, two.accepted]);
    expect(server.requests('resources/subscribe').map(({ params }) => params?.['uri'])).toEqual(['a:b', 'a:c']);
    one.close();
    await client.ping();
    expect(server.requests('resources/unsubscribe')).toHaveLength(0);
    two.close();
    await client.ping();
    expect(server.requests('resources/unsubscribe').map(({ params }) => params?.['uri'])).toEqual(['a:b', 'a:c']);
  });

  it('fails where the server refuses a resource', async () => {
    const { client } = await connect(
      legacyScript(version, { 'resources/subscribe': () => ({ error: { code: -32002, message: 'none' } }) }),
    );
    await expect(next(client.listen({ resourceSubscriptions: ['a:b'] }))).rejects.toMatchObject({ rpcCode: -32002 });
  });

  it('fails where the server refuses a resource that another one has just asked for', async () => {
    const { client, server } = await connect(
      legacyScript(version, { 'resources/subscribe': () => ({ error: { code: -32002, message: 'none' } }) }),
    );
    const both = [client.listen({ resourceSubscriptions: ['a:b'] }), client.listen({ resourceSubscriptions: ['a:b'] })];
    for (const subscription of both) await expect(next(subscription)).rejects.toMatchObject({ rpcCode: -32002 });
    expect(server.requests('resources/subscribe')).toHaveLength(1);
    await expect(next(client.listen({ resourceSubscriptions: ['a:b'] }))).rejects.toMatchObject({ rpcCode: -32002 });
    expect(server.requests('resources/subscribe')).toHaveLength(2);
    expect(server.requests('resources/unsubscribe')).toHaveLength(0);
  });

  it('gives those back that the server agreed to where it refuses another', async () => {
    const { client, server } = await connect(
      legacyScript(version, {
        'resources/subscribe': ({ params }) =>
          params?.['uri'] === 'a:bad' ? { error: { code: -32002, message: 'none' } } : { result: {} },
      }),
    );
    await expect(next(client.listen({ resourceSubscriptions: ['a:b', 'a:bad', 'a:c'] }))).rejects.toMatchObject({ rpcCode: -32002 });
    await client.ping();
    expect(server.requests('resources/unsubscribe').map(({ params }) => params?.['uri'])).toEqual(['a:b', 'a:c']);
  });
});

describe.each(REVISIONS)('callbacks in $version', (revision) => {
  const isModern = revision.rules.changeNotifications === 'listen';
  const script = (rest: Script = {}): Script =>
    scriptOf(revision, {
      ...listenScript(),
      'tools/list': () => complete(revision, { tools: [{ name: 'new', inputSchema: { type: 'object' } }] }),
      ...rest,
    });
  const change = async (server: ScriptedServer, method: string, params: JsonObject = {}): Promise<void> => {
    if (!isModern) return server.notify(method, params);
    const request = server
      .requests('subscriptions/listen')
      .find(({ params: wish }) =>
        JSON.stringify(wish?.['notifications']).includes(method.includes('updated') ? 'resourceSub' : (method.split('/')[1] ?? '')),
      );
    await tell(server, request?.id ?? 0, method, params);
  };

  it('are called when a list changes, until they are taken back', async () => {
    const { client, server } = await connect(script(), { protocolVersion: revision.version });
    const calls: unknown[] = [];
    const offs = [
      client.onToolsChanged(() => calls.push(['tools'])),
      client.onPromptsChanged(() => calls.push(['prompts'])),
      client.onResourcesChanged(() => calls.push(['resources'])),
    ];
    await client.request('resources/read', { uri: 'a:b' });
    for (const method of [TOOLS, 'notifications/prompts/list_changed', 'notifications/resources/list_changed'])
      await change(server, method);
    await client.request('resources/read', { uri: 'a:b' });
    expect(calls).toEqual([['tools'], ['prompts'], ['resources']]);
    for (const off of offs) off();
    for (const off of offs) off();
    await change(server, TOOLS);
    await client.request('resources/read', { uri: 'a:b' });
    expect(calls).toHaveLength(3);
  });

  it('that were set before connecting are called too', async () => {
    const server = new ScriptedServer(script());
    const client = new McpClient(info, { protocolVersion: revision.version });
    open.push(client);
    const changed = new Promise<void>((resolve) => client.onToolsChanged(() => resolve()));
    await client.connect(server.factory);
    await client.request('resources/read', { uri: 'a:b' });
    await change(server, TOOLS);
    await changed;
  });

  it('[RES-017] are told of an updated resource, or one below it', async () => {
    const { client, server } = await connect(script(), { protocolVersion: revision.version });
    const seen: string[] = [];
    client.onResourceUpdated(({ uri }) => seen.push(uri));
    await client.subscribeResource('file:///dir');
    await client.subscribeResource({ uri: 'file:///dir' });
    await change(server, UPDATED, { uri: 'file:///dir/file' });
    await change(server, UPDATED, { uri: 'file:///dir' });
    await client.request('resources/read', { uri: 'a:b' });
    expect(seen).toEqual(['file:///dir/file', 'file:///dir']);
    expect(server.requests(isModern ? 'subscriptions/listen' : 'resources/subscribe')).toHaveLength(1);
    await client.unsubscribeResource('file:///dir');
    await server.nextMethod(isModern ? 'notifications/cancelled' : 'resources/unsubscribe');
  });

  it('are told that a server does not tell of a resource', async () => {
    const { client } = await connect(script(isModern ? listenScript(() => ({})) : {}), { protocolVersion: revision.version });
    if (!isModern) Object.assign(client.serverCapabilities.resources ?? {}, { subscribe: false });
    await expect(client.subscribeResource('a:b')).rejects.toMatchObject({
      code: 'ERR_MISSING_CAPABILITY',
      missing: ['resources.subscribe'],
    });
  });

  it('get the refusal of a subscription to a resource, which is no other error of the client', async () => {
    const method = isModern ? 'subscriptions/listen' : 'resources/subscribe';
    const errors: Error[] = [];
    const onError = (error: Error): unknown => errors.push(error);
    const refused = (): Reply => ({ error: { code: -32602, message: 'no' } });
    const { client, server } = await connect(script({ [method]: refused }), { protocolVersion: revision.version, onError });
    for (const uri of ['a:b', 'a:b']) await expect(client.subscribeResource(uri)).rejects.toMatchObject({ rpcCode: -32602 });
    await client.request('resources/read', { uri: 'a:b' });
    expect(server.requests(method)).toHaveLength(2);
    expect(errors).toEqual([]);
  });

  it('[LOG-002] are told log messages of every level', async () => {
    const { client, server } = await connect(script(), { protocolVersion: revision.version });
    const seen: unknown[] = [];
    client.onLog(({ level, data, logger }) => seen.push([level, data, logger]));
    const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
    for (const level of levels) await server.notify('notifications/message', { level, data: { a: null }, logger: 'l' });
    await client.request('resources/read', { uri: 'a:b' });
    expect(seen).toEqual(levels.map((level) => [level, { a: null }, 'l']));
  });
});

it('a callback costs a modern server one subscription a list, and none when all have left', async () => {
  const { client, server } = await connect(modernScript(listenScript()));
  const offs = [client.onToolsChanged(() => undefined), client.onToolsChanged(() => undefined)];
  await client.ping();
  expect(server.requests('subscriptions/listen').map(({ params }) => params?.['notifications'])).toEqual([{ toolsListChanged: true }]);
  offs[0]?.();
  await client.ping();
  expect(server.methods).not.toContain('notifications/cancelled');
  offs[1]?.();
  await server.nextMethod('notifications/cancelled');
});

describe('connecting with a callback for a list', () => {
  /** Begins to connect to a server whose acknowledgement the test sends. */
  async function begin(
    options: ClientOptions = {},
    signal?: AbortSignal,
  ): Promise<{
    client: McpClient;
    connected: Promise<void>;
    onTools: ReturnType<typeof vi.fn>;
    acknowledge: () => Promise<void>;
    change: () => Promise<void>;
  }> {
    const server = new ScriptedServer(modernScript({ ...listenScript(), 'subscriptions/listen': () => 'silence' }));
    const client = new McpClient(info, options);
    open.push(client);
    const onTools = vi.fn();
    client.onToolsChanged(onTools);
    const connected = client.connect(server.factory, { signal });
    connected.catch(() => undefined);
    const { id } = await server.nextMethod('subscriptions/listen');
    const acknowledge = (): Promise<void> => tell(server, id, ACKNOWLEDGED, { notifications: { toolsListChanged: true } });
    return { client, connected, onTools, acknowledge, change: () => tell(server, id, TOOLS) };
  }

  it('waits for the acknowledgement, so that no later change is missed', async () => {
    const { client, connected, onTools, acknowledge, change } = await begin();
    await client.listTools();
    expect(await Promise.race([connected.then(() => 'connected'), 'not yet'])).toBe('not yet');
    await acknowledge();
    await connected;
    expect(onTools).not.toHaveBeenCalled();
    await change();
    await client.ping();
    expect(onTools).toHaveBeenCalledTimes(1);
  });

  it('calls the callback for an acknowledgement that comes later than connecting waits', async () => {
    const clock = new FakeClock();
    const { client, connected, onTools, acknowledge } = await begin({ clock });
    clock.advance(3000);
    await connected;
    expect(onTools).not.toHaveBeenCalled();
    await acknowledge();
    await client.ping();
    expect(onTools).toHaveBeenCalledTimes(1);
  });

  it('succeeds with a server that refuses the subscription, and reports the refusal', async () => {
    const onError = vi.fn();
    const client = new McpClient(info, { onError });
    open.push(client);
    client.onToolsChanged(() => undefined);
    await client.connect(new ScriptedServer(modernScript()).factory);
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ rpcCode: -32601 }));
  });

  it('ends with the reason of its signal', async () => {
    const controller = new AbortController();
    const { client, connected } = await begin({}, controller.signal);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(connected).rejects.toBe(reason);
    expect(client.isConnected).toBe(false);
  });

  it('fails when the client is closed meanwhile', async () => {
    const { client, connected } = await begin();
    await client.close();
    await expect(connected).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
  });

  it('leaves a later callback to whenListening', async () => {
    const { client, server } = await connect(modernScript(listenScript()));
    const onTools = vi.fn();
    client.onToolsChanged(onTools);
    await client.whenListening();
    await tell(server, server.requests('subscriptions/listen')[0]?.id ?? 0, TOOLS);
    await client.ping();
    expect(onTools).toHaveBeenCalledTimes(1);
  });
});

describe('what was not seen', () => {
  it('is marked on the acknowledgement that follows it, in either era', async () => {
    for (const script of [modernScript(listenScript()), legacyScript('2025-11-25')]) {
      const server = new ScriptedServer(script);
      const client = await McpClient.connect(server.factory, info);
      open.push(client);
      const events = client.listen({ toolsListChanged: true });
      const reader = events[Symbol.asyncIterator]();
      const first = await reader.next();
      expect(first.value).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
      expect(first.value).not.toHaveProperty('isAfterGap');
      await server.die();
      expect((await reader.next()).value).toMatchObject({ method: 'notifications/subscriptions/acknowledged', isAfterGap: true });
      await events[Symbol.asyncDispose]();
      expect(await reader.next()).toEqual({ value: undefined, done: true });
    }
  });

  it('calls the callbacks of a list, whose changes may have been missed', async () => {
    const server = new ScriptedServer(modernScript(listenScript()));
    const client = await McpClient.connect(server.factory, info);
    open.push(client);
    const changed = new Promise<void>((resolve) => client.onToolsChanged(() => resolve()));
    await client.listen({ toolsListChanged: true }).accepted;
    await server.die();
    await changed;
  });

  it('is marked on the next event where the reader was too slow', async () => {
    const { client, server } = await connect(legacyScript('2025-11-25'));
    const events = client.listen({ toolsListChanged: true });
    await events.accepted;
    for (let count = 0; count < 1100; count += 1) await server.notify('notifications/tools/list_changed');
    await client.ping();
    const reader = events[Symbol.asyncIterator]();
    for (let count = 0; count < 1024; count += 1) expect((await reader.next()).value).not.toHaveProperty('isAfterGap');
    await server.notify('notifications/tools/list_changed');
    expect((await reader.next()).value).toMatchObject({ method: 'notifications/tools/list_changed', isAfterGap: true });
  });

  it('[ROBUSTNESS-7] keeps few megabytes for a reader who is too slow', async () => {
    const { client, server } = await connect(legacyScript('2025-11-25'));
    const events = client.listen({ toolsListChanged: true });
    await events.accepted;
    const _meta = { text: 'x'.repeat(1_000_000) };
    for (let count = 0; count < 20; count += 1) await server.notify('notifications/tools/list_changed', { _meta });
    await client.ping();
    const reader = events[Symbol.asyncIterator]();
    // The acknowledgement, and what eight million characters hold.
    for (let count = 0; count < 8; count += 1) expect((await reader.next()).value).not.toHaveProperty('isAfterGap');
    await server.notify('notifications/tools/list_changed');
    expect((await reader.next()).value).toMatchObject({ method: 'notifications/tools/list_changed', isAfterGap: true });
  });

  it('[CACHE-013] drops the results that were kept', async () => {
    const server = new ScriptedServer(
      modernScript({
        ...listenScript(),
        'tools/list': () => ({ result: { resultType: 'complete', tools: [], ttlMs: 1_000_000, cacheScope: 'private' } }),
      }),
    );
    const client = await McpClient.connect(server.factory, info, { resultCache: createResultCache() });
    open.push(client);
    const reader = client.listen({ toolsListChanged: true })[Symbol.asyncIterator]();
    await reader.next();
    await client.listTools();
    await client.listTools();
    expect(server.requests('tools/list')).toHaveLength(1);
    await server.die();
    await reader.next();
    await client.listTools();
    expect(server.requests('tools/list')).toHaveLength(2);
  });
});

it('a late cancellation of a request that the server has its answer to concerns nobody', async () => {
  const { client, server } = await connect(legacyScript('2025-11-25'));
  const told: string[] = [];
  client.onAnyNotification(({ method }) => told.push(method));
  await server.notify('notifications/cancelled', { requestId: 'long-gone' });
  await client.ping();
  expect(told).toEqual([]);
});
