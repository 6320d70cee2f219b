import { describe, expect, it } from 'vitest';
import { ConnectionClosedError, createInMemoryPair, InvalidResponseError, type JsonRpcMessage, RemoteError } from '../../src/index.ts';
import { Connection } from '../../src/connection.ts';
import type { SendOptions } from '../../src/transport.ts';
import { batching, connectPair, connectToRawPeer, errorOf, notification, outcomeOf, request, result, turn } from '../support/raw-peer.ts';

describe('requests that are sent', () => {
  it('[BASE-001][BASE-004] carry version, id, method and params', async () => {
    const { connection, peer } = await connectToRawPeer();
    const answer = connection.request('tools/call', { name: 'add' }, { resetTimeoutOnProgress: false });
    await turn();
    expect(peer.take()).toEqual([{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add' } }]);
    await peer.send(result(1, { sum: 3, extra: { kept: true } }));
    expect(await answer).toEqual({ sum: 3, extra: { kept: true } });
  });

  it('[BASE-006][BASE-007] never use an id again, not even after the answer', async () => {
    const { connection, peer } = await connectToRawPeer();
    const ids = new Set<unknown>();
    for (let call = 0; call < 100; call++) {
      const answer = connection.request('ping');
      await turn();
      const { id } = peer.takeRequest();
      expect(Number.isSafeInteger(id)).toBe(true);
      ids.add(id);
      await peer.send(result(id));
      await answer;
    }
    expect(ids.size).toBe(100);
  });

  it('[BASE-008] are settled by the answer with their id, whatever the order', async () => {
    const { connection, peer } = await connectToRawPeer();
    const answers = [connection.request('a'), connection.request('b'), connection.request('c')];
    await turn();
    await peer.send(result(3, { to: 'c' }), result(1, { to: 'a' }), result(2, { to: 'b' }));
    expect(await Promise.all(answers)).toEqual([{ to: 'a' }, { to: 'b' }, { to: 'c' }]);
  });

  it('[ROBUSTNESS-3] are not settled by an answer whose id is the text of theirs', async () => {
    const { connection, peer, errors } = await connectToRawPeer();
    const answer = connection.request('a');
    await turn();
    await peer.send(result('1', { wrong: true }));
    expect(errors).toEqual([expect.any(InvalidResponseError)]);
    await peer.send(result(1, { right: true }));
    expect(await answer).toEqual({ right: true });
  });

  it('[BASE-011] reject with what the peer said', async () => {
    const { connection, peer } = await connectToRawPeer();
    const outcome = outcomeOf(connection.request('resources/read'));
    await turn();
    await peer.send({ jsonrpc: '2.0', id: 1, error: { code: -32002, message: 'not there', data: ['any', null] } });
    const { error } = await outcome;
    expect(error).toBeInstanceOf(RemoteError);
    expect(error).toMatchObject({ rpcCode: -32002, message: 'not there', data: ['any', null], method: 'resources/read' });
  });

  it('give a gateway the response as it came', async () => {
    const { connection, peer } = await connectToRawPeer();
    const answers = [connection.requests.requestRaw('a'), connection.requests.requestRaw('b')];
    await turn();
    const responses = [
      { jsonrpc: '2.0', id: 1, error: { code: 9, message: 'm', data: { opaque: 1 }, more: 2 }, beside: 3 },
      { jsonrpc: '2.0', id: 2, result: { opaque: 'x' }, beside: 4 },
    ];
    await peer.send(...responses);
    expect(await Promise.all(answers)).toEqual(responses);
  });

  it('leave the params of a gateway untouched where no progress is wanted', async () => {
    const { connection, peer } = await connectToRawPeer();
    const params = { _meta: { progressToken: 'theirs' }, opaque: [1] };
    void connection.requests.requestRaw('x/unknown', params, { resetTimeoutOnProgress: false }).catch(() => undefined);
    await turn();
    expect(peer.takeRequest().params).toBe(params);
  });

  it('[BASE-010] reject when the answer has both a result and an error', async () => {
    const { connection, peer, errors } = await connectToRawPeer();
    const outcome = outcomeOf(connection.request('a'));
    await turn();
    peer.take();
    await peer.send({ jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: 'a' } });
    expect(await outcome).toEqual({ error: expect.any(InvalidResponseError) });
    expect(errors).toHaveLength(1);
    expect(peer.take()).toEqual([]);
  });

  it.each([{ jsonrpc: '2.0', id: 1 }, { id: 1 }, { jsonrpc: '2.0', id: 1, Result: {} }])(
    '[ROBUSTNESS-4] reject when the answer has no outcome at all, and answer nothing: %j',
    async (bad) => {
      const { connection, peer } = await connectToRawPeer();
      const outcome = outcomeOf(connection.request('a'));
      await turn();
      peer.take();
      await peer.send(bad);
      expect(await outcome).toEqual({ error: expect.any(InvalidResponseError) });
      expect(peer.take()).toEqual([]);
      await peer.send(bad);
      expect(peer.take()).toEqual([errorOf(1, -32600)]);
    },
  );

  it.each([42, 'text', null, []])('[BASE-013] reject when the result is %j, and answer nothing', async (bad) => {
    const { connection, peer } = await connectToRawPeer();
    const outcome = outcomeOf(connection.request('a'));
    await turn();
    peer.take();
    await peer.send({ jsonrpc: '2.0', id: 1, result: bad });
    expect(await outcome).toEqual({ error: expect.any(InvalidResponseError) });
    expect(peer.take()).toEqual([]);
  });

  it('report an answer to nothing, ignore a second answer, and live on', async () => {
    const { connection, peer, errors } = await connectToRawPeer();
    const answer = connection.request('a');
    await turn();
    await peer.send(result(1, { first: true }), result(1, { second: true }), result(99), result('x'));
    expect(await answer).toEqual({ first: true });
    expect(errors.map((error) => error.constructor)).toEqual([InvalidResponseError, InvalidResponseError]);
    const next = connection.request('b');
    await turn();
    await peer.send(result(2));
    expect(await next).toEqual({});
  });

  it.each([[{ id: null }], [{}]])('[BASE-009] take an error answer with the id %j for a report', async (id) => {
    const { peer, errors } = await connectToRawPeer();
    await peer.send({ jsonrpc: '2.0', ...id, error: { code: -32700, message: 'Parse error' } });
    expect(errors).toEqual([expect.objectContaining({ code: 'ERR_REMOTE', rpcCode: -32700 })]);
    expect(peer.take()).toEqual([]);
  });

  it('[BASE-020] go in both directions at once, with equal ids', async () => {
    const answer = (who: string) => ({
      onRequest: ({ id, method }: { id: string | number; method: string }) => result(id, { who, method }),
    });
    const [one, other] = await connectPair(answer('one'), answer('other'));
    const answers = await Promise.all([one.request('a'), other.request('b'), one.request('c'), other.request('d')]);
    expect(answers).toEqual([
      { who: 'other', method: 'a' },
      { who: 'one', method: 'b' },
      { who: 'other', method: 'c' },
      { who: 'one', method: 'd' },
    ]);
  });

  it('[ROBUSTNESS-3] get their own answers, 10,000 with 500 in flight', async () => {
    const [one] = await connectPair(
      {},
      {
        onRequest: async ({ id, params }) => {
          for (let hops = Number(params?.['n']) % 5; hops > 0; hops--) await undefined;
          return result(id, { n: params?.['n'] });
        },
      },
    );
    let next = 0;
    let wrong = 0;
    await Promise.all(
      Array.from({ length: 500 }, async () => {
        while (next < 10_000) {
          const n = next++;
          if ((await one.request('echo', { n }))['n'] !== n) wrong++;
        }
      }),
    );
    expect(wrong).toBe(0);
    expect(one.inFlight).toEqual({ inbound: 0, outbound: 0 });
  });

  it('reject before start, and with a bad timeout', async () => {
    const [near] = createInMemoryPair();
    const connection = new Connection(near);
    await expect(connection.request('a')).rejects.toMatchObject({ code: 'ERR_NOT_CONNECTED' });
    await expect(connection.notify('a')).rejects.toMatchObject({ code: 'ERR_NOT_CONNECTED' });
    await connection.start();
    await expect(connection.request('a', undefined, { timeoutMs: -1 })).rejects.toBeInstanceOf(RangeError);
    await expect(connection.request('a', undefined, { maxTimeoutMs: Number.NaN })).rejects.toBeInstanceOf(RangeError);
    await connection.close();
  });

  it('reject when the transport cannot send them, and wait for nothing', async () => {
    const { connection, peer } = await connectToRawPeer({}, { passBy: 'json' });
    await expect(connection.request('a', { n: 1n as unknown as number })).rejects.toMatchObject({ code: 'ERR_SERIALIZE' });
    expect(connection.inFlight.outbound).toBe(0);
    expect(peer.take()).toEqual([]);
  });

  it('reject when a transport throws where it should reject', async () => {
    const transport = {
      start: () => Promise.resolve(),
      send: (): Promise<void> => {
        throw new Error('no way out');
      },
      close: () => Promise.resolve(),
    };
    const connection = new Connection(transport);
    await connection.start();
    await expect(connection.request('a')).rejects.toThrow('no way out');
    await expect(connection.notify('a')).rejects.toThrow('no way out');
    await connection.close();
  });
});

describe('notifications that are sent', () => {
  it('[BASE-018] have no id', async () => {
    const { connection, peer } = await connectToRawPeer();
    await connection.notify('notifications/initialized');
    await connection.notify('x', { a: 1 });
    await turn();
    expect(peer.take()).toEqual([notification('notifications/initialized'), notification('x', { a: 1 })]);
  });

  it('[ROBUSTNESS-5] harm nobody when they fail and nobody listens', async () => {
    const { connection } = await connectToRawPeer();
    await connection.close();
    void connection.notify('a');
    await turn();
    await expect(connection.notify('a')).rejects.toBeInstanceOf(ConnectionClosedError);
  });

  it('[BATCH-002] are sent one at a time, as requests and answers are, also when batches are taken', async () => {
    const { connection, peer } = await connectToRawPeer({ rules: batching, onRequest: ({ id }) => result(id) });
    void connection.notify('a');
    void connection.notify('b');
    void connection.request('c').catch(() => undefined);
    await peer.send(request('x'));
    const sent = peer.take() as JsonRpcMessage[];
    expect(sent).toHaveLength(4);
    expect(sent.some(Array.isArray)).toBe(false);
  });

  it('tell the transport which request they belong to', async () => {
    const sent: { readonly method: string | undefined; readonly options: SendOptions | undefined }[] = [];
    const transport = {
      start: () => Promise.resolve(),
      send: (message: JsonRpcMessage, options?: SendOptions) => {
        sent.push({ method: (message as { method?: string }).method, options });
        return Promise.resolve();
      },
      close: () => Promise.resolve(),
    };
    const connection = new Connection(transport);
    await connection.start();
    await connection.notify('a', {}, { relatedRequestId: 7 });
    void connection.request('b', {}, { relatedRequestId: 'x' }).catch(() => undefined);
    void connection.request('c').catch(() => undefined);
    expect(sent.map(({ method, options }) => [method, options?.relatedRequestId])).toEqual([
      ['a', 7],
      ['b', 'x'],
      ['c', undefined],
    ]);
    // Some transports send the options along to another thread.
    expect(structuredClone(sent[1]?.options)).toMatchObject({ relatedRequestId: 'x' });
    await connection.close();
  });
});
