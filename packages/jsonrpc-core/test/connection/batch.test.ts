import { describe, expect, it } from 'vitest';
import type { JsonRpcResponse } from '../../src/index.ts';
import { batching, connectToRawPeer, defer, errorOf, notification, request, result, turn } from '../support/raw-peer.ts';

const rules = batching;

describe('an array that arrives', () => {
  it('[BATCH-001][BATCH-009] is served member by member and answered by one array', async () => {
    const seen: string[] = [];
    const { peer } = await connectToRawPeer({
      rules,
      onRequest: async ({ id }) => {
        await undefined;
        return result(id);
      },
      onNotification: ({ method }) => {
        seen.push(method);
      },
    });
    await peer.send([request(1), notification('n'), request('b')]);
    expect(peer.take()).toEqual([[result(1), result('b')]]);
    expect(seen).toEqual(['n']);
  });

  it('[BATCH-001] settles the requests that its responses answer', async () => {
    const { connection, peer } = await connectToRawPeer({ rules });
    const answers = [connection.request('a'), connection.request('b')];
    await turn();
    peer.take();
    await peer.send([result(2, { b: 1 }), result(1, { a: 1 })]);
    expect(await Promise.all(answers)).toEqual([{ a: 1 }, { b: 1 }]);
    expect(peer.take()).toEqual([]);
  });

  it('[BATCH-009] is answered by one -32600 when it is empty', async () => {
    const { peer } = await connectToRawPeer({ rules });
    await peer.send([]);
    expect(peer.take()).toEqual([errorOf(null, -32600)]);
  });

  it('[BATCH-009] has each bad member answered by a -32600 of its own', async () => {
    const { peer } = await connectToRawPeer({ rules, onRequest: ({ id }) => result(id) });
    await peer.send([1, 'a', { jsonrpc: '2.0', id: 4, method: 4 }, [request(9)], request(5)]);
    const [answers] = peer.take() as JsonRpcResponse[][];
    expect(answers).toHaveLength(5);
    expect(answers?.filter(({ id }) => id === null)).toEqual(Array(3).fill(errorOf(null, -32600)));
    expect(answers).toContainEqual(errorOf(4, -32600));
    expect(answers).toContainEqual(result(5));
  });

  it('[BATCH-009] is not answered at all when it holds only notifications or responses', async () => {
    const { peer } = await connectToRawPeer({ rules });
    await peer.send([notification('a'), notification('b')], [result(77)]);
    expect(peer.take()).toEqual([]);
  });

  it('[BATCH-009] waits for its slowest member and leaves cancelled ones out', async () => {
    const gate = defer<JsonRpcResponse>();
    const { peer } = await connectToRawPeer({
      rules,
      onRequest: ({ id }) => (id === 'slow' ? gate.promise : id === 'never' ? new Promise(() => undefined) : result(id)),
    });
    await peer.send([request('slow'), request('never'), request('fast')], request('alone'));
    expect(peer.take()).toEqual([result('alone')]);
    gate.resolve(result('slow'));
    await turn();
    expect(peer.take()).toEqual([]);
    await peer.send(notification('notifications/cancelled', { requestId: 'never' }));
    expect(peer.take()).toEqual([[result('fast'), result('slow')]]);
  });

  it('[CANCEL-006] is not answered when every member was cancelled', async () => {
    const { peer } = await connectToRawPeer({ rules, onRequest: () => new Promise(() => undefined) });
    await peer.send([request(1)], notification('notifications/cancelled', { requestId: 1 }));
    expect(peer.take()).toEqual([]);
  });

  it('[ROBUSTNESS-4] has a member that JSON cannot carry answered with -32603, beside the others', async () => {
    const { peer } = await connectToRawPeer(
      { rules, onRequest: ({ id }) => result(id, id === 1 ? { n: 1n as unknown as number } : {}) },
      { passBy: 'json' },
    );
    await peer.send([request(1), request(2)]);
    expect(peer.take()).toEqual([[errorOf(1, -32603), result(2)]]);
  });

  it('[ROBUSTNESS-7] is refused as a whole beyond the bound', async () => {
    let served = 0;
    const { peer } = await connectToRawPeer({
      rules,
      onRequest: ({ id }) => {
        served++;
        return result(id);
      },
    });
    await peer.send(Array.from({ length: 1001 }, (_, id) => request(id)));
    expect(peer.take()).toEqual([errorOf(null, -32600)]);
    expect(served).toBe(0);
  });

  it.each([
    ['bytes', 'x'.repeat(1000)],
    ['bytes beyond ASCII', '€'.repeat(333)],
  ])('[ROBUSTNESS-7] is refused further members once too many %s wait for its slowest one', async (_what, text) => {
    const gate = defer<JsonRpcResponse>();
    const { peer } = await connectToRawPeer({
      rules,
      maxInFlightBytes: 10_000,
      onRequest: ({ id }) => (id === 'slow' ? gate.promise : result(id, { text })),
    });
    await peer.send([request('slow'), ...Array.from({ length: 30 }, (_, n) => request(n))], request('next'), [request('last')]);
    const refusal = { error: { code: -32603, message: expect.stringMatching(/maxInFlightBytes is 10000/) as string } };
    expect(peer.take()).toMatchObject([{ id: 'next', ...refusal }, [{ id: 'last', ...refusal }]]);
    gate.resolve(result('slow'));
    await turn();
    const [answers] = peer.take() as [JsonRpcResponse[]];
    expect(answers).toHaveLength(31);
    const served = answers.filter((answer) => 'result' in answer);
    expect(served.length).toBeGreaterThan(8);
    expect(served.length).toBeLessThan(12);
    expect(answers[served.length]).toMatchObject(refusal);
    await peer.send(request('again'));
    expect(peer.take()).toMatchObject([{ id: 'again', result: {} }]);
  });

  it('[ROBUSTNESS-7] is refused members once too many answers of batches wait for their slowest ones', async () => {
    const { peer } = await connectToRawPeer({
      rules,
      onRequest: ({ id }) => (String(id).startsWith('slow') ? new Promise(() => undefined) : result(id)),
    });
    const quick = Array.from({ length: 999 }, (_, n) => request(n));
    await peer.send(...Array.from({ length: 10 }, (_, n) => [request(`slow ${n}`), ...quick]), request('next'), [request('last')]);
    const refusal = { error: { code: -32603, message: expect.stringContaining('Too many requests at once (10000)') as string } };
    expect(peer.take()).toMatchObject([{ id: 'next', ...refusal }, [{ id: 'last', ...refusal }]]);
  });

  it('[ROBUSTNESS-7] counts a member that is nearly all of a small batch as what it is, while it is in flight', async () => {
    const { connection, peer } = await connectToRawPeer(
      { rules, onRequest: () => new Promise(() => undefined) },
      { info: { bytes: 9000 } },
    );
    await peer.send([{ ...request(1), params: { text: 'x'.repeat(8000) } }, ...Array.from({ length: 30 }, () => notification('a'))]);
    expect(connection.inFlightBytes).toBeGreaterThan(8000);
  });

  it('[ROBUSTNESS-3] has a repeated id answered twice: once refused, once served', async () => {
    const { peer } = await connectToRawPeer({ rules, onRequest: async ({ id }) => result(id) });
    await peer.send([request(1), request(1)]);
    expect(peer.take()).toEqual([[errorOf(1, -32600), result(1)]]);
  });

  it.each([[[request(1)]], [[notification('a')]], [[]]])(
    '[BATCH-010] is one invalid request where batches do not exist: %j',
    async (array) => {
      let served = 0;
      const { peer } = await connectToRawPeer({
        onRequest: ({ id }) => {
          served++;
          return result(id);
        },
        onNotification: () => {
          served++;
        },
      });
      await peer.send(array);
      expect(peer.take()).toEqual([errorOf(null, -32600)]);
      expect(served).toBe(0);
    },
  );

  it('[BATCH-010] is judged by the revision that holds when it arrives', async () => {
    const changing = { ...batching };
    const { peer } = await connectToRawPeer({ rules: changing, onRequest: ({ id }) => result(id) });
    await peer.send([request(1)]);
    changing.isBatchingOn = false;
    await peer.send([request(2)]);
    expect(peer.take()).toEqual([[result(1)], errorOf(null, -32600)]);
  });
});
