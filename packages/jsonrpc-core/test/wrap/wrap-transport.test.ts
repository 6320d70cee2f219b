import { describe, expect, it } from 'vitest';
import { createInMemoryPair, type JsonRpcMessage, type JsonRpcNotification, type Transport } from '../../src/index.ts';
import {
  type ExchangeOptions,
  type ExchangeTransport,
  isExchangeTransport,
  isLegacyOpener,
  type LegacyOpener,
  silentLogger,
  type TransportFactory,
} from '../../src/transport.ts';
import { Connection } from '../../src/connection.ts';
import { type TransportHooks, withLogging, withMetrics, withReconnect, wrapTransport } from '../../src/wrap.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { defer, exchangeBy, outcomeOf, RawPeer, request, result, turn } from '../support/raw-peer.ts';

/** A transport with every ability, as a custom one may have them. */
class Able implements Transport, ExchangeTransport, LegacyOpener {
  onmessage?: ((message: JsonRpcMessage) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  readonly sent: JsonRpcMessage[] = [];
  exchange = exchangeBy(({ id }) => result(id)).exchange;
  starts = 0;
  #sessionId: string | undefined;
  #version = '';

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  get version(): string {
    return this.#version;
  }

  async start(): Promise<void> {
    this.starts++;
    this.#sessionId = 'session-1';
  }

  async send(message: JsonRpcMessage): Promise<void> {
    this.sent.push(message);
  }

  async close(): Promise<void> {
    this.onclose?.();
  }

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  async openLegacy(): Promise<Transport> {
    return new Able();
  }

  /** An ability that jsonrpc-core has never heard of. */
  attach(endpoint: string): string {
    return `${endpoint} at ${String(this.#sessionId)}`;
  }
}

describe('wrapTransport', () => {
  it('keeps every ability of the inner one within reach', async () => {
    const inner = new Able();
    const wrapped = wrapTransport(inner, {});
    expect(wrapped.sessionId).toBeUndefined();
    await wrapped.start();
    wrapped.setProtocolVersion('v');
    expect([wrapped.sessionId, wrapped.version, inner.version, wrapped.attach('x')]).toEqual(['session-1', 'v', 'v', 'x at session-1']);
    expect([isExchangeTransport(wrapped), isLegacyOpener(wrapped)]).toEqual([true, true]);
    expect(await wrapped.exchange({ jsonrpc: '2.0', id: 1, method: 'a' })).toEqual(result(1));
  });

  it('gives no ability that the inner one lacks', () => {
    const [near] = createInMemoryPair();
    const wrapped: Transport = wrapTransport(near, {});
    expect([isExchangeTransport(wrapped), isLegacyOpener(wrapped), wrapped.sessionId, wrapped.setProtocolVersion]).toEqual([
      false,
      false,
      undefined,
      undefined,
    ]);
  });

  it('lets hooks see, change, hold back and add messages both ways', async () => {
    const [near, far] = createInMemoryPair();
    const hooks: TransportHooks = {
      send: async (message, options, next) => {
        await next(message, options);
        await next({ jsonrpc: '2.0', method: 'added' });
      },
      receive: (message, info, next) => {
        if ((message as { method: string }).method !== 'dropped') next(Object.assign({ seen: true }, message), info);
      },
    };
    const wrapped = wrapTransport(near, hooks);
    const [here, there]: [unknown[], unknown[]] = [[], []];
    wrapped.onmessage = (message) => here.push(message);
    far.onmessage = (message) => there.push((message as { method: string }).method);
    await Promise.all([wrapped.start(), far.start()]);
    await wrapped.send({ jsonrpc: '2.0', method: 'a' });
    await far.send({ jsonrpc: '2.0', method: 'dropped' });
    await far.send({ jsonrpc: '2.0', method: 'b' });
    await turn();
    expect(there).toEqual(['a', 'added']);
    expect(here).toEqual([{ jsonrpc: '2.0', method: 'b', seen: true }]);
  });

  it('wraps exchanges and what openLegacy opens', async () => {
    const seen: string[] = [];
    const wrapped = wrapTransport(new Able(), {
      exchange: async (request, options, next) => {
        seen.push(`exchange ${request.method}`);
        return next({ ...request, id: 'changed' }, options);
      },
      send: (message, options, next) => {
        seen.push('send');
        return next(message, options);
      },
    });
    expect(await wrapped.exchange({ jsonrpc: '2.0', id: 1, method: 'a' })).toEqual(result('changed'));
    const legacy = await wrapped.openLegacy();
    await legacy.start();
    await legacy.send({ jsonrpc: '2.0', method: 'b' });
    expect(seen).toEqual(['exchange a', 'send']);
  });

  it.each(['withLogging', 'withMetrics', 'a hook that spreads'])(
    'hands on all that a caller is who is the options itself: %s',
    async (which) => {
      const told: unknown[] = [];
      const controller = new AbortController();
      class Caller implements ExchangeOptions {
        readonly headers = { a: 'b' };
        get signal(): AbortSignal {
          return controller.signal;
        }
        get onMessage(): (message: JsonRpcNotification) => void {
          return ({ method }) => told.push(method);
        }
        onAbort(listener: (reason: unknown) => void): void {
          controller.signal.addEventListener('abort', () => listener(controller.signal.reason));
        }
        pauseTimeout(): () => void {
          told.push('paused');
          return () => told.push('resumed');
        }
      }
      const inner = new Able();
      inner.exchange = async ({ id }, options) => {
        options?.onMessage?.({ jsonrpc: '2.0', method: 'seen' });
        options?.pauseTimeout?.()();
        options?.onAbort?.((reason) => told.push(reason));
        controller.abort('left');
        told.push(options?.headers, options?.signal === controller.signal);
        return result(id);
      };
      const meter = { count: () => undefined, record: () => undefined };
      const wrappers: Record<string, () => Able> = {
        withLogging: () => withLogging(inner, { logger: silentLogger }),
        withMetrics: () => withMetrics(inner, { meter }),
        'a hook that spreads': () => wrapTransport(inner, { exchange: (request, options, next) => next(request, { ...options }) }),
      };
      await wrappers[which]?.().exchange({ jsonrpc: '2.0', id: 1, method: 'a' }, new Caller());
      expect(told).toEqual(['seen', 'paused', 'resumed', 'left', { a: 'b' }, true]);
    },
  );

  it('wraps a factory, and an object that is both, with fresh hooks for each channel', async () => {
    let hooksMade = 0;
    const counted = (): TransportHooks => {
      hooksMade++;
      return {};
    };
    const made: Able[] = [];
    const make: TransportFactory = () => {
      const able = new Able();
      made.push(able);
      return able;
    };
    const both = Object.assign(() => make(), { send: async () => undefined, start: async () => undefined, close: async () => undefined });
    const wrapped: Transport & TransportFactory = wrapTransport(both as Transport & TransportFactory, counted);
    await wrapped.send({ jsonrpc: '2.0', method: 'a' });
    const [one, other] = [wrapped(), wrapped()];
    await one.start();
    expect(one).not.toBe(other);
    expect([made.length, made[0]?.starts, made[1]?.starts, hooksMade]).toEqual([2, 1, 0, 3]);
  });

  it('works under a Connection, calls what the program had set on the inner one, and gives it back', async () => {
    const [near, far] = createInMemoryPair();
    const seen: string[] = [];
    const own = (): void => void seen.push('own');
    near.onclose = own;
    const wrapped = wrapTransport(near, {
      error: (error, next) => {
        seen.push('hook');
        next(error);
      },
      close: (next) => {
        seen.push('hook close');
        next();
      },
    });
    const connection = new Connection(wrapped, { onError: ({ message }) => seen.push(message) });
    void connection.closed.then(() => seen.push('closed'));
    await connection.start();
    near.onerror?.(new Error('e'));
    await far.close();
    await connection.closed;
    expect(seen).toEqual(['hook', 'e', 'own', 'hook close', 'closed']);
    expect([near.onclose, near.onmessage]).toEqual([own, undefined]);
  });
});

describe('withLogging', () => {
  it('[ROBUSTNESS-14] names kinds, methods and ids, and no payload', async () => {
    const lines: string[] = [];
    const [near, far] = createInMemoryPair();
    const wrapped = withLogging(near, { logger: { log: (level, text) => lines.push(`${level} ${text}`) }, label: 'memory' });
    wrapped.onerror = () => undefined;
    await Promise.all([wrapped.start(), far.start()]);
    await wrapped.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { token: 'hunter2' } });
    await wrapped.send({ jsonrpc: '2.0', method: 'a\nb' });
    await far.send({ jsonrpc: '2.0', id: 1, error: { code: 5, message: 'hunter2' } });
    await far.send(result('x', { secret: 'hunter2' }));
    await far.send([result(1)] as unknown as JsonRpcMessage);
    await far.send('hunter2' as unknown as JsonRpcMessage);
    await turn();
    near.onerror?.(new Error('EPIPE'));
    await wrapped.close();
    expect(lines).toEqual([
      'debug memory -> request 1 "tools/call"',
      'debug memory -> notification "a\\nb"',
      'debug memory <- response 1 error 5',
      'debug memory <- response "x"',
      'debug memory <- batch of 1',
      'debug memory <- something that is not a message',
      'warning memory error: EPIPE',
      'debug memory closed',
    ]);
  });

