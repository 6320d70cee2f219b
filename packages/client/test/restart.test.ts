/** A server that dies, and what the client does about it. */

import type { JsonObject, Transport } from '@mortise/jsonrpc-core';
import { isJsonRpcNotification } from '@mortise/jsonrpc-core/messages';
import { createCallableTransport } from '@mortise/jsonrpc-core/transport';
import { withReconnect } from '@mortise/jsonrpc-core/wrap';
import { NEWEST, NEWEST_LEGACY, REVISIONS } from '@mortise/protocol';
import { META_SUBSCRIPTION_ID } from '@mortise/protocol/wire';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type CallOptions, type ClientOptions, McpClient } from '../src/index.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { complete, info, modernScript, type Reply, type Script, ScriptedServer, scriptOf } from './scripted-server.ts';

const open: McpClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

const listening: Script = {
  'subscriptions/listen': async ({ id, params }, server): Promise<Reply> => {
    await server.notify('notifications/subscriptions/acknowledged', {
      notifications: params?.['notifications'] ?? {},
      _meta: { [META_SUBSCRIPTION_ID]: id },
    });
    return 'silence';
  },
};

async function connect(server: ScriptedServer, options: ClientOptions = {}, source: () => Transport = server.factory): Promise<McpClient> {
  const client = await McpClient.connect(source, info, options);
  open.push(client);
  return client;
}

/** The server dies, and the client has noticed. */
async function die(server: ScriptedServer, client: McpClient): Promise<void> {
  await server.die();
  while (client.isConnected) await new Promise((resolve) => setImmediate(resolve));
}

