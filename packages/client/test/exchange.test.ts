/** A client whose transport makes exchanges, as HTTP's does: the era by its facts, and each request by itself. */

import {
  ConnectionClosedError,
  createInMemoryPair,
  ExchangeHttpError,
  type JsonObject,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Transport,
} from '@mortise/jsonrpc-core';
import type { ExchangeOptions, ExchangeTransport, LegacyOpener } from '@mortise/jsonrpc-core/transport';
import { NEWEST, NEWEST_LEGACY } from '@mortise/protocol';
import { META_SUBSCRIPTION_ID } from '@mortise/protocol/wire';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClientOptions, McpClient } from '../src/index.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { allCapabilities, complete, info, legacyScript, ScriptedServer } from './scripted-server.ts';

type Answer = (request: JsonRpcRequest, options: ExchangeOptions) => JsonObject | Promise<JsonObject>;

const open: McpClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

/** An exchange transport that is answered by functions: what they give is the response but for its id. */
class FakeHttp implements ExchangeTransport, LegacyOpener {
  readonly requests: JsonRpcRequest[] = [];
  readonly options: ExchangeOptions[] = [];
  readonly legacy = new ScriptedServer(legacyScript(NEWEST_LEGACY.version));
  starts = 0;
  closes = 0;
  answers: Readonly<Record<string, Answer>>;

  constructor(answers: Readonly<Record<string, Answer>>) {
    this.answers = answers;
  }

  async exchange(request: JsonRpcRequest, options: ExchangeOptions = {}): Promise<JsonRpcResponse> {
    this.requests.push(request);
    this.options.push(options);
    const answer = await (this.answers[request.method] ?? (() => ({ error: { code: -32601, message: 'no' } })))(request, options);
    return { jsonrpc: '2.0', id: request.id, ...answer } as JsonRpcResponse;
  }

  openLegacy(): Promise<Transport> {
    return Promise.resolve(this.legacy.factory());
  }

  start(): Promise<void> {
    this.starts += 1;
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.closes += 1;
    return Promise.resolve();
  }

  get methods(): string[] {
    return this.requests.map(({ method }) => method);
  }
}

const discovery = {
  result: { resultType: 'complete', supportedVersions: [NEWEST.version], capabilities: allCapabilities, ttlMs: 0, cacheScope: 'private' },
};
const modern = (rest: Readonly<Record<string, Answer>> = {}): FakeHttp => new FakeHttp({ 'server/discover': () => discovery, ...rest });

async function connect(http: FakeHttp, options: ClientOptions = {}): Promise<McpClient> {
  const client = await McpClient.connect(http, info, options);
  open.push(client);
  return client;
}

function failing(status: number, rpcError?: { code: number; message: string; data?: JsonObject }): Answer {
  return () => {
    throw new ExchangeHttpError(`HTTP status ${status}`, { status, ...(rpcError && { rpcError }) });
  };
}

