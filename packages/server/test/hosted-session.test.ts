import { describe, expect, it, vi } from 'vitest';
import type { JsonRpcMessage, JsonRpcResponse } from '@mortise/jsonrpc-core';
import { Cancellation } from '@mortise/jsonrpc-core/transport';
import { MemoryMessageBus } from '@mortise/protocol';
import type { Call, LegacySession, SessionLink, SessionState } from '@mortise/protocol/contracts';
import { McpServer } from '@mortise/server';
import { LEGACY, type Loose } from './raw-peer.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { createCalculator, defer } from './support.ts';

/** A host that carries one session's messages by hand. */
class Host {
  readonly sent: Loose[] = [];
  readonly states: SessionState[] = [];
  readonly link: SessionLink;
  readonly session: LegacySession;
  #id = 0;

  constructor(server: McpServer, options: { principal?: string; canRequest?: boolean; saved?: SessionState; sessionId?: string } = {}) {
    const { principal = 'ann', canRequest = true, saved, sessionId } = options;
    this.link = {
      principal,
      canRequest,
      ...(sessionId ? { sessionId } : {}),
      send: (message) => {
        this.sent.push({ ...message, on: 'link' });
        return Promise.resolve();
      },
      onStateChange: () => void this.states.push(this.session.state),
    };
    this.session = server.openSession(this.link, saved);
  }

  call(principal = 'ann', signal: AbortSignal = new AbortController().signal): Call {
    const send = (message: Loose): Promise<void> => {
      this.sent.push({ ...message, on: 'call' });
      return Promise.resolve();
    };
    const call = Object.assign(new Cancellation(), { principal, send });
    call.follow(signal);
    return call;
  }

  receive(message: Loose, call = this.call()): Promise<JsonRpcResponse | undefined> {
    return this.session.receive({ jsonrpc: '2.0', ...message } as JsonRpcMessage, call);
  }

  async request(method: string, params: Loose = {}, id: string | number = ++this.#id): Promise<Loose> {
    return this.receive({ id, method, params });
  }

  async initialize(version: string, capabilities: Loose = {}): Promise<Loose> {
    const answer = await this.request('initialize', { protocolVersion: version, capabilities, clientInfo: { name: 'host', version: '1' } });
    await this.receive({ method: 'notifications/initialized' });
    return answer;
  }
}