/** Lets time pass whenever somebody waits for it, until a promise has settled. */
async function passTime<T>(clock: FakeClock, promise: Promise<T>): Promise<T> {
  let isOver = false;
  void promise.finally(() => (isOver = true)).catch(() => undefined);
  while (!isOver) {
    clock.advance(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return promise;
}

describe.each(REVISIONS)('in $version', (revision) => {
  const script = (rest: Script): Script => scriptOf(revision, { ...listening, ...rest });

  it('[STDIO-015] calls in flight are lost, and the next one starts the server again', async () => {
    const clock = new FakeClock();
    const server = new ScriptedServer(script({ 'tools/call': () => 'die', 'tools/list': () => complete(revision, { tools: [] }) }));
    const client = await connect(server, { clock, protocolVersion: revision.version });
    await expect(client.callTool('x')).rejects.toMatchObject({
      code: 'ERR_CONNECTION_LOST',
      message: expect.stringContaining('whether it was carried out is not known'),
    });
    expect(client.isConnected).toBe(false);
    expect(server.starts).toBe(1);
    await expect(passTime(clock, client.listTools())).resolves.toMatchObject({ tools: [] });
    expect(server.starts).toBe(2);
    expect(client.isConnected).toBe(true);
  });

  it('[STDIO-016][SUB-016] subscriptions are opened again at once, and say so by another acknowledgement', async () => {
    const clock = new FakeClock();
    const server = new ScriptedServer(script({}));
    const client = await connect(server, { clock, protocolVersion: revision.version });
    const subscription = client.listen({ toolsListChanged: true, resourceSubscriptions: ['a:b'] });
    const events = subscription[Symbol.asyncIterator]();
    const acknowledged = { value: { method: 'notifications/subscriptions/acknowledged' } };
    expect(await events.next()).toMatchObject(acknowledged);
    const again = events.next();
    await server.die();
    expect(await passTime(clock, again)).toMatchObject(acknowledged);
    expect(server.starts).toBe(2);
    expect(server.requests(revision.era === 'modern' ? 'subscriptions/listen' : 'resources/subscribe')).toHaveLength(2);
  });

  it('[STDIO-016] what subscribeResource and setLoggingLevel asked for is asked for again', async () => {
    const clock = new FakeClock();
    const server = new ScriptedServer(script({ 'tools/list': () => complete(revision, { tools: [] }) }));
    const client = await connect(server, { clock, protocolVersion: revision.version });
    await client.subscribeResource('a:b');
    await client.setLoggingLevel('error');
    await die(server, client);
    await passTime(clock, client.listTools());
    const after = JSON.stringify(
      server.received.slice(
        server.received.findLastIndex((message) => 'method' in message && ['initialize', 'server/discover'].includes(message.method)),
      ),
    );
    expect(after).toContain('a:b');
    expect(after).toContain(revision.era === 'modern' ? '"io.modelcontextprotocol/logLevel":"error"' : '"level":"error"');
  });

  it('subscriptions and calls fail where the program wants no restart', async () => {
    const server = new ScriptedServer(script({}));
    const client = await connect(server, { restart: false, protocolVersion: revision.version });
    const events = client.listen({ toolsListChanged: true })[Symbol.asyncIterator]();
    await events.next();
    const broken = events.next();
    await server.die();
    await expect(broken).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    await expect(client.listTools()).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    expect(server.starts).toBe(1);
  });
});

it('[STATE-003] one process serves any number of conversations one after the other', async () => {
  const server = new ScriptedServer(modernScript({ 'tools/call': () => complete(NEWEST, { content: [] }) }));
  const client = await connect(server);
  for (let conversation = 0; conversation < 5; conversation += 1) await client.callTool('x', { conversation });
  expect(server.starts).toBe(1);
});

it('all calls that wait for a restart share it', async () => {
  const clock = new FakeClock();
  const server = new ScriptedServer(modernScript({ 'tools/list': () => complete(NEWEST, { tools: [] }) }));
  const client = await connect(server, { clock });
  await die(server, client);
  await passTime(clock, Promise.all([client.listTools(), client.listTools(), client.requestRaw('tools/list')]));
  expect(server.starts).toBe(2);
});

it('a server that died soon is given half a second or more, and longer each time, before it is started again', async () => {
  const clock = new FakeClock();
  const server = new ScriptedServer(modernScript());
  let isBroken = false;
  const startedAt: number[] = [];
  const source = (): Transport => {
    startedAt.push(clock.monotonicMs());
    if (isBroken) throw new Error('cannot be started');
    return server.factory();
  };
  const client = await connect(server, { clock }, source);
  isBroken = true;
  await die(server, client);
  await expect(passTime(clock, client.listTools())).rejects.toThrow('cannot be started');
  const gaps = startedAt.slice(1).map((at, index) => at - (startedAt[index] ?? 0));
  expect(gaps).toHaveLength(3);
  expect(gaps.every((gap) => gap >= 500)).toBe(true);
  expect(gaps.at(-1)).toBeGreaterThan(gaps[0] ?? 0);
});

it('[ROBUSTNESS-10] a call says within 8 s that a server dies at each start, and the next call waits no longer however often it died', async () => {
  const clock = new FakeClock();
  const server = new ScriptedServer(modernScript());
  const client = await connect(server, { clock });
  server.script = { 'server/discover': () => 'die', initialize: () => 'die' };
  await die(server, client);
  for (let call = 0; call < 4; call += 1) {
    const startMs = clock.monotonicMs();
    await expect(passTime(clock, client.listTools())).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    // The first of three delays lasts a second at most; later calls wait three times four seconds at most.
    expect(clock.monotonicMs() - startMs).toBeLessThanOrEqual(call === 0 ? 8000 : 12_000);
  }
  server.script = modernScript();
  const startMs = clock.monotonicMs();
  await passTime(clock, client.ping());
  expect(clock.monotonicMs() - startMs).toBeLessThanOrEqual(4000);
});

it('a call waits no longer than its time for the server to be started again', async () => {
  const clock = new FakeClock();
  const server = new ScriptedServer(modernScript());
  const client = await connect(server, { clock });
  server.script = { 'server/discover': () => 'silence', initialize: () => 'silence' };
  await die(server, client);
  const startMs = clock.monotonicMs();
  await expect(passTime(clock, client.callTool('x', {}, { timeoutMs: 5000 }))).rejects.toMatchObject({
    code: 'ERR_TIMEOUT',
    message: 'The request was not answered within 5000 ms',
  });
  await expect(passTime(clock, client.requestRaw('x', {}, { timeoutMs: 5000 }))).rejects.toMatchObject({ code: 'ERR_TIMEOUT' });
  expect(clock.monotonicMs() - startMs).toBeLessThanOrEqual(12_000);
});

it.each([
  ['request', (client: McpClient, options: CallOptions): Promise<unknown> => client.callTool('x', {}, options)],
  ['raw request', (client: McpClient, options: CallOptions): Promise<unknown> => client.requestRaw('tools/call', { name: 'x' }, options)],
  ['ping', (client: McpClient, options: CallOptions): Promise<unknown> => client.ping(options)],
])('a %s has one time: what opening the connection again takes of it is not there for the response', async (_what, send) => {
  const clock = new FakeClock();
  const server = new ScriptedServer(modernScript({ 'tools/call': () => 'silence' }));
  const client = await connect(server, { clock });
  let discoveries = 0;
  const { 'server/discover': discover } = modernScript();
  server.script = { ...server.script, 'server/discover': (...asked) => (++discoveries === 1 && discover ? discover(...asked) : 'silence') };
  await die(server, client);
  const startMs = clock.monotonicMs();
  const sent = send(client, { timeoutMs: 5000 });
  const opened = passTime(
    clock,
    server.next((message) => server.starts === 2 && 'method' in message),
  );
  await opened;
  expect(clock.monotonicMs() - startMs).toBeGreaterThanOrEqual(500);
  await expect(passTime(clock, sent)).rejects.toMatchObject({ code: 'ERR_TIMEOUT' });
  expect(clock.monotonicMs() - startMs).toBe(5000);
});

it('a ping starts the server again too', async () => {
  const clock = new FakeClock();
  const server = new ScriptedServer(modernScript());
  const client = await connect(server, { clock });
  await die(server, client);
  await passTime(clock, client.ping());
  expect(server.starts).toBe(2);
});

it.each(REVISIONS)('what is known of a server in $version stays known while it is started again', async (revision) => {
  const clock = new FakeClock();
  const server = new ScriptedServer(scriptOf(revision));
  const client = await connect(server, { clock });
  const known = (): unknown => [client.era, client.protocolVersion, client.serverInfo, client.serverCapabilities, client.instructions];
  const before = known();
  await die(server, client);
  expect(known()).toEqual(before);
  expect(client.getServerCapabilities()).toBe(client.serverCapabilities);
  expect(client.getServerVersion()).toBe(client.serverInfo);
  await passTime(clock, client.ping());
  expect(known()).toEqual(before);
  await client.close();
  expect(() => client.era).toThrow('the client was closed');
  expect(client.getServerCapabilities()).toBeUndefined();
});

it('a server that came back without what the program requires is not used', async () => {
  const clock = new FakeClock();
  const server = new ScriptedServer(modernScript());
  const client = await McpClient.connect(server.factory, info, { clock, requires: ['prompts'] });
  open.push(client);
  server.script = modernScript({}, { capabilities: { tools: {} } });
  await die(server, client);
  await expect(passTime(clock, client.listTools())).rejects.toMatchObject({ code: 'ERR_MISSING_CAPABILITY', missing: ['prompts'] });
  expect(server.starts).toBe(2);
});

it('a server that ran well for a while is started again at once', async () => {
  const clock = new FakeClock();
  const server = new ScriptedServer(modernScript({ 'tools/list': () => complete(NEWEST, { tools: [] }) }));
  const client = await connect(server, { clock });
  clock.advance(60_000);
  await die(server, client);
  await client.listTools();
  expect(server.starts).toBe(2);
});

it('a server that became legacy meanwhile is spoken to in its new era', async () => {
  const clock = new FakeClock();
  const server = new ScriptedServer(modernScript());
  const client = await connect(server, { clock });
  server.script = scriptOf(NEWEST_LEGACY, { 'tools/list': () => complete(NEWEST_LEGACY, { tools: [] }) });
  await die(server, client);
  await passTime(clock, client.listTools());
  expect(client.era).toBe('legacy');
});

describe('closing', () => {
  it('is awaited, settles everything, leaves no timer, and may be done twice and at once', async () => {
    const clock = new FakeClock();
    const server = new ScriptedServer(modernScript({ ...listening, 'tools/call': () => 'silence' }));
    const client = await connect(server, { clock });
    const call = client.callTool('x');
    const subscription = client.listen({ toolsListChanged: true });
    await server.nextMethod('tools/call');
    await Promise.all([client.close(), client.close()]);
    await expect(call).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    expect(subscription.isOver).toBe(true);
    expect(clock.running).toBe(0);
    await expect(client.listTools()).rejects.toThrow('the client was closed');
  });

  it('gives up a connection that is being opened', async () => {
    const server = new ScriptedServer({ 'server/discover': () => 'silence' });
    const client = new McpClient(info);
    const connecting = client.connect(server.factory);
    await server.nextMethod('server/discover');
    await client.close();
    await expect(connecting).rejects.toThrow('the client was closed');
  });

  it('gives up a restart', async () => {
    const clock = new FakeClock();
    const server = new ScriptedServer(modernScript());
    const client = await connect(server, { clock });
    await die(server, client);
    const call = client.listTools();
    await clock.untilScheduled();
    await client.close();
    await expect(call).rejects.toThrow('the client was closed');
    expect(clock.running).toBe(0);
  });

  it('lets the client connect anew', async () => {
    const server = new ScriptedServer(modernScript({ 'tools/list': () => complete(NEWEST, { tools: [] }) }));
    const client = await connect(server);
    await client.close();
    await client.connect(server.factory);
    await expect(client.listTools()).resolves.toMatchObject({ tools: [] });
  });

  it('is what leaving an await using block does', async () => {
    const server = new ScriptedServer(modernScript());
    const client = await connect(server);
    await client[Symbol.asyncDispose]();
    expect(client.isConnected).toBe(false);
    expect(server.received.filter(isJsonRpcNotification)).toEqual([] satisfies JsonObject[]);
  });
});

it('connecting without a transport is refused with what is wanted', async () => {
  const parts = { start: () => Promise.resolve(), send: () => Promise.resolve() };
  for (const nothing of [{}, undefined, null, 'https://host.example/mcp', parts])
    await expect(McpClient.connect(nothing as Transport, info)).rejects.toThrow('connect() needs a transport or a factory of transports');
  await expect(new McpClient(info).listTools()).rejects.toMatchObject({ code: 'ERR_NOT_CONNECTED' });
});

it('a client that was closed says that, whatever is asked of it, until it is connected again', async () => {
  const server = new ScriptedServer(modernScript({ 'tools/list': () => complete(NEWEST, { tools: [] }) }));
  const client = await connect(server);
  await client.close();
  const closed = expect.objectContaining({ code: 'ERR_CONNECTION_CLOSED', message: 'the client was closed' }) as Error;
  expect(() => client.protocolVersion).toThrow(closed);
  await expect(client.listTools()).rejects.toEqual(closed);
  await client.connect(server.factory);
  expect(client.protocolVersion).toBe(NEWEST.version);
});

it('a transport that is a factory too gives each client that takes it one of its own, and one client a fresh one each time', async () => {
  const server = new ScriptedServer(modernScript({ 'tools/list': () => complete(NEWEST, { tools: [] }) }));
  const source = createCallableTransport(server.factory(), server.factory);
  const [one, other] = [await connect(server, {}, source), await connect(server, {}, source)];
  await other.listTools();
  await one.close();
  await one.connect(source);
  await one.listTools();
  expect(server.starts).toBe(3);
});

it.each([
  ['a promise', () => Promise.resolve(new ScriptedServer({}).factory())],
  ['an object without start(), send() and close()', () => ({})],
  ['undefined', () => undefined],
])('a factory that gives %s is told so', async (_what, factory) => {
  const connecting = McpClient.connect(factory as unknown as () => Transport, info);
  await expect(connecting).rejects.toThrow('The factory did not return a transport: it must return one directly');
});

it('an era that there is not is refused by name', async () => {
  const { factory } = new ScriptedServer(modernScript());
  await expect(McpClient.connect(factory, info, { era: 'Legacy' as 'legacy' })).rejects.toThrow(
    'The option "era" must be "legacy" or "modern", got "Legacy"',
  );
});

describe.each(REVISIONS)('a transport that mends itself, in $version', (revision) => {
  it('is told everything anew: the session is opened again, and so are its subscriptions', async () => {
    const clock = new FakeClock();
    const server = new ScriptedServer(
      scriptOf(revision, { ...listening, 'tools/call': () => 'die', 'tools/list': () => complete(revision, { tools: [] }) }),
    );
    vi.spyOn(Math, 'random').mockReturnValue(0);
    onTestFinished(() => void vi.restoreAllMocks());
    const client = await McpClient.connect(withReconnect(server.factory, { clock }), info, {
      clock,
      protocolVersion: revision.version,
      onError: () => undefined,
    });
    open.push(client);
    const events = client.listen({ toolsListChanged: true, resourceSubscriptions: ['a:b'] })[Symbol.asyncIterator]();
    const acknowledged = { value: { method: 'notifications/subscriptions/acknowledged' } };
    expect(await events.next()).toMatchObject(acknowledged);
    const again = events.next();
    await expect(client.callTool('x')).rejects.toMatchObject({ code: 'ERR_CONNECTION_LOST' });
    const listed = client.listTools();
    expect(await passTime(clock, again)).toMatchObject(acknowledged);
    await expect(listed).resolves.toMatchObject({ tools: [] });
    expect(server.starts).toBe(2);
    const opening = revision.era === 'modern' ? 'server/discover' : 'initialize';
    expect(server.requests(opening)).toHaveLength(2);
    expect(server.methods.indexOf('tools/list')).toBeGreaterThan(server.methods.lastIndexOf(opening));
    expect(server.requests(revision.era === 'modern' ? 'subscriptions/listen' : 'resources/subscribe')).toHaveLength(2);
  });
});

it('a transport that mends itself may find the server in another era', async () => {
  const clock = new FakeClock();
  const server = new ScriptedServer(scriptOf(NEWEST_LEGACY));
  const client = await McpClient.connect(withReconnect(server.factory, { clock }), info, { clock, onError: () => undefined });
  open.push(client);
  server.script = modernScript({ 'tools/list': () => complete(NEWEST, { tools: [] }) });
  await die(server, client);
  await passTime(clock, client.listTools());
  expect(client.era).toBe('modern');
});

it('a transport that mends itself and then gives up ends the client', async () => {
  const clock = new FakeClock();
  const server = new ScriptedServer(modernScript());
  let isBroken = false;
  const factory = (): Transport => {
    if (isBroken) throw new Error('gone');
    return server.factory();
  };
  const client = await McpClient.connect(withReconnect(factory, { clock, maxAttempts: 2 }), info, { clock, onError: () => undefined });
  open.push(client);
  isBroken = true;
  await die(server, client);
  await expect(passTime(clock, client.listTools())).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
});

describe.each([NEWEST_LEGACY, NEWEST])('a transport that reopens its channel for over a minute, in $version', (revision) => {
  it('keeps the client: a call waits until the channel is open, and no ping is sent meanwhile', async () => {
    const clock = new FakeClock();
    const server = new ScriptedServer(scriptOf(revision, { 'tools/list': () => complete(revision, { tools: [] }) }));
    let failures = 0;
    const factory = (): Transport => {
      if (failures > 0 && failures-- > 0) throw new Error('connection refused');
      return server.factory();
    };
    const errors: Error[] = [];
    const onError = (error: Error): void => void errors.push(error);
    vi.spyOn(Math, 'random').mockReturnValue(1);
    onTestFinished(() => void vi.restoreAllMocks());
    const client = await McpClient.connect(withReconnect(factory, { clock }), info, { clock, onError, keepAliveMs: 1000 });
    open.push(client);
    failures = 6;
    await die(server, client);
    const openedAtMs = clock.monotonicMs();
    await expect(passTime(clock, client.listTools({}, { timeoutMs: 200_000 }))).resolves.toMatchObject({ tools: [] });
    expect(clock.monotonicMs() - openedAtMs).toBeGreaterThan(60_000);
    expect(client.protocolVersion).toBe(revision.version);
    expect(server.requests('ping')).toEqual([]);
    expect(errors.map((error) => error.name)).not.toContain('TimeoutError');
  });
});
