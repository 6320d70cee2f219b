import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type CancelledError, ConnectionClosedError, type JsonRpcNotification, type JsonRpcResponse } from '../../src/index.ts';
import type { InboundCall } from '../../src/connection.ts';
import { connectPair, connectToRawPeer, defer, notification, outcomeOf, request, result, turn } from '../support/raw-peer.ts';

function cancelled(requestId: unknown, reason?: string): object {
  return notification('notifications/cancelled', reason === undefined ? { requestId } : { requestId, reason });
}

describe('giving up a request', () => {
  it("[CANCEL-001][CANCEL-003] tells the peer its id and the reason, and rejects with the signal's reason", async () => {
    const { connection, peer } = await connectToRawPeer();
    const controller = new AbortController();
    const answer = connection.request('work', {}, { signal: controller.signal });
    await turn();
    const { id } = peer.takeRequest();
    const reason = new Error('the user left');
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await turn();
    expect(peer.take()).toEqual([cancelled(id, 'the user left')]);
  });

  it.each([
    ['a text', 'enough', { reason: 'enough' }],
    ['something else', { secret: 1 }, {}],
  ])('[CANCEL-003] words the reason when it is %s', async (_what, reason, expected) => {
    const { connection, peer } = await connectToRawPeer();
    const controller = new AbortController();
    const answer = connection.request('work', {}, { signal: controller.signal });
    await turn();
    peer.take();
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await turn();
    expect(peer.take()).toEqual([notification('notifications/cancelled', { requestId: 1, ...expected })]);
  });

  it('[CANCEL-002] names only requests that are sent and not yet answered', async () => {
    const { connection, peer } = await connectToRawPeer();
    await expect(connection.request('work', {}, { signal: AbortSignal.abort('before') })).rejects.toBe('before');
    const controller = new AbortController();
    const answer = connection.request('work', {}, { signal: controller.signal });
    await turn();
    await peer.send(result(peer.takeRequest().id));
    await answer;
    controller.abort();
    await turn();
    expect(peer.take()).toEqual([]);
  });

  it('[CANCEL-009] ignores the answer that comes late, without a word', async () => {
    const { connection, peer, errors } = await connectToRawPeer();
    const controller = new AbortController();
    const answer = connection.request('work', {}, { signal: controller.signal });
    await turn();
    controller.abort('enough');
    await expect(answer).rejects.toBe('enough');
    await peer.send(result(1));
    expect(errors).toEqual([]);
  });

  it('says nothing to the peer for `initialize`, which must not be cancelled', async () => {
    const { connection, peer } = await connectToRawPeer();
    const controller = new AbortController();
    const answer = connection.request('initialize', {}, { signal: controller.signal });
    await turn();
    peer.take();
    controller.abort('enough');
    await expect(answer).rejects.toBe('enough');
    await turn();
    expect(peer.take()).toEqual([]);
  });

  it('puts one listener at a signal however many requests share it, and leaves none', async () => {
    const { connection, peer } = await connectToRawPeer();
    const { signal } = new AbortController();
    const answers = [connection.request('a', {}, { signal }), connection.request('b', {}, { signal })].map(outcomeOf);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await peer.send(result(1), { jsonrpc: '2.0', id: 2, error: { code: 1, message: 'a' } });
    await Promise.all(answers);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('a cancellation that arrives', () => {
  it('[CANCEL-006][CANCEL-007] aborts the handler and has nothing more sent for the request', async () => {
    const gate = defer<JsonRpcResponse>();
    let kept: InboundCall | undefined;
    const seen: JsonRpcNotification[] = [];
    const { connection, peer } = await connectToRawPeer({
      onRequest: (_message, call) => {
        kept = call;
        return gate.promise;
      },
      onNotification: (message) => {
        seen.push(message);
      },
    });
    await peer.send(request(1));
    const signal = kept?.signal;
    expect(signal?.aborted).toBe(false);
    await peer.send(cancelled(1, 'user pressed stop'));
    expect(signal?.aborted).toBe(true);
    expect((signal?.reason as CancelledError).reason).toBe('user pressed stop');
    expect(kept).toMatchObject({ isCancelled: true, isSettled: true });
    await kept?.notify('notifications/progress', { progressToken: 1, progress: 1 });
    gate.resolve(result(1));
    await turn();
    expect(peer.take()).toEqual([]);
    expect(seen).toEqual([]);
    expect(connection.inFlight.inbound).toBe(0);
  });

  it('[CANCEL-006] is seen by a handler that looks at its signal only afterwards', async () => {
    const gate = defer<undefined>();
    let reason: unknown;
    const { peer, errors } = await connectToRawPeer({
      onRequest: async (_message, call) => {
        await gate.promise;
        reason = call.signal.reason;
        call.signal.throwIfAborted();
        return undefined;
      },
    });
    await peer.send(request(1), cancelled(1));
    gate.resolve(undefined);
    await turn();
    expect(reason).toMatchObject({ code: 'ERR_CANCELLED', reason: undefined });
    expect(peer.take()).toEqual([]);
    expect(errors).toEqual([]);
  });

  it.each([0, '', '0', -1])('[ROBUSTNESS-13] reaches the request with the id %j', async (id) => {
    let kept: InboundCall | undefined;
    const { peer } = await connectToRawPeer({
      onRequest: (_message, call) => {
        kept = call;
        return new Promise(() => undefined);
      },
    });
    await peer.send(request(id), cancelled(id));
    expect(kept?.isCancelled).toBe(true);
  });

  it('[CANCEL-008][CANCEL-010] does nothing when it is too late or names a request that never was', async () => {
    const { peer, errors } = await connectToRawPeer({ onRequest: ({ id }) => result(id) });
    await peer.send(request(1), cancelled(1), cancelled(99), cancelled('1'), request(2));
    expect(peer.take()).toEqual([result(1), result(2)]);
    expect(errors).toEqual([]);
  });

  it('[CANCEL-004][CANCEL-011] is ignored without a word when it is malformed', async () => {
    const seen: JsonRpcNotification[] = [];
    const { peer, errors } = await connectToRawPeer({
      onRequest: async ({ id }) => {
        await undefined;
        return result(id);
      },
      onNotification: (message) => {
        seen.push(message);
      },
    });
    await peer.send(
      request(1),
      notification('notifications/cancelled'),
      notification('notifications/cancelled', {}),
      cancelled(null),
      cancelled({}),
      cancelled([1]),
      cancelled(1.5),
      notification('notifications/cancelled', { requestId: 1, reason: 7 }),
    );
    expect(errors).toEqual([]);
    expect(seen).toEqual([expect.objectContaining({ params: { requestId: 1, reason: 7 } })]);
    expect(peer.take()).toEqual([result(1)]);
  });

  it('[CANCEL-016] is told to the program when it names a request that was sent from here', async () => {
    const seen: JsonRpcNotification[] = [];
    const { connection, peer } = await connectToRawPeer({
      onNotification: (message) => {
        seen.push(message);
      },
    });
    const answer = connection.request('subscriptions/listen', {}, { timeoutMs: Infinity });
    await turn();
    await peer.send(cancelled(peer.takeRequest().id, 'torn down'));
    expect(seen).toEqual([cancelled(1, 'torn down')]);
    await connection.close();
    await expect(answer).rejects.toBeInstanceOf(ConnectionClosedError);
  });

  it('frees the id at once, and the old handler cannot answer for the new one', async () => {
    const gates: ReturnType<typeof defer<JsonRpcResponse>>[] = [];
    const { peer } = await connectToRawPeer({
      onRequest: () => {
        const gate = defer<JsonRpcResponse>();
        gates.push(gate);
        return gate.promise;
      },
    });
    await peer.send(request(1), cancelled(1), request(1));
    gates[0]?.resolve(result(1, { old: true }));
    await turn();
    expect(peer.take()).toEqual([]);
    gates[1]?.resolve(result(1, { new: true }));
    await turn();
    expect(peer.take()).toEqual([result(1, { new: true })]);
  });

  it('[ROBUSTNESS-5] does no harm when the handler rejects afterwards', async () => {
    const { peer, errors } = await connectToRawPeer({
      onRequest: (_message, call) =>
        new Promise((_resolve, reject) => call.signal.addEventListener('abort', () => reject(new Error('stopped')))),
    });
    await peer.send(request(1), cancelled(1));
    expect(peer.take()).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('[CANCEL-001] goes both ways between two connections', async () => {
    let kept: InboundCall | undefined;
    const serve = {
      onRequest: (_message: unknown, call: InboundCall) => {
        kept = call;
        return new Promise<undefined>(() => undefined);
      },
    };
    const connections = await connectPair(serve, serve);
    for (const connection of connections) {
      const controller = new AbortController();
      const answer = connection.request('work', {}, { signal: controller.signal });
      await turn();
      controller.abort('enough');
      await expect(answer).rejects.toBe('enough');
      await turn();
      expect(kept?.signal.reason).toMatchObject({ reason: 'enough' });
    }
  });
});