describe('the era over exchanges', () => {
  it('[ERA-013] begins with a modern request', async () => {
    const http = modern();
    const client = await connect(http);
    expect(http.methods).toEqual(['server/discover']);
    expect(client.era).toBe('modern');
    expect(http.starts).toBe(1);
    await client.close();
    expect(http.closes).toBe(1);
  });

  it.each([400, 404, 405, 406, 410, 415, 422])('[ERA-016] is legacy where the status is %d and the body says nothing', async (status) => {
    const http = new FakeHttp({ 'server/discover': failing(status) });
    const client = await connect(http);
    expect(client.era).toBe('legacy');
    expect(http.legacy.methods).toEqual(['initialize', 'notifications/initialized']);
  });

  it.each([-32601, -32602, -32000, -32001])(
    '[ERA-014][ERA-016] is legacy where the body has the error %d, whatever the status',
    async (code) => {
      for (const status of [400, 404]) {
        const client = await connect(new FakeHttp({ 'server/discover': failing(status, { code, message: 'm' }) }));
        expect(client.era).toBe('legacy');
      }
    },
  );

  it.each([{ error: { code: -32601, message: 'no' } }, { result: {} }, { result: { tools: [] } }])(
    '[ERA-017] is legacy where status 200 brings %j',
    async (answer) => {
      const client = await connect(new FakeHttp({ 'server/discover': () => answer }));
      expect(client.era).toBe('legacy');
    },
  );

  it('[ERA-014][ERA-015] is modern where a 400 brings a modern error, and another version is tried', async () => {
    const next = { ...NEWEST, version: '2027-03-01' };
    const http = new FakeHttp({
      'server/discover': (request, options) =>
        JSON.stringify(request).includes(next.version)
          ? failing(400, { code: -32022, message: 'v', data: { supported: [NEWEST.version], requested: next.version } })(request, options)
          : discovery,
    });
    const client = await connect(http, { revisions: [next, NEWEST, NEWEST_LEGACY] });
    expect(client.protocolVersion).toBe(NEWEST.version);
    expect(http.methods).toEqual(['server/discover', 'server/discover']);
    expect(http.legacy.starts).toBe(0);
  });

  it.each([-32020, -32021])('[ERA-015] never falls back from the modern error %d', async (code) => {
    const http = new FakeHttp({ 'server/discover': failing(400, { code, message: 'm' }) });
    await expect(connect(http)).rejects.toMatchObject({ rpcCode: code });
    expect(http.legacy.starts).toBe(0);
  });

  it.each([401, 403, 407, 408, 429, 500, 502, 503])('[ERA-019] is not concluded from the status %d, which is surfaced', async (status) => {
    const eraMemory = new Map();
    const http = new FakeHttp({ 'server/discover': failing(status) });
    await expect(connect(Object.assign(http, { eraKey: 'k' }), { eraMemory })).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status });
    expect(http.legacy.starts).toBe(0);
    expect(eraMemory.get('k')).toBeUndefined();
  });

  it('[ERA-019] is not concluded from a 401 although its body looks legacy', async () => {
    const http = new FakeHttp({ 'server/discover': failing(401, { code: -32001, message: 'Unauthorized' }) });
    await expect(connect(http)).rejects.toMatchObject({ status: 401 });
  });

  it('is not blamed by a client that is pinned to the modern one, where no server is at the address, or one that fails', async () => {
    const html = { 'content-type': 'text/html; charset=utf-8' };
    const pages = [
      new ExchangeHttpError('page', { status: 405, headers: html }),
      new ExchangeHttpError('nothing', { status: 404 }),
      new ExchangeHttpError('path', { status: 404, rpcError: { code: -32600, message: 'path' } }),
      new ExchangeHttpError('fault', { status: 500, rpcError: { code: -32603, message: 'Internal error' } }),
    ];
    for (const page of pages) {
      const http = new FakeHttp({ 'server/discover': () => Promise.reject(page) });
      await expect(connect(http, { era: 'modern' })).rejects.toBe(page);
    }
  });

  it.each([
    [400, { code: -32000, message: 'Bad Request: No valid session ID provided' }],
    [404, { code: -32601, message: 'Method not found' }],
    [405, undefined],
  ])('is named, with what was answered, to a client that is pinned to the modern one: %i %j', async (status, rpcError) => {
    const http = new FakeHttp({ 'server/discover': failing(status, rpcError) });
    await expect(connect(http, { era: 'modern' })).rejects.toMatchObject({
      code: 'ERR_UNSUPPORTED_VERSION',
      message: expect.stringMatching(new RegExp(`leave out the option "era" .*\\. It answered: HTTP status ${status}$`)),
      cause: { code: 'ERR_EXCHANGE_HTTP', status },
    });
  });

  it('is remembered, and found out anew when the legacy channel cannot be opened any more', async () => {
    const eraMemory = new Map();
    const options = { eraMemory };
    const eraKey = 'https://x.example/mcp';
    const http = Object.assign(new FakeHttp({ 'server/discover': failing(404) }), { eraKey });
    await connect(http, options);
    await connect(http, options);
    expect(http.methods).toEqual(['server/discover']);
    http.legacy.script = { initialize: () => ({ error: { code: -32601, message: 'gone modern' } }) };
    http.answers = { 'server/discover': () => discovery };
    const client = await connect(http, options);
    expect(client.era).toBe('modern');
    expect(eraMemory.get(eraKey)).toMatchObject({ era: 'modern' });
  });

  it('that is legacy needs a transport that can open a channel', async () => {
    const bare: ExchangeTransport = { exchange: ({ id }) => Promise.resolve({ jsonrpc: '2.0', id, result: {} }) };
    await expect(McpClient.connect(bare, info)).rejects.toMatchObject({
      code: 'ERR_UNSUPPORTED_VERSION',
      message: expect.stringContaining('use another transport'),
    });
  });

  it('is not looked for where the client is pinned to the legacy one', async () => {
    const http = modern();
    expect((await connect(http, { era: 'legacy' })).era).toBe('legacy');
    expect(http.methods).toEqual([]);
  });
});