describe.each(LEGACY)('a hosted session in %s', (version) => {
  it('serves what a connection does', async () => {
    const host = new Host(createCalculator());
    expect((await host.initialize(version)).result).toMatchObject({
      protocolVersion: version,
      capabilities: { tools: { listChanged: true } },
    });
    expect((await host.request('tools/call', { name: 'add', arguments: { a: 1, b: 2 } })).result.content[0].text).toBe('{"sum":3}');
    expect((await host.request('no/such')).error.code).toBe(-32601);
    expect(await host.receive({ method: 'notifications/acme' })).toBeUndefined();
  });

  it('goes on from its saved state as if never closed', async () => {
    const create = (): McpServer => {
      const server = createCalculator({ capabilities: { logging: {} } });
      server.registerResource('r', 'test://r', {}, () => 'r');
      server.registerTool('who', {}, async (ctx) => {
        await ctx.log('warning', 'hidden');
        await ctx.log('error', 'shown');
        return JSON.stringify([ctx.client.info?.name, ctx.client.capabilities, ctx.revision.version, ctx.sessionId]);
      });
      return server;
    };
    const first = new Host(create(), { sessionId: 'abc' });
    await first.initialize(version, { roots: {} });
    await first.request('logging/setLevel', { level: 'error' });
    await first.request('resources/subscribe', { uri: 'test://r' });
    const saved = JSON.parse(JSON.stringify(first.session.state));
    expect(first.states.at(-1)).toEqual(saved);
    await first.session.close();

    const server = create();
    const second = new Host(server, { saved, sessionId: 'abc' });
    expect(second.session.state).toEqual(saved);
    expect(second.states).toEqual([]);
    expect(JSON.parse((await second.request('tools/call', { name: 'who' })).result.content[0].text)).toEqual([
      'host',
      { roots: {} },
      version,
      'abc',
    ]);
    expect(second.sent.map((message) => message.params.data)).toEqual(['shown']);
    await server.sendResourceUpdated({ uri: 'test://r' });
    expect(second.sent.at(-1)).toMatchObject({ method: 'notifications/resources/updated', params: { uri: 'test://r' }, on: 'link' });
    expect(
      (await second.request('initialize', { protocolVersion: version, capabilities: {}, clientInfo: { name: 'x', version: '1' } })).error
        .code,
    ).toBe(-32600);
  });

  it('asks its client on the stream of the call, and takes the answer from another exchange', async () => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('roots', {}, async (ctx) => JSON.stringify((await ctx.listRoots()).roots));
    const host = new Host(server);
    await host.initialize(version, { roots: {} });
    const answer = host.request('tools/call', { name: 'roots' });
    const asked = await vi.waitUntil(() => host.sent.find((message) => message.method === 'roots/list'), { timeout: 60_000 });
    expect(asked.on).toBe('call');
    expect(await host.receive({ id: asked.id, result: { roots: [] } })).toBeUndefined();
    expect((await answer).result.content[0].text).toBe('[]');
  });

  it('[ROBUSTNESS-20] takes over what another host saved, and still takes the answer to a question in flight', async () => {
    const server = createCalculator({ capabilities: { logging: {} } });
    for (const name of ['r', 's']) server.registerResource(name, `test://${name}`, {}, () => name);
    server.registerTool('roots', {}, async (ctx) => {
      const { roots } = await ctx.listRoots();
      await ctx.log('info', 'hidden');
      return JSON.stringify(roots);
    });
    const host = new Host(server);
    await host.initialize(version, { roots: {} });
    await host.request('logging/setLevel', { level: 'debug' });
    await host.request('resources/subscribe', { uri: 'test://r' });
    const saved = JSON.parse(JSON.stringify({ ...host.session.state, logLevel: 'error', subscriptions: ['test://s'] }));
    const answer = host.request('tools/call', { name: 'roots' });
    const asked = await vi.waitUntil(() => host.sent.find((message) => message.method === 'roots/list'), { timeout: 60_000 });
    const told = host.states.length;
    expect(() => host.session.restore({ ...saved, layout: 2 })).toThrow(expect.objectContaining({ code: 'ERR_PROTOCOL', rpcCode: -32602 }));
    host.session.restore(saved);
    expect([host.session.state, host.states.length]).toEqual([saved, told]);
    await Promise.all(['test://r', 'test://s'].map((uri) => server.sendResourceUpdated({ uri })));
    await host.receive({ id: asked.id, result: { roots: [] } });
    expect((await answer).result.content[0].text).toBe('[]');
    // Once because it may have changed before, and once because it has.
    expect(host.sent.slice(host.sent.indexOf(asked) + 1).map(({ params }) => params)).toEqual([{ uri: 'test://s' }, { uri: 'test://s' }]);
  });

  it('tells its client of a resource that it subscribed to elsewhere, because it may have changed before this host listened', async () => {
    const server = createCalculator();
    server.registerResource('r', 'test://r', {}, () => 'r');
    const host = new Host(server);
    await host.initialize(version);
    host.session.restore({ ...host.session.state, subscriptions: ['test://r'] });
    await host.session.ready;
    await vi.waitUntil(() => host.sent.length > 0, { timeout: 60_000 });
    expect(host.sent).toEqual([expect.objectContaining({ method: 'notifications/resources/updated', params: { uri: 'test://r' } })]);
  });

  it('[ROBUSTNESS-20] is not ready where the message bus refuses the topics of a saved state', async () => {
    const messageBus = new MemoryMessageBus();
    const server = createCalculator({ messageBus });
    server.registerResource('r', 'test://r', {}, () => 'r');
    const host = new Host(server);
    await host.initialize(version);
    const before = host.session.state;
    messageBus.subscribe = () => Promise.reject(new Error('the bus is down'));
    host.session.restore({ ...before, subscriptions: ['test://r'] });
    await expect(host.session.ready).rejects.toThrow('the bus is down');
    await host.session.close();
  });

  it('belongs to the principal that opened it', async () => {
    const host = new Host(createCalculator());
    await host.initialize(version);
    const stranger = host.call('eve');
    expect(await host.receive({ id: 9, method: 'tools/list' }, stranger)).toMatchObject({ error: { code: -32600 } });
    expect(await host.receive({ method: 'notifications/cancelled', params: { requestId: 1 } }, stranger)).toBeUndefined();
  });

  it('[ROBUSTNESS-3] refuses an id that is in flight, and cancels by it without an answer', async () => {
    const reason = defer<Loose>();
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('wait', {}, (ctx) => {
      ctx.signal.addEventListener('abort', () => reason.resolve(ctx.signal.reason));
      return new Promise<never>(() => undefined);
    });
    const host = new Host(server);
    await host.initialize(version);
    const slow = host.request('tools/call', { name: 'wait' }, 'slow');
    expect((await host.request('tools/list', {}, 'slow')).error.code).toBe(-32600);
    await host.receive({ method: 'notifications/cancelled', params: { requestId: 'slow', reason: 'enough' } });
    expect(await slow).toBeUndefined();
    expect((await reason.promise).reason).toBe('enough');
    expect((await host.request('tools/list', {}, 'slow')).result.tools).toHaveLength(1);
  });

  it('ends its calls when it is closed, and serves nothing after', async () => {
    const reason = defer<Loose>();
    const server = createCalculator();
    server.registerTool('wait', {}, (ctx) => {
      ctx.signal.addEventListener('abort', () => reason.resolve(ctx.signal.reason));
      return new Promise<never>(() => undefined);
    });
    const host = new Host(server);
    await host.initialize(version);
    const slow = host.request('tools/call', { name: 'wait' });
    await host.session.close();
    await host.session.close();
    expect((await reason.promise).code).toBe('ERR_SERVER_CLOSED');
    expect(await slow).toBeUndefined();
    expect((await host.request('tools/list')).error.code).toBe(-32600);
    server.registerTool('late', {}, () => 'late');
    await new Promise((resolve) => setImmediate(resolve));
    expect(host.sent).toEqual([]);
  });

  it.each([
    ['logging/setLevel', { level: 'error' }],
    ['resources/subscribe', { uri: 'test://r' }],
  ])('tells no state once it is closed, though a %s was held up until then', async (method, params) => {
    const [reached, gate, done] = [defer(), defer(), defer()];
    const server = new McpServer({ name: 's', version: '1' }, { capabilities: { logging: {}, resources: { subscribe: true } } });
    server.registerResource('r', 'test://r', {}, () => 'r');
    server.use(method, async (_ctx, next) => {
      reached.resolve();
      await gate.promise;
      return Promise.resolve(next()).finally(() => done.resolve());
    });
    const host = new Host(server);
    await host.initialize(version);
    const told = host.states.length;
    void host.request(method, params);
    await reached.promise;
    await host.session.close();
    gate.resolve();
    await done.promise;
    expect(host.states).toHaveLength(told);
  });

  it('promises nothing unasked where the host has no way back to the client', async () => {
    const server = createCalculator();
    server.registerResource('r', 'test://r', {}, () => 'r');
    server.registerTool('ask', {}, (ctx) =>
      ctx.listRoots().then(
        () => 'asked',
        (error: { code: string }) => error.code,
      ),
    );
    const host = new Host(server, { canRequest: false });
    expect((await host.initialize(version, { roots: {} })).result.capabilities).toEqual({ tools: {}, resources: {} });
    expect((await host.request('tools/call', { name: 'ask' })).result.content[0].text).toBe('ERR_ASK_UNAVAILABLE');
    server.registerTool('late', {}, () => 'late');
    await new Promise((resolve) => setImmediate(resolve));
    expect(host.sent).toEqual([]);
  });
});

