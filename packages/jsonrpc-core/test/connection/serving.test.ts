import { describe, expect, it, vi } from 'vitest';
import {
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  ProtocolError,
  RemoteError,
  type Transport,
} from '../../src/index.ts';
import type { MessageInfo } from '../../src/transport.ts';
import { Connection, type InboundCall } from '../../src/connection.ts';
import {
  batching,
  connectPair,
  connectToRawPeer,
  defer,
  errorOf,
  notification,
  outcomeOf,
  request,
  result,
  turn,
} from '../support/raw-peer.ts';

const cycle: Record<string, unknown> = {};
cycle['self'] = cycle;

/** A transport that takes everything at once. */
class RawWire implements Transport {
  onmessage?: Transport['onmessage'];
  readonly sent: unknown[] = [];
  start = (): Promise<void> => Promise.resolve();
  close = (): Promise<void> => Promise.resolve();
  send(message: unknown): Promise<void> {
    this.sent.push(message);
    return Promise.resolve();
  }
}

describe('requests that arrive', () => {
  it.each([0, 1, -7, 2 ** 53 - 1, '', '1', 'ä\u2028'])('[BASE-004][BASE-008] are answered under their own id, %j', async (id) => {
    const { peer } = await connectToRawPeer({ onRequest: (message) => result(message.id, { ok: true }) });
    await peer.send(request(id));
    expect(peer.take()).toEqual([{ jsonrpc: '2.0', id, result: { ok: true } }]);
  });

  it('[ROBUSTNESS-3] keep 1 and "1" apart', async () => {
    const gates = new Map<unknown, ReturnType<typeof defer<JsonRpcResponse>>>();
    const { peer } = await connectToRawPeer({
      onRequest: ({ id }) => {
        const gate = defer<JsonRpcResponse>();
        gates.set(id, gate);
        return gate.promise;
      },
    });
    await peer.send(request(1), request('1'));
    gates.get('1')?.resolve(result('1', { text: true }));
    await turn();
    expect(peer.take()).toEqual([result('1', { text: true })]);
    gates.get(1)?.resolve(result(1, { number: true }));
    await turn();
    expect(peer.take()).toEqual([result(1, { number: true })]);
  });

  it('[ERR-001] are answered with -32601 when nobody serves them', async () => {
    const { peer } = await connectToRawPeer();
    await peer.send(request(5, 'no/such'));
    expect(peer.take()).toEqual([errorOf(5, -32601)]);
  });

  it('[ERR-001] are answered as a thrown ProtocolError says', async () => {
    const { peer, errors } = await connectToRawPeer({
      onRequest: async () => {
        await undefined;
        throw new ProtocolError(-32602, 'argument "a" must be a number', { path: ['a'] });
      },
    });
    await peer.send(request(5));
    expect(peer.take()).toEqual([
      { jsonrpc: '2.0', id: 5, error: { code: -32602, message: 'argument "a" must be a number', data: { path: ['a'] } } },
    ]);
    expect(errors).toEqual([]);
  });

  const failures: readonly (readonly [string, () => unknown])[] = [
    [
      'throws an error',
      () => {
        throw new Error('secret');
      },
    ],
    [
      'throws undefined',
      () => {
        throw undefined;
      },
    ],
    [
      'throws an object whose getters throw',
      () => {
        throw new Proxy(
          {},
          {
            get: () => {
              throw new Error('secret');
            },
          },
        );
      },
    ],
    [
      'throws a RemoteError',
      () => {
        throw new RemoteError({ code: 1, message: 'secret' });
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret'))],
    ['rejects with nothing', () => Promise.reject(undefined)],
    ['gives undefined', () => undefined],
    ['gives 42', () => 42],
    ['gives null', () => null],
    ['gives a function', () => () => undefined],
    ['gives no outcome', () => ({ jsonrpc: '2.0', id: 1 })],
    ['gives two outcomes', () => ({ ...result(1), error: { code: 1, message: 'a' } })],
    ['gives a result that is a number', () => ({ jsonrpc: '2.0', id: 1, result: 42 })],
    ['gives an error without a message', () => ({ jsonrpc: '2.0', id: 1, error: { code: 1 } })],
    ['answers another id', () => result(2)],
    ['answers the id as text', () => result('1')],
    [
      'gives an object that throws when read',
      () =>
        new Proxy(
          {},
          {
            getOwnPropertyDescriptor: () => {
              throw new Error('secret');
            },
          },
        ),
    ],
    ['gives a cycle', () => result(1, cycle as JsonObject)],
    ['gives a BigInt', () => result(1, { n: 1n as unknown as number })],
    ['gives a date', () => result(1, new Date(0) as unknown as JsonObject)],
    [
      'throws a ProtocolError with data that JSON cannot carry',
      () => {
        throw new ProtocolError(1, 'a', cycle as JsonObject);
      },
    ],
  ];

  it.each(failures.flatMap(([what, fail]) => [[what, fail, 'at once'] as const, [what, fail, 'later'] as const]))(
    '[ROBUSTNESS-4] are answered once with -32603 when the handler %s (%s%s)',
    async (_what, fail, when) => {
      const { peer, errors } = await connectToRawPeer(
        {
          onRequest: (message) => {
            if (message.method === 'fine') return result(message.id);
            return (when === 'later' ? Promise.resolve().then(fail) : fail()) as JsonRpcResponse;
          },
        },
        { passBy: 'json' },
      );
      await peer.send(request(1), request(3, 'fine'));
      const answers = peer.take() as JsonRpcResponse[];
      expect(answers).toHaveLength(2);
      expect(answers).toContainEqual(errorOf(1, -32603));
      expect(answers).toContainEqual(result(3));
      expect(JSON.stringify(answers)).not.toContain('secret');
      expect(errors).not.toHaveLength(0);
    },
  );

  it('[ROBUSTNESS-4] are answered once when a thenable settles twice', async () => {
    const { connection, peer } = await connectToRawPeer({
      onRequest: ({ id }) => {
        const thenable = {
          then(resolve: (response: JsonRpcResponse) => void, reject: (error: Error) => void): void {
            resolve(result(id, { first: true }));
            resolve(result(id, { second: true }));
            reject(new Error('late'));
          },
        };
        return thenable as Promise<JsonRpcResponse>;
      },
    });
    await peer.send(request(1));
    expect(peer.take()).toEqual([result(1, { first: true })]);
    expect(connection.inFlight.inbound).toBe(0);
  });

  it('[ROBUSTNESS-3] are refused with -32600 when their id is in flight, and the first is unaffected', async () => {
    const gate = defer<JsonRpcResponse>();
    const onRequest = vi.fn(() => gate.promise);
    const { peer } = await connectToRawPeer({ onRequest });
    await peer.send(request('a'), request('a'));
    expect(peer.take()).toEqual([errorOf('a', -32600)]);
    gate.resolve(result('a', { first: true }));
    await turn();
    expect(peer.take()).toEqual([result('a', { first: true })]);
    expect(onRequest).toHaveBeenCalledTimes(1);
  });

  it('[BASE-007] may use an id again once it is answered', async () => {
    const { peer } = await connectToRawPeer({ onRequest: async ({ id }) => result(id) });
    await peer.send(request(1));
    await peer.send(request(1));
    expect(peer.take()).toEqual([result(1), result(1)]);
  });

  it('[ROBUSTNESS-7] are refused beyond the bound, each with an answer', async () => {
    const gates: ReturnType<typeof defer<JsonRpcResponse>>[] = [];
    const { connection, peer } = await connectToRawPeer({
      onRequest: () => {
        const gate = defer<JsonRpcResponse>();
        gates.push(gate);
        return gate.promise;
      },
    });
    await peer.send(...Array.from({ length: 10_001 }, (_, id) => request(id)));
    expect(peer.take()).toEqual([errorOf(10_000, -32603)]);
    expect(connection.inFlight.inbound).toBe(10_000);
    gates[0]?.resolve(result(0));
    await turn();
    await peer.send(request('one more'));
    expect(peer.take()).toEqual([result(0)]);
    expect(gates).toHaveLength(10_001);
  });

  it('[ROBUSTNESS-7] do not start new work while cancelled handlers still run', async () => {
    const { peer } = await connectToRawPeer({ onRequest: () => new Promise(() => undefined) });
    for (let id = 0; id < 10_000; id++) await peer.transport.send(request(id) as JsonRpcRequest);
    await peer.send(notification('notifications/cancelled', { requestId: 1 }), request('one more'));
    expect(peer.take()).toEqual([errorOf('one more', -32603)]);
  });

  it('[ROBUSTNESS-7] are refused beyond the bound of bytes, while all else is still heard; a duplicate and a cancelled one count on', async () => {
    const gates = new Map<unknown, ReturnType<typeof defer<JsonRpcResponse>>>();
    const { connection, peer } = await connectToRawPeer(
      {
        maxInFlightBytes: 250,
        onRequest: ({ id }) => {
          const gate = defer<JsonRpcResponse>();
          gates.set(id, gate);
          return gate.promise;
        },
      },
      { info: { bytes: 100 } },
    );
    await peer.send(request(1), request(2), request(1), notification('notifications/cancelled', { requestId: 2 }), request(3));
    expect(connection.inFlightBytes).toBe(200);
    const [duplicate, refused] = peer.take() as { id: unknown; error: { message: string } }[];
    expect([duplicate?.id, refused?.id]).toEqual([1, 3]);
    expect(refused?.error.message).toMatch(/maxInFlightBytes is 250/);
    gates.get(2)?.resolve(result(2));
    await turn();
    await peer.send(request(4));
    expect([peer.take(), connection.inFlightBytes]).toEqual([[], 200]);
    for (const [id, gate] of gates) gate.resolve(result(id as number));
    await turn();
    expect([peer.take(), connection.inFlightBytes]).toEqual([[result(1), result(4)], 0]);
  });

  it('[ROBUSTNESS-7] are refused while too many bytes of answers lie unread, and one of any size is served alone', async () => {
    const [near, far] = [new RawWire(), { bytes: 100, unreadBytes: 200 }];
    const connection = new Connection(near, { maxInFlightBytes: 250, onRequest: ({ id }) => result(id) });
    await connection.start();
    near.onmessage?.(request(1) as JsonRpcRequest, far);
    near.onmessage?.(request(2) as JsonRpcRequest, { bytes: 1000 });
    expect(near.sent).toEqual([errorOf(1, -32603), result(2)]);
    await connection.close();
  });

  it('[ROBUSTNESS-7] in a refused batch count nothing, and those in an accepted one what each is, so that small ones are no part of a large one', async () => {
    const rules = { ...batching, isBatchingOn: false };
    const gate = defer<undefined>();
    const { connection, peer } = await connectToRawPeer(
      { rules, onRequest: ({ id }) => gate.promise.then(() => result(id)) },
      { info: { bytes: 3000 } },
    );
    const long = request(1, 'work', { text: 'x'.repeat(2000) });
    const answer = { ...result(3), result: { text: 'x'.repeat(2000) } };
    await peer.send([long, request(2), answer]);
    expect([peer.take(), connection.inFlightBytes]).toEqual([[errorOf(null, -32600)], 0]);
    rules.isBatchingOn = true;
    await peer.send([request(2), long, answer]);
    expect(connection.inFlightBytes).toBe(JSON.stringify(long).length);
    gate.resolve(undefined);
    await turn();
    expect([peer.take(), connection.inFlightBytes]).toEqual([[[result(2), result(1)]], 0]);
  });

  it('[ROBUSTNESS-7] end the connection when the peer asks on and on and never reads', async () => {
    const transport: Transport = {
      start: () => Promise.resolve(),
      send: () => new Promise<void>(() => undefined),
      close: () => Promise.resolve(),
    };
    const errors: string[] = [];
    const connection = new Connection(transport, {
      onRequest: ({ id }) => result(id),
      onError: (error) => errors.push(error.message),
    });
    await connection.start();
    for (let id = 0; id < 30_000; id++) transport.onmessage?.(request(id) as JsonRpcRequest);
    await connection.closed;
    expect(errors).toEqual([expect.stringContaining('does not read')]);
  });

  it('[ROBUSTNESS-7] in a batch count for what each is, though the others are answered', async () => {
    const { connection, peer } = await connectToRawPeer(
      { rules: batching, onRequest: ({ id }) => (id === 0 ? new Promise<undefined>(() => undefined) : result(id)) },
      { info: { bytes: 720_000 } },
    );
    await peer.send([request(0, 'work', { x: 'x'.repeat(560_000) }), ...Array.from({ length: 9 }, (_, n) => request(n + 1))]);
    expect(connection.inFlightBytes).toBeGreaterThan(560_000);
  });

  it('hand the handler what the transport knew', async () => {
    const seen: (MessageInfo | undefined)[] = [];
    const info: MessageInfo = { principal: 'local', auth: { scopes: ['a'] } };
    const { peer } = await connectToRawPeer(
      {
        onRequest: ({ id }, call) => {
          seen.push(call.info);
          return result(id);
        },
        onNotification: (_notification, given) => {
          seen.push(given);
        },
      },
      { info },
    );
    await peer.send(request(1), notification('a'));
    expect(seen).toEqual([info, info]);
  });
});

describe('what a handler sends', () => {
  it('goes out as belonging to its request, before the answer, and nothing after it', async () => {
    let kept: InboundCall | undefined;
    const { peer } = await connectToRawPeer({
      onRequest: async (message, call) => {
        kept = call;
        await call.notify('notifications/message', { data: 1 });
        expect(call.isSettled).toBe(false);
        return result(message.id);
      },
    });
    await peer.send(request(1));
    expect(kept?.isSettled).toBe(true);
    expect(kept?.isCancelled).toBe(false);
    await kept?.notify('notifications/message', { data: 2 });
    await turn();
    expect(peer.take()).toEqual([notification('notifications/message', { data: 1 }), result(1)]);
  });

  it('[PROG-008] is dropped once the request is answered', async () => {
    let kept: InboundCall | undefined;
    const { peer } = await connectToRawPeer({
      onRequest: (message, call) => {
        kept = call;
        return result(message.id);
      },
    });
    await peer.send(request(1));
    await kept?.notify('notifications/progress', { progressToken: 1, progress: 2 });
    await turn();
    expect(peer.take()).toEqual([result(1)]);
  });

  it('[BASE-020] may be a request to the peer, answered while the call runs', async () => {
    const [client] = await connectPair(
      { onRequest: ({ id, method }) => result(id, { asked: method }) },
      { onRequest: async ({ id }, call) => result(id, await call.request('sampling/createMessage', { a: 1 })) },
    );
    expect(await client.request('tools/call')).toEqual({ asked: 'sampling/createMessage' });
  });

  it.each([{}, { signal: new AbortController().signal }])(
    'is cancelled with its call, whether it has a signal of its own or not (%j)',
    async (options) => {
      let reason: unknown;
      const { peer } = await connectToRawPeer({
        onRequest: async ({ id }, call) => {
          reason = await call.request('elicitation/create', {}, options).catch((error: unknown) => error);
          return result(id);
        },
      });
      await peer.send(request('c'));
      const { id } = peer.takeRequest();
      await peer.send(notification('notifications/cancelled', { requestId: 'c', reason: 'enough' }));
      expect(peer.take()).toEqual([
        notification('notifications/cancelled', { requestId: id, reason: expect.stringContaining('enough') as string }),
      ]);
      expect(reason).toMatchObject({ code: 'ERR_CANCELLED', reason: 'enough' });
    },
  );

  it('is cancelled by a signal of its own, while the call goes on', async () => {
    const own = new AbortController();
    const { peer } = await connectToRawPeer({
      onRequest: async ({ id }, call) => {
        const { error } = await outcomeOf(call.request('elicitation/create', {}, { signal: own.signal }));
        return result(id, { error: error as string, isCancelled: call.isCancelled });
      },
    });
    await peer.send(request('c'));
    peer.take();
    own.abort('changed my mind');
    await turn();
    expect(peer.take()).toEqual([
      notification('notifications/cancelled', { requestId: 1, reason: 'changed my mind' }),
      result('c', { error: 'changed my mind', isCancelled: false }),
    ]);
  });
});

describe('notifications that arrive', () => {
  it('[BASE-019] are told to the program and never answered, not even when it fails', async () => {
    const seen: JsonRpcNotification[] = [];
    const { peer, errors } = await connectToRawPeer({
      onNotification: (message) => {
        seen.push(message);
        throw new Error('handler failed');
      },
    });
    await peer.send(notification('a'), notification('b', { c: 1 }), notification('no/such'));
    expect(seen).toEqual([notification('a'), notification('b', { c: 1 }), notification('no/such')]);
    expect(errors.map(String)).toEqual(Array(3).fill('Error: handler failed'));
    expect(peer.take()).toEqual([]);
  });

  it('[BASE-019] are not answered when nobody listens or their params are wrong', async () => {
    const { peer, errors } = await connectToRawPeer();
    await peer.send(notification('a'), notification('b', [1]), notification('c', 'text'));
    expect(peer.take()).toEqual([]);
    expect(errors).toHaveLength(2);
  });

  it('[ROBUSTNESS-5] reject nowhere unheard when the callback is async', async () => {
    const { peer, errors } = await connectToRawPeer({
      onNotification: (async () => {
        throw new Error('late');
      }) as () => void,
    });
    await peer.send(notification('a'));
    expect(errors.map(String)).toEqual(['Error: late']);
  });

  const fail = (): never => {
    throw new Error('two');
  };
  it.each([
    ['onError throws', { onError: fail }],
    ['onError rejects', { onError: async () => fail() }],
  ])('[ROBUSTNESS-5] do no harm when %s too', async (_what, told) => {
    const { peer } = await connectToRawPeer({
      onRequest: ({ id }) => result(id),
      onNotification: () => {
        throw new Error('one');
      },
      ...told,
    });
    await peer.send(notification('a'), 'garbage', request(1));
    expect(peer.take()).toContainEqual(result(1));
  });
});