describe('an exchange', () => {
  it("carries the request with its _meta, a progress token and the caller's headers", async () => {
    const http = modern({ 'tools/call': () => complete(NEWEST, { content: [] }) as JsonObject });
    const client = await connect(http);
    await client.callTool('x', { a: 1 }, { headers: { 'x-tenant': 't' } });
    const request = http.requests.at(-1);
    expect(request?.params).toMatchObject({ name: 'x', arguments: { a: 1 }, _meta: { progressToken: request?.id } });
    expect(http.options.at(-1)?.headers).toEqual({ 'x-tenant': 't' });
  });

  it('gives each caller its own answer, however they overlap', async () => {
    const waiting: (() => void)[] = [];
    const http = modern({
      'tools/call': async ({ params }) => {
        await new Promise<void>((resolve) => waiting.push(resolve));
        return complete(NEWEST, { content: [{ type: 'text', text: String(params?.['name']) }] }) as JsonObject;
      },
    });
    const client = await connect(http);
    const calls = ['a', 'b', 'c'].map((name) => client.callTool(name));
    await new Promise((resolve) => setImmediate(resolve));
    for (const release of waiting.reverse()) release();
    expect((await Promise.all(calls)).map(({ content }) => (content[0] as { text: string }).text)).toEqual(['a', 'b', 'c']);
  });

  it('that is answered under another id is an error', async () => {
    const http = modern({ 'tools/list': () => ({ id: 'other', ...(complete(NEWEST, { tools: [] }) as JsonObject) }) });
    const client = await connect(http);
    await expect(client.listTools()).rejects.toMatchObject({ code: 'ERR_INVALID_RESPONSE' });
  });

  it('tells progress and other notifications, and nothing once it is over', async () => {
    let late: (() => void) | undefined;
    const http = modern({
      'tools/call': ({ id }, { onMessage }) => {
        const tell = (method: string, params: JsonObject): void => onMessage?.({ jsonrpc: '2.0', method, params });
        tell('notifications/progress', { progressToken: id, progress: 1, total: 2 });
        tell('notifications/progress', { progressToken: 'other', progress: 5 });
        tell('notifications/message', { level: 'info', data: 'm' });
        late = () => tell('notifications/progress', { progressToken: id, progress: 2 });
        return complete(NEWEST, { content: [] }) as JsonObject;
      },
    });
    const client = await connect(http);
    const [progress, logs]: [number[], unknown[]] = [[], []];
    client.onLog(({ data }) => logs.push(data));
    await client.callTool('x', {}, { onProgress: (step) => progress.push(step.progress) });
    late?.();
    expect(progress).toEqual([1]);
    expect(logs).toEqual(['m']);
  });

  it('that the caller gives up is aborted, with no message beside it', async () => {
    let signal: AbortSignal | undefined;
    const http = modern({
      'tools/call': (_request, options) => {
        signal = options.signal;
        return new Promise(() => undefined);
      },
    });
    const client = await connect(http);
    const controller = new AbortController();
    const call = client.callTool('x', {}, { signal: controller.signal });
    await new Promise((resolve) => setImmediate(resolve));
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toBe(reason);
    expect(http.methods).toEqual(['server/discover', 'tools/call']);
  });

  it('stands still for as long as the transport asks, such as while somebody signs in, and ends exactly that much later', async () => {
    const clock = new FakeClock();
    const resumes: (() => void)[] = [];
    const http = modern({
      'tools/call': (_request, options) => {
        for (let pause = 0; pause < 2; pause++) resumes.push(options.pauseTimeout?.() ?? expect.fail('no time to stop'));
        return new Promise(() => undefined);
      },
    });
    const client = await connect(http, { clock });
    let outcome: unknown = 'waiting';
    client.callTool('x', {}, { timeoutMs: 60_000, maxTimeoutMs: 60_000 }).catch((error: unknown) => (outcome = error));
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await settled();
    for (let minute = 0; minute < 60; minute++) clock.advance(61_000);
    resumes[0]?.();
    resumes[0]?.();
    clock.advance(1000);
    resumes[1]?.();
    clock.advance(59_999);
    await settled();
    expect(outcome).toBe('waiting');
    clock.advance(1);
    await settled();
    expect(outcome).toMatchObject({ code: 'ERR_TIMEOUT', timeoutMs: 60_000 });
    await client.close();
    expect(clock.running).toBe(0);
  });

  it('[TIME-005] ends though its transport never lets its time go on, after ten times the hard maximum', async () => {
    const clock = new FakeClock();
    const http = modern({
      'tools/call': (_request, options) => {
        options.pauseTimeout?.();
        return new Promise(() => undefined);
      },
    });
    const client = await connect(http, { clock, maxRequestTimeoutMs: 1_000_000 });
    let outcome: unknown = 'waiting';
    client.callTool('x', {}, { timeoutMs: 100 }).catch((error: unknown) => (outcome = error));
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await settled();
    clock.advance(9_999_999);
    await settled();
    expect(outcome).toBe('waiting');
    clock.advance(1);
    await settled();
    expect(outcome).toMatchObject({ code: 'ERR_TIMEOUT', timeoutMs: 1_000_000 });
  });

  it('outlives a user who signs in for two minutes, however small the hard maximum', async () => {
    const clock = new FakeClock();
    const http = modern({
      'tools/call': async (_request, options) => {
        const resume = options.pauseTimeout?.();
        clock.advance(120_000);
        resume?.();
        return { result: { resultType: 'complete', content: [{ type: 'text', text: 'signed in' }] } };
      },
    });
    const client = await connect(http, { clock, maxRequestTimeoutMs: 1000 });
    expect(await client.callTool('x', {}, { timeoutMs: 100 })).toMatchObject({ content: [{ text: 'signed in' }] });
  });

  it('that takes too long is aborted; progress gives it more time, up to the hard bound', async () => {
    const clock = new FakeClock();
    let tell: (progress: number) => void = () => undefined;
    const signals: (AbortSignal | undefined)[] = [];
    const http = modern({
      'tools/call': ({ id }, options) => {
        signals.push(options.signal);
        tell = (progress) =>
          options.onMessage?.({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: id, progress } });
        return new Promise(() => undefined);
      },
    });
    const client = await connect(http, { clock });
    const call = client.callTool('x', {}, { timeoutMs: 100, maxTimeoutMs: 250 });
    call.catch(() => undefined);
    for (const progress of [1, 2]) {
      clock.advance(90);
      tell(progress);
    }
    clock.advance(69);
    expect(signals[0]?.aborted).toBe(false);
    clock.advance(1);
    await expect(call).rejects.toMatchObject({ code: 'ERR_TIMEOUT', timeoutMs: 250 });
    expect(signals[0]?.aborted).toBe(true);
    await expect(client.callTool('x', {}, { timeoutMs: -1 })).rejects.toThrow('"timeoutMs" must be a number, 0 or more, got -1');
    await client.close();
    expect(clock.running).toBe(0);
  });

  it.each([
    { options: { timeoutMs: Infinity, maxTimeoutMs: 250 }, client: {}, boundMs: 250 },
    { options: { timeoutMs: 200 }, client: { maxRequestTimeoutMs: 250 }, boundMs: 250 },
    { options: {}, client: { maxRequestTimeoutMs: 250 }, boundMs: 250 },
  ])('that reaches its hard bound says which: %j', async ({ options, client: clientOptions, boundMs }) => {
    const clock = new FakeClock();
    clock.advance(10_000);
    let tell: () => void = () => undefined;
    const http = modern({
      'tools/call': ({ id }, { onMessage }) => {
        tell = () => onMessage?.({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: id, progress: 1 } });
        return new Promise(() => undefined);
      },
    });
    const client = await connect(http, { clock, ...clientOptions });
    let isOver = false;
    const call = client.callTool('x', {}, { onProgress: () => undefined, ...options }).finally(() => (isOver = true));
    call.catch(() => undefined);
    clock.advance(150);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).toBe(false);
    tell();
    clock.advance(100);
    await expect(call).rejects.toMatchObject({ code: 'ERR_TIMEOUT', timeoutMs: boundMs });
  });

  it('may share its signal with many others: one listener serves them all', async () => {
    const http = modern({ 'tools/call': () => new Promise(() => undefined) });
    const client = await connect(http);
    const controller = new AbortController();
    let listeners = 0;
    const add = controller.signal.addEventListener.bind(controller.signal);
    controller.signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    const calls = Array.from({ length: 20 }, () => client.callTool('x', {}, { signal: controller.signal }));
    const reason = new Error('enough');
    const outcomes = Promise.allSettled(calls);
    controller.abort(reason);
    for (const outcome of await outcomes) expect(outcome).toEqual({ status: 'rejected', reason });
    expect(listeners).toBe(1);
  });

  it('reports an async callback of progress that fails', async () => {
    const errors: Error[] = [];
    const http = modern({
      'tools/call': ({ id }, { onMessage }) => {
        onMessage?.({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: id, progress: 1 } });
        return complete(NEWEST, { content: [] }) as JsonObject;
      },
    });
    const client = await connect(http, { onError: (error) => errors.push(error) });
    await client.callTool('x', {}, { onProgress: () => Promise.reject(new Error('too late')) as unknown as undefined });
    expect(errors.map(({ message }) => message)).toEqual(['too late']);
  });

  it('makes no signal where nobody asks for one', async () => {
    const made: string[] = [];
    const http = modern({
      'tools/list': (_request, options) => {
        made.push(Object.hasOwn(options, 'signal') ? 'own' : 'lazy');
        return complete(NEWEST, { tools: [] }) as JsonObject;
      },
    });
    const client = await connect(http);
    await client.listTools();
    expect(made).toEqual(['lazy']);
  });

  it("that fails rejects with the transport's own error, thrown or rejected", async () => {
    const http = modern({
      'tools/list': failing(503),
      'prompts/list': () => Promise.reject(new ConnectionClosedError('the stream ended')),
    });
    const client = await connect(http);
    await expect(client.listTools()).rejects.toMatchObject({ status: 503 });
    await expect(client.listPrompts()).rejects.toThrow('the stream ended');
    http.exchange = () => {
      throw new Error('synchronous');
    };
    await expect(client.listTools()).rejects.toThrow('synchronous');
  });

  it("that is raw gives the response as it came, and leaves the caller's parameters alone", async () => {
    const error = { code: 7, message: 'm', data: [null] };
    const http = modern({ 'tools/call': () => ({ error }) });
    const client = await connect(http);
    const params = Object.freeze({ name: 'x', _meta: Object.freeze({ 'x.example/y': 1 }) });
    expect(await client.requestRaw('tools/call', params, { resetTimeoutOnProgress: true })).toMatchObject({ error });
    expect(params._meta).toEqual({ 'x.example/y': 1 });
  });

  it('is ended by closing the client', async () => {
    const http = modern({ 'tools/list': () => new Promise(() => undefined) });
    const client = await connect(http);
    const call = client.listTools();
    await client.close();
    await expect(call).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    await expect(client.listTools()).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
  });
});