  it('names exchanges and their notifications', async () => {
    const lines: string[] = [];
    const inner = Object.assign(
      new Able(),
      exchangeBy(({ id }, call) => {
        call.onMessage?.({ jsonrpc: '2.0', method: 'notifications/progress' });
        return result(id);
      }),
    );
    const seen: unknown[] = [];
    const wrapped = withLogging(inner, { logger: { log: (_level, text) => lines.push(text) } });
    await wrapped.exchange({ jsonrpc: '2.0', id: 1, method: 'a' }, { onMessage: (message) => seen.push(message.method) });
    expect(lines).toEqual(['transport -> request 1 "a"', 'transport <- notification "notifications/progress"', 'transport <- response 1']);
    expect(seen).toEqual(['notifications/progress']);
  });
});

describe('withMetrics', () => {
  it('counts by direction and kind, and times the requests that are sent', async () => {
    const clock = new FakeClock();
    const counts: string[] = [];
    const times: unknown[] = [];
    const meter = {
      count: (name: string, _value: number, attributes: object = {}) =>
        counts.push([name, ...Object.values(attributes).slice(1)].join(' ')),
      record: (name: string, value: number, attributes?: object) => times.push([name, value, attributes]),
    };
    const gate = defer<undefined>();
    const [near, far] = createInMemoryPair();
    const client = new Connection(withMetrics(near, { meter, clock, label: 'm' }));
    const server = new Connection(far, {
      onRequest: async ({ id, method }) => {
        if (method === 'slow') await gate.promise;
        return method === 'bad' ? { jsonrpc: '2.0', id, error: { code: 1, message: 'a' } } : result(id);
      },
    });
    await Promise.all([client.start(), server.start()]);
    const slow = client.request('slow');
    const given = new AbortController();
    const left = outcomeOf(client.request('left', {}, { signal: given.signal }));
    given.abort('enough');
    await left;
    await outcomeOf(client.request('bad'));
    clock.advance(40);
    gate.resolve(undefined);
    await slow;
    near.onerror?.(new Error('a'));
    await client.close();
    const sent = 'mcp.transport.messages out';
    expect(counts).toEqual([
      `${sent} request`,
      `${sent} request`,
      `${sent} notification`,
      `${sent} request`,
      'mcp.transport.messages in response',
      'mcp.transport.messages in response',
      'mcp.transport.errors',
      'mcp.transport.closes',
    ]);
    expect(times).toEqual([
      ['mcp.transport.request_duration_ms', 0, { transport: 'm', method: 'bad', outcome: 'error' }],
      ['mcp.transport.request_duration_ms', 40, { transport: 'm', method: 'slow', outcome: 'ok' }],
    ]);
  });

  it('times exchanges with equal ids each by itself', async () => {
    const clock = new FakeClock();
    const times: unknown[] = [];
    const gates = [defer<undefined>(), defer<undefined>()];
    let calls = 0;
    const inner = Object.assign(
      new Able(),
      exchangeBy(async ({ id }) => {
        await gates[calls++]?.promise;
        return result(id);
      }),
    );
    const meter = {
      count: () => undefined,
      record: (_name: string, value: number, attributes?: object) => times.push([value, attributes]),
    };
    const wrapped = withMetrics(inner, { meter, clock });
    const request = { jsonrpc: '2.0', id: 1, method: 'a' } as const;
    const answers = [wrapped.exchange(request), wrapped.exchange(request)];
    clock.advance(5);
    gates[1]?.resolve(undefined);
    await answers[1];
    clock.advance(5);
    gates[0]?.resolve(undefined);
    await answers[0];
    await outcomeOf(wrapped.exchange(request, { signal: AbortSignal.abort() }));
    expect(times).toEqual([
      [5, { transport: 'transport', method: 'a', outcome: 'ok' }],
      [10, { transport: 'transport', method: 'a', outcome: 'ok' }],
      [0, { transport: 'transport', method: 'a', outcome: 'failed' }],
    ]);
  });
});

describe('a callback that the program set on the transport inside', () => {
  it.each([
    ['withLogging', (inner: Transport): Transport => withLogging(inner, { logger: silentLogger })],
    ['wrapTransport', (inner: Transport): Transport => wrapTransport(inner, {})],
    ['withReconnect', (inner: Transport): Transport => withReconnect(() => inner)],
  ])('is not taken for a fault of the peer when it throws a SyntaxError, behind %s', async (_name, wrap) => {
    const [near, far] = createInMemoryPair();
    const own = new SyntaxError('own');
    near.onmessage = (): never => {
      throw own;
    };
    const errors: Error[] = [];
    const connection = new Connection(wrap(near), { onRequest: ({ id }) => result(id), onError: (error) => errors.push(error) });
    const peer = new RawPeer(far);
    await Promise.all([connection.start(), far.start()]);
    await peer.send(request(1));
    expect(peer.take()).toEqual([result(1)]);
    expect(errors).toMatchObject([{ cause: own }]);
    await connection.close();
  });
});
