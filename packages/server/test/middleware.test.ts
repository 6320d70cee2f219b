import { describe, expect, it } from 'vitest';
import { ProtocolError, type JsonObject } from '@mortise/jsonrpc-core';
import { McpServer } from '@mortise/server';
import type { Middleware } from '@mortise/server/middleware';
import type { RawSession } from '@mortise/server/low-level';
import { ALL, type Loose, MODERN, RawPeer } from './raw-peer.ts';
import { createCalculator, defer, MemoryLogger } from './support.ts';

it("middleware of the program's own method, and of one that is not served yet, is taken", () => {
  const server = createCalculator();
  server.server.setRequestHandler('tool/call', () => ({}));
  for (const method of ['tool/call', 'prompts/get']) expect(server.use(method, (_call, next) => next())).toBe(server);
});

describe.each(ALL)('middleware in %s', (version) => {
  it('wraps every request in the order of use, for all methods and for one', async () => {
    const order: string[] = [];
    const note =
      (name: string): Middleware =>
      async (call, next) => {
        order.push(`${name} in ${call.method}`);
        const result = await next();
        order.push(`${name} out`);
        return result;
      };
    const server = createCalculator().use(note('all')).use('tools/call', note('call')).use(note('last'));
    const peer = await RawPeer.open(server, version);
    order.length = 0;
    await peer.callTool('add', { a: 1, b: 1 });
    expect(order).toEqual(['all in tools/call', 'call in tools/call', 'last in tools/call', 'last out', 'call out', 'all out']);
    order.length = 0;
    await peer.call('tools/list');
    expect(order).toEqual(['all in tools/list', 'last in tools/list', 'last out', 'all out']);
  });

  it('sees who calls what, in which revision', async () => {
    const seen: Loose[] = [];
    const server = createCalculator().use((call, next) => {
      if (call.method === 'tools/call') {
        const { method, target, principal, auth, era, client, meta, requestId } = call;
        seen.push({ method, target, principal, auth, era, version: call.revision.version, client, k: meta['com.example/k'], requestId });
      }
      return next();
    });
    const auth = { principal: 'ann', scopes: ['x'] };
    const peer = await RawPeer.open(server, version, { info: { principal: 'ann', auth }, capabilities: { sampling: {} } });
    await peer.request('tools/call', { name: 'add', arguments: { a: 1, b: 1 }, _meta: { 'com.example/k': 5 } }, 'my-id');
    expect(seen).toEqual([
      {
        method: 'tools/call',
        target: 'add',
        principal: 'ann',
        auth,
        era: version === MODERN ? 'modern' : 'legacy',
        version,
        client: { info: { name: 'raw-peer', version: '1.0.0' }, capabilities: { sampling: {} } },
        k: 5,
        requestId: 'my-id',
      },
    ]);
  });

  it('sees the session of a legacy client, and when it has ended', async () => {
    const sessions: (RawSession | undefined)[] = [];
    const server = createCalculator().use((call, next) => {
      sessions.push(call.session);
      return next();
    });
    const peer = await RawPeer.open(server, version);
    await peer.callTool('add', { a: 1, b: 1 });
    const [first] = sessions;
    expect(new Set(sessions).size).toBe(1);
    expect(first === undefined).toBe(version === MODERN);
    await server.close();
    await first?.closed;
  });

  it('may change params and results, answer by itself, or refuse', async () => {
    const server = createCalculator();
    server.use('tools/call', async (call, next) => {
      const args = call.params['arguments'] as JsonObject;
      if (args['a'] === 0) return { content: [{ type: 'text', text: 'from middleware' }] };
      if (args['a'] === -1) throw new ProtocolError(4030, 'not for you');
      const result = await next({ ...call.params, arguments: { ...args, b: 100 } });
      return { ...result, _meta: { 'com.example/seen': true } };
    });
    const peer = await RawPeer.open(server, version);
    const result = await peer.callTool('add', { a: 1, b: 1 });
    expect(JSON.parse(result.content[0].text)).toEqual({ sum: 101 });
    expect(result._meta['com.example/seen']).toBe(true);
    expect((await peer.callTool('add', { a: 0, b: 1 })).content[0].text).toBe('from middleware');
    expect((await peer.request('tools/call', { name: 'add', arguments: { a: -1, b: 1 } })).error).toEqual({
      code: 4030,
      message: 'not for you',
    });
  });

  it('is added while clients are connected', async () => {
    const server = createCalculator();
    const peer = await RawPeer.open(server, version);
    await peer.call('tools/list');
    server.use('tools/list', () => ({ tools: [] }));
    expect((await peer.call('tools/list')).tools).toEqual([]);
  });

  it('that fails costs one neutral answer', async () => {
    const server = createCalculator().use('tools/list', () => Promise.reject(new Error('inside')));
    const peer = await RawPeer.open(server, version);
    expect((await peer.request('tools/list')).error).toEqual({ code: -32603, message: 'Internal error' });
    expect((await peer.callTool('add', { a: 1, b: 1 })).content[0].text).toBe('{"sum":2}');
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['an array', []],
    ['a "_meta" that is not an object', { tools: [], _meta: 5 }],
    ['a "resultType" that is not a string', { tools: [], resultType: 5 }],
  ])('that forgets what next() gave is told of it in the log: %s', async (kind, given) => {
    const logger = new MemoryLogger();
    const server = createCalculator({ logger }).use('tools/list', async (_call, next) => (await next(), given) as never);
    const peer = await RawPeer.open(server, version);
    expect((await peer.request('tools/list')).error).toEqual({ code: -32603, message: 'Internal error' });
    expect(JSON.stringify(logger.lines, (_key, value: unknown) => (value instanceof Error ? value.message : value))).toContain(
      `gave ${kind.replaceAll('"', String.raw`\"`)}, which is not a result: return an object (in middleware, what next() gave)`,
    );
  });

  it('hands things on to handlers in state', async () => {
    const server = new McpServer({ name: 's', version: '1' });
    server.use((call, next) => {
      call.state.set('user', 'ann');
      return next();
    });
    server.registerTool('who', {}, (ctx) => String(ctx.state.get('user')));
    const peer = await RawPeer.open(server, version);
    expect((await peer.callTool('who')).content[0].text).toBe('ann');
  });
});

