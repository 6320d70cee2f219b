import { describe, expect, it } from 'vitest';
import { createInMemoryPair, type JsonRpcRequest } from '@mortise/jsonrpc-core';
import { RegistrationError } from '@mortise/server';
import { Server } from '@mortise/server/low-level';
import { ALL, LEGACY, type Loose, MODERN, RawPeer } from './raw-peer.ts';
import { createCalculator, defer } from './support.ts';

describe.each(ALL)('the low-level server in %s', (version) => {
  it('serves methods by name, and advertises what they need', async () => {
    const server = new Server({ name: 'low', version: '1' });
    server.setRequestHandler('tools/list', () => ({ tools: [{ name: 't', inputSchema: { type: 'object' } }] }));
    server.setRequestHandler('tools/call', ({ params }, ctx) => ({ content: [{ type: 'text', text: `${params.name} ${ctx.principal}` }] }));
    const peer = await RawPeer.open(server, version);
    expect((await peer.call('tools/list')).tools).toMatchObject([{ name: 't' }]);
    expect((await peer.callTool('t')).content[0].text).toBe('t local');
    expect((await peer.request('prompts/list')).error?.code).toBe(-32601);
    server.removeRequestHandler('tools/call');
    expect((await peer.request('tools/call', { name: 't' })).error?.code).toBe(-32601);
  });

  it("serves methods of the program's own", async () => {
    const server = new Server({ name: 'low', version: '1' });
    server.setRequestHandler('acme/echo', ({ method, params }) => ({ method, got: params['x'] ?? null }));
    const peer = await RawPeer.open(server, version);
    expect(await peer.call('acme/echo', { x: [1] })).toMatchObject({ method: 'acme/echo', got: [1] });
  });

  it('lets capabilities be declared later', async () => {
    const server = new Server({ name: 'low', version: '1' }, { capabilities: { tools: {} } });
    server.registerCapabilities({ prompts: { listChanged: true } });
    server.setRequestHandler('prompts/list', () => ({ prompts: [] }));
    const peer = await RawPeer.open(server, version);
    expect((await peer.call('prompts/list')).prompts).toEqual([]);
  });
});

it("says what to pass where a handler is set by a schema, as in the official SDK's first API", () => {
  const server = new Server({ name: 'low', version: '1' }) as Loose;
  const schema = { shape: { method: { value: 'tools/list' } }, parse: () => undefined };
  for (const set of ['setRequestHandler', 'setNotificationHandler'])
    expect(() => server[set](schema, () => ({}))).toThrow(/"method" must be a name, such as 'tools\/list', and not a schema/);
});

describe('methods of one era', () => {
  it('are served there alone, whatever the program sets', async () => {
    const server = new Server({ name: 'low', version: '1' });
    server.setRequestHandler('logging/setLevel', () => ({}));
    const [old, modern] = [await RawPeer.open(server, '2025-11-25'), await RawPeer.open(server, MODERN)];
    expect((await old.request('logging/setLevel', { level: 'info' })).result).toEqual({});
    expect((await modern.request('logging/setLevel', { level: 'info' })).error?.code).toBe(-32601);
  });
});