describe('questions of a hosted session', () => {
  const create = (clock: FakeClock, run: (ctx: Loose) => Promise<unknown>): Host => {
    const server = new McpServer({ name: 's', version: '1' }, { clock });
    server.registerTool('run', {}, (ctx) =>
      run(ctx).then(
        (value) => JSON.stringify(value),
        (error: { code: string }) => error.code,
      ),
    );
    return new Host(server);
  };

  it('are given up in time, with their call, and when the client refuses', async () => {
    const clock = new FakeClock();
    const host = create(clock, (ctx) => ctx.listRoots({ timeoutMs: 100 }));
    await host.initialize('2025-11-25', { roots: {} });
    const late = host.request('tools/call', { name: 'run' });
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(100);
    expect((await late).result.content[0].text).toBe('ERR_TIMEOUT');
    expect(host.sent.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: host.sent[0].id } });

    const refused = host.request('tools/call', { name: 'run' });
    await new Promise((resolve) => setImmediate(resolve));
    await host.receive({ id: host.sent.at(-1).id, error: { code: -1, message: 'no' } });
    expect((await refused).result.content[0].text).toBe('ERR_REMOTE');

    const cancelled = host.request('tools/call', { name: 'run' }, 'c');
    await new Promise((resolve) => setImmediate(resolve));
    const asked = host.sent.at(-1);
    await host.receive({ method: 'notifications/cancelled', params: { requestId: 'c' } });
    expect(await cancelled).toBeUndefined();
    expect(host.sent.some((message) => message.method === 'notifications/cancelled' && message.params.requestId === asked.id)).toBe(false);
    expect(clock.running).toBeLessThanOrEqual(1);
  });

  it('that are asked together are given up when one of them fails the call', async () => {
    const host = create(new FakeClock(), (ctx) =>
      Promise.all([ctx.sendRequest({ method: 'roots/list' }), ctx.sendRequest({ method: 'roots/list' })]),
    );
    await host.initialize('2025-11-25', { roots: {} });
    const failed = host.request('tools/call', { name: 'run' });
    await new Promise((resolve) => setImmediate(resolve));
    const [one, other] = host.sent;
    await host.receive({ id: one.id, error: { code: -1, message: 'no' } });
    expect((await failed).result.content[0].text).toBe('ERR_REMOTE');
    expect(host.sent.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: other.id }, on: 'call' });
  });

  it('never have the same id', async () => {
    const host = create(new FakeClock(), (ctx) =>
      Promise.all([ctx.sendRequest({ method: 'roots/list' }), ctx.sendRequest({ method: 'roots/list' })]),
    );
    await host.initialize('2025-11-25', { roots: {} });
    void host.request('tools/call', { name: 'run' });
    void host.request('tools/call', { name: 'run' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(new Set(host.sent.map((message) => message.id)).size).toBe(4);
  });
});

describe('saved state', () => {
  it.each([{ layout: 2 }, { layout: 1, revision: '1999-01-01' }, { layout: 1, revision: '2026-07-28' }] as SessionState[])(
    '%j is refused',
    (saved) => {
      expect(() => new Host(createCalculator(), { saved })).toThrow(expect.objectContaining({ code: 'ERR_PROTOCOL', rpcCode: -32602 }));
    },
  );

  it('of a session before initialize opens one that waits for it', async () => {
    const saved = new Host(createCalculator()).session.state;
    const host = new Host(createCalculator(), { saved });
    expect((await host.request('tools/list')).error.code).toBe(-32602);
    expect((await host.initialize('2025-06-18')).result.protocolVersion).toBe('2025-06-18');
  });
});