describe('a subscription over exchanges', () => {
  function listening(): {
    http: FakeHttp;
    tell: (method: string, params?: JsonObject) => void;
    end: (outcome: JsonObject | Error) => void;
    signals: (AbortSignal | undefined)[];
  } {
    const state = {
      tell: (_method: string, _params?: JsonObject): void => undefined,
      end: (_outcome: JsonObject | Error): void => undefined,
      signals: [] as (AbortSignal | undefined)[],
    };
    const http = modern({
      'subscriptions/listen': ({ id, params }, options) => {
        state.signals.push(options.signal);
        state.tell = (method, more = {}) =>
          options.onMessage?.({ jsonrpc: '2.0', method, params: { ...more, _meta: { [META_SUBSCRIPTION_ID]: id } } });
        state.tell('notifications/subscriptions/acknowledged', { notifications: params?.['notifications'] ?? {} });
        return new Promise((resolve, reject) => {
          state.end = (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome));
        });
      },
    });
    return { http, signals: state.signals, tell: (method, params) => state.tell(method, params), end: (outcome) => state.end(outcome) };
  }

  it('delivers what its own stream brings and is ended by closing the stream', async () => {
    const { http, tell, signals } = listening();
    const client = await connect(http);
    const methods: string[] = [];
    for await (const { method } of client.listen({ toolsListChanged: true })) {
      methods.push(method);
      if (methods.length === 1) tell('notifications/tools/list_changed');
      else break;
    }
    expect(methods).toEqual(['notifications/subscriptions/acknowledged', 'notifications/tools/list_changed']);
    expect(signals[0]?.aborted).toBe(true);
    expect(http.methods).toEqual(['server/discover', 'subscriptions/listen']);
  });

  it.each([
    { how: 'a result', graceful: true },
    { how: 'a cancellation', graceful: false },
  ])('ends when the server says so by $how', async ({ graceful }) => {
    const { http, tell, end } = listening();
    const client = await connect(http);
    const subscription = client.listen({ toolsListChanged: true });
    await subscription.accepted;
    if (graceful) end({ result: { resultType: 'complete' } });
    else tell('notifications/cancelled', { requestId: http.requests.at(-1)?.id ?? 0 });
    const methods: string[] = [];
    for await (const { method } of subscription) methods.push(method);
    expect(methods).toEqual(['notifications/subscriptions/acknowledged']);
  });

  it('[SUB-015] is opened again when its stream breaks, after a pause', async () => {
    const clock = new FakeClock();
    const { http, end } = listening();
    const client = await connect(http, { clock });
    const events = client.listen({ toolsListChanged: true })[Symbol.asyncIterator]();
    await events.next();
    const again = events.next();
    end(new ConnectionClosedError('the stream ended'));
    while (http.methods.length < 3) {
      clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await again).value).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
  });
});