describe.each(LEGACY)('notifications of clients in %s', (version) => {
  it('reach their handler, with who sent them, and may be answered by questions', async () => {
    const got = defer<Loose>();
    const server = new Server({ name: 'low', version: '1' });
    server.setNotificationHandler('notifications/roots/list_changed', async ({ method, params }, call) => {
      const roots = await call.request({ method: 'roots/list' });
      await call.notify({ jsonrpc: '2.0', method: 'notifications/acme' });
      got.resolve({ method, params, roots, principal: call.principal, version: call.revision.version });
    });
    const peer = await RawPeer.open(server, version, { capabilities: { roots: { listChanged: true } } });
    peer.onRequest = () => ({ roots: [] });
    peer.notify('notifications/roots/list_changed');
    expect(await got.promise).toEqual({
      method: 'notifications/roots/list_changed',
      params: {},
      roots: { roots: [] },
      principal: 'local',
      version,
    });
    await peer.nextNotification('notifications/acme');
  });

  it('are dropped where malformed, before initialize, or without a handler', async () => {
    const got: string[] = [];
    const server = new Server({ name: 'low', version: '1' });
    server.setNotificationHandler('notifications/initialized', () => void got.push('initialized'));
    server.setNotificationHandler('notifications/progress', () => void got.push('progress'));
    server.setNotificationHandler('acme/own', () => {
      got.push('own');
      throw new Error('inside');
    });
    const peer = await RawPeer.attach(server, version);
    peer.notify('acme/own');
    await peer.initialize();
    peer.notify('notifications/progress', { progressToken: {}, progress: 'far' });
    peer.notify('acme/own');
    peer.notify('acme/other');
    await peer.settle();
    expect(got).toEqual(['initialized', 'own']);
    server.removeNotificationHandler('acme/own');
    peer.notify('acme/own');
    expect(await peer.call('ping')).toEqual({});
    expect(got).toHaveLength(2);
  });

  it('go out to every ready client', async () => {
    const server = new Server({ name: 'low', version: '1' });
    const [ready, waiting] = [await RawPeer.open(server, version), await RawPeer.attach(server, version)];
    await ready.settle();
    await server.notify('notifications/acme', { x: 1 });
    expect((await ready.nextNotification('notifications/acme')).params).toEqual({ x: 1 });
    await waiting.settle();
    expect(waiting.received).toEqual([]);
  });
});

describe('onAnyRequest', () => {
  it.each(ALL)('sees requests of %s as they came, and its answers go out byte for byte', async (version) => {
    const seen: JsonRpcRequest[] = [];
    const server = new Server({ name: 'gateway', version: '1' });
    server.onAnyRequest((request) => {
      seen.push(request);
      if (request.method === 'fails')
        return { jsonrpc: '2.0', id: request.id, error: { code: -32001, message: 'upstream', data: { deep: [null, { x: 1 }] } } };
      return {
        jsonrpc: '2.0',
        id: request.id,
        result: { novel: { field: 1 }, resultType: 'strange', structuredContent: [1] },
        extra: 'member',
      } as Loose;
    });
    const peer = await RawPeer.attach(server, version);
    const params = { unknown: { member: true }, _meta: { 'com.example/x': 1 } };
    const answer = await peer.rawRequest('tools/call', params, 'id-1');
    expect(answer).toEqual({
      jsonrpc: '2.0',
      id: 'id-1',
      result: { novel: { field: 1 }, resultType: 'strange', structuredContent: [1] },
      extra: 'member',
    });
    expect(seen[0]).toEqual({ jsonrpc: '2.0', id: 'id-1', method: 'tools/call', params });
    expect((await peer.rawRequest('fails')).error).toEqual({ code: -32001, message: 'upstream', data: { deep: [null, { x: 1 }] } });
    await peer.rawRequest('initialize', { protocolVersion: 'odd' });
    expect(seen.map((request) => request.method)).toEqual(['tools/call', 'fails', 'initialize']);
  });

  it('leaves to the server what it gives no answer to', async () => {
    const server = createCalculator();
    server.server.onAnyRequest((request) =>
      request.method === 'acme/own' ? { jsonrpc: '2.0', id: request.id, result: { own: true } } : undefined,
    );
    for (const version of ALL) {
      const peer = await RawPeer.open(server, version);
      expect((await peer.rawRequest('acme/own')).result).toEqual({ own: true });
      expect((await peer.callTool('add', { a: 1, b: 1 })).content[0].text).toBe('{"sum":2}');
    }
  });

  it('sends what belongs to the request, and asks the client', async () => {
    const server = new Server({ name: 'gateway', version: '1' });
    server.onAnyRequest(async (request, call, session) => {
      await call.send({ jsonrpc: '2.0', method: 'notifications/acme', params: { for: request.id } });
      const answer = await session?.request('acme/ask', { q: 1 }, { call });
      return { jsonrpc: '2.0', id: request.id, result: { answer: answer ?? null, principal: call.principal } };
    });
    const peer = await RawPeer.attach(server, '2025-11-25', { info: { principal: 'ann' } });
    peer.onRequest = () => ({ a: 2 });
    expect((await peer.rawRequest('x')).result).toEqual({ answer: { a: 2 }, principal: 'ann' });
    expect((await peer.nextNotification('notifications/acme')).params).toEqual({ for: 1 });
  });

  it('costs one neutral answer where it fails or gives what is no answer', async () => {
    const server = new Server({ name: 'gateway', version: '1' });
    const outcomes: Record<string, () => Loose> = {
      throws: () => {
        throw new Error('inside');
      },
      rejects: () => Promise.reject(new Error('inside')),
      other: () => ({ jsonrpc: '2.0', id: 'another', result: {} }),
      both: () => ({ jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: 'x' } }),
      number: () => 5,
    };
    server.onAnyRequest((request) => outcomes[request.method]?.());
    const peer = await RawPeer.attach(server, '2025-11-25');
    for (const method of Object.keys(outcomes))
      expect((await peer.rawRequest(method)).error).toEqual({ code: -32603, message: 'Internal error' });
    expect(() => server.onAnyRequest(() => undefined)).toThrow(RegistrationError);
  });

  it('asks nobody in an exchange', async () => {
    const server = new Server({ name: 'gateway', version: '1' });
    server.onAnyRequest((request, _call, session) => ({ jsonrpc: '2.0', id: request.id, result: { hasSession: session !== undefined } }));
    const call = {
      principal: 'x',
      signal: new AbortController().signal,
      cancel: () => undefined,
      isCancelled: false,
      send: () => Promise.resolve(),
    };
    expect(await server.handle({ jsonrpc: '2.0', id: 1, method: 'any' }, call)).toMatchObject({
      result: { hasSession: false },
    });
  });
});