describe('the app context', () => {
  it.each(ALL)('is made once a request in %s, before middleware, and reaches middleware, rules and handlers', async (version) => {
    let made = 0;
    const server = new McpServer<Record<never, never>, { tenant: string }>(
      { name: 's', version: '1' },
      {
        context: async (call) => {
          made++;
          await Promise.resolve();
          return { tenant: call.principal };
        },
      },
    );
    const seen: string[] = [];
    server.use((call, next) => {
      seen.push(call.app.tenant);
      return next();
    });
    server.registerTool('tenant', { visible: ({ app }) => app?.tenant === 'acme' }, (ctx) => ctx.app.tenant);
    const acme = await RawPeer.open(server, version, { info: { principal: 'acme' } });
    const other = await RawPeer.open(server, version, { info: { principal: 'other' } });
    made = 0;
    seen.length = 0;
    expect((await acme.callTool('tenant')).content[0].text).toBe('acme');
    expect((await other.request('tools/call', { name: 'tenant' })).error?.code).toBe(-32602);
    expect(made).toBe(2);
    expect(seen).toEqual(['acme', 'other']);
  });

  it('that cannot be made answers the request with an error', async () => {
    const server = createCalculator({ context: () => Promise.reject(new ProtocolError(5030, 'no database')) });
    const peer = await RawPeer.open(server, MODERN);
    expect((await peer.request('tools/list')).error).toEqual({ code: 5030, message: 'no database' });
  });
});

describe('the context of a handler', () => {
  it('says whose call it is, and where it comes from', async () => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('all', {}, (ctx) =>
      JSON.stringify({
        principal: ctx.principal,
        same: ctx.auth === ctx.authInfo,
        id: ctx.requestId,
        era: ctx.era,
        session: ctx.sessionId ?? null,
        origin: ctx.origin?.url ?? null,
        aborted: ctx.signal.aborted,
      }),
    );
    const origin = { method: 'POST', url: 'https://example.com/mcp', header: () => undefined };
    const request: Loose = {
      jsonrpc: '2.0',
      id: 'x',
      method: 'tools/call',
      params: {
        name: 'all',
        _meta: { 'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientCapabilities': {} },
      },
    };
    const answer: Loose = await server.handle(request, {
      principal: 'ann',
      signal: new AbortController().signal,
      cancel: () => undefined,
      isCancelled: false,
      send: () => Promise.resolve(),
      origin,
    });
    expect(JSON.parse(answer.result.content[0].text)).toEqual({
      principal: 'ann',
      same: true,
      id: 'x',
      era: 'modern',
      session: null,
      origin: 'https://example.com/mcp',
      aborted: false,
    });
  });

  it('closes its stream early where the host can', async () => {
    const closed: (number | undefined)[] = [];
    const server = new McpServer({ name: 's', version: '1' });
    const gate = defer();
    server.registerTool('poll', {}, async (ctx) => {
      ctx.closeStream(500);
      await gate.promise;
      return 'later';
    });
    const state = server.openSession({ principal: 'ann', canRequest: true, send: () => Promise.resolve() });
    const call = {
      principal: 'ann',
      signal: new AbortController().signal,
      cancel: () => undefined,
      isCancelled: false,
      send: () => Promise.resolve(),
      closeStream: (retryMs?: number) => void closed.push(retryMs),
    };
    await state.receive(
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
      },
      call,
    );
    const answer = state.receive({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'poll' } }, call);
    gate.resolve();
    expect(await answer).toMatchObject({ result: { content: [{ text: 'later' }] } });
    expect(closed).toEqual([500]);
  });
});