it('a client whose transport fails to close is closed all the same', async () => {
  const http = modern({});
  http.close = () => Promise.reject(new Error('busy'));
  const client = await McpClient.connect(http, info);
  await client.close();
  await client.closed;
});

it('an onerror of the program that throws does not keep an error from the client', async () => {
  const errors: Error[] = [];
  const http: ExchangeTransport & { onerror?: (error: Error) => void } = modern({});
  http.onerror = () => {
    throw new Error('of the program');
  };
  const client = await McpClient.connect(http, info, { onError: (error) => errors.push(error) });
  open.push(client);
  expect(() => http.onerror?.(new Error('lost'))).toThrow('of the program');
  expect(errors).toMatchObject([{ message: 'lost' }]);
});

it('a transport that is a channel too is used for exchanges', async () => {
  const [near] = createInMemoryPair();
  const http = modern({ 'tools/list': () => complete(NEWEST, { tools: [] }) as JsonObject });
  const both = Object.assign(near, { exchange: http.exchange.bind(http) });
  const client = await McpClient.connect(both, info);
  open.push(client);
  await client.listTools();
  expect(http.methods).toEqual(['server/discover', 'tools/list']);
});

it('a subscription whose exchange breaks is opened again, and says that changes went unseen', async () => {
  const clock = new FakeClock();
  let breaks = 0;
  const http = modern({
    'subscriptions/listen': ({ id }, { onMessage }) => {
      onMessage?.({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { toolsListChanged: true }, _meta: { [META_SUBSCRIPTION_ID]: id } },
      });
      breaks += 1;
      return breaks === 1 ? Promise.reject(new ConnectionClosedError('broken')) : new Promise<JsonObject>(() => undefined);
    },
  });
  const client = await connect(http, { clock });
  const reader = client.listen({ toolsListChanged: true })[Symbol.asyncIterator]();
  expect((await reader.next()).value).not.toHaveProperty('isAfterGap');
  const second = reader.next();
  while (http.methods.filter((method) => method === 'subscriptions/listen').length < 2) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(500);
  }
  expect((await second).value).toMatchObject({ method: 'notifications/subscriptions/acknowledged', isAfterGap: true });
  await reader.return?.();
});