describe('connections', () => {
  it('say when they end, drain, and are closed with the server', async () => {
    const gate = defer();
    const server = createCalculator();
    server.registerTool('wait', {}, () => gate.promise.then(() => 'done'));
    const peer = await RawPeer.open(server, MODERN);
    expect(server.isConnected()).toBe(true);
    const call = peer.callTool('wait');
    await peer.settle();
    const drained = peer.connection.drain(10_000);
    expect((await peer.request('tools/list')).error?.code).toBe(-32603);
    gate.resolve();
    expect((await call).content[0].text).toBe('done');
    await drained;
    await peer.connection.closed;
    expect(server.isConnected()).toBe(false);
    const next = await RawPeer.open(server, MODERN);
    await server.close();
    await next.connection.closed;
    await server.close();
    expect((await (await RawPeer.open(server, MODERN)).callTool('add', { a: 1, b: 1 })).structuredContent).toEqual({ sum: 2 });
  });

  it('abort what has not finished in time', async () => {
    const reason = defer<Loose>();
    const server = createCalculator();
    server.registerTool('wait', {}, (ctx) => {
      ctx.signal.addEventListener('abort', () => reason.resolve(ctx.signal.reason));
      return new Promise<never>(() => undefined);
    });
    const peer = await RawPeer.open(server, MODERN);
    void peer.callTool('wait').catch(() => undefined);
    await peer.settle();
    await server.close({ drainMs: 5 });
    expect((await reason.promise).code).toBe('ERR_CONNECTION_CLOSED');
  });

  it('reject where the transport cannot be started', async () => {
    const server = createCalculator();
    const [transport] = createInMemoryPair();
    await transport.close();
    await expect(server.connect(transport)).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    expect(server.isConnected()).toBe(false);
  });

  it('are handed to a transport that hosts exchanges itself', async () => {
    const server = createCalculator();
    const connection = { closed: Promise.resolve(), drain: () => Promise.resolve(), close: () => Promise.resolve() };
    let attached: unknown;
    const transport: Loose = { attach: (endpoint: unknown) => ((attached = endpoint), Promise.resolve(connection)) };
    expect(await server.connect(transport)).toBe(connection);
    expect(attached).toBe(server);
  });

  it('tell the transport which version was agreed on', async () => {
    const versions: string[] = [];
    const [client, serverSide] = createInMemoryPair();
    (serverSide as Loose).setProtocolVersion = (version: string) => void versions.push(version);
    await createCalculator().connect(serverSide);
    await client.start();
    await client.send({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(versions).toEqual(['2025-06-18']);
  });
});
