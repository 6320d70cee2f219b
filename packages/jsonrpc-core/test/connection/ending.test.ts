import { describe, expect, it } from 'vitest';
import {
  ConnectionClosedError,
  ConnectionLostError,
  createInMemoryPair,
  type JsonRpcMessage,
  type JsonRpcResponse,
  type Transport,
} from '../../src/index.ts';
import { Connection, type InboundCall } from '../../src/connection.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { batching, connectPair, connectToRawPeer, defer, errorOf, outcomeOf, RawPeer, request, result, turn } from '../support/raw-peer.ts';

describe('the end of a connection', () => {
  it.each(['here', 'at the peer'])('settles everything that waits when it is closed %s', async (where) => {
    let kept: InboundCall | undefined;
    const order: string[] = [];
    const { connection, peer } = await connectToRawPeer({
      onRequest: (_message, call) => {
        kept = call;
        call.signal.addEventListener('abort', () => order.push('aborted'));
        return new Promise(() => undefined);
      },
    });
    void connection.closed.then(() => order.push('closed'));
    const answers: Promise<unknown>[] = [
      connection.request('a'),
      connection.requests.requestRaw('b'),
      connection.request('c', {}, { timeoutMs: Infinity }),
    ];
    const outcomes = Promise.all(answers.map(outcomeOf));
    await peer.send(request(1));
    if (where === 'here') await connection.close();
    else await peer.transport.close();
    for (const outcome of await outcomes) expect(outcome).toEqual({ error: expect.any(ConnectionClosedError) });
    await connection.closed;
    expect(kept?.signal.reason).toBeInstanceOf(ConnectionClosedError);
    expect(order).toEqual(['aborted', 'closed']);
    expect(connection.inFlight.outbound).toBe(0);
    expect(peer.closes).toBe(1);
  });

  it('rejects all that waits with one error, so that an ordinary end makes no stacks', async () => {
    const { connection } = await connectToRawPeer();
    const answers = [connection.request('a'), connection.request('b')];
    await connection.close();
    const [one, other] = await Promise.allSettled(answers);
    expect((one as PromiseRejectedResult).reason).toBe((other as PromiseRejectedResult).reason);
    await expect(connection.request('c')).rejects.toBe((one as PromiseRejectedResult).reason);
  });

  it('comes once, however often it is closed', async () => {
    let closes = 0;
    const [near, far] = createInMemoryPair();
    near.onclose = () => closes++;
    const connection = new Connection(near);
    await connection.start();
    await Promise.all([connection.close(), connection.close(), far.close()]);
    await connection.close();
    await connection[Symbol.asyncDispose]();
    await turn();
    expect(closes).toBe(1);
  });

  it('drops answers that come too late', async () => {
    const gate = defer<JsonRpcResponse>();
    const { connection, peer, errors } = await connectToRawPeer({ onRequest: () => gate.promise });
    await peer.send(request(1));
    await connection.close();
    gate.resolve(result(1));
    await turn();
    expect(peer.take()).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('may come before the start, and forbids it', async () => {
    const [near, far] = createInMemoryPair();
    const connection = new Connection(near);
    await connection.close();
    await connection.closed;
    await expect(connection.start()).rejects.toMatchObject({ code: 'ERR_ALREADY_STARTED' });
    await far.start();
    await expect(far.send({ jsonrpc: '2.0', method: 'a' })).rejects.toBeInstanceOf(ConnectionClosedError);
  });

  it('comes when the transport cannot start', async () => {
    const [near] = createInMemoryPair();
    await near.close();
    const connection = new Connection(near);
    await expect(connection.start()).rejects.toBeInstanceOf(ConnectionClosedError);
    await connection.closed;
  });

  it('comes though the transport fails to close or never says that it has', async () => {
    const errors: unknown[] = [];
    const transport: Transport = {
      start: () => Promise.resolve(),
      send: () => Promise.resolve(),
      close: () => Promise.reject(new Error('stuck')),
    };
    const connection = new Connection(transport, { onError: (error) => errors.push(error.message) });
    await connection.start();
    await connection.close();
    expect(errors).toEqual(['stuck']);
  });

  it('refuses a second start', async () => {
    const { connection } = await connectToRawPeer();
    await expect(connection.start()).rejects.toMatchObject({ code: 'ERR_ALREADY_STARTED' });
  });
});

describe('the callbacks that a program had set on the transport', () => {
  it('are called first, and given back at the end', async () => {
    const [near, far] = createInMemoryPair();
    const seen: string[] = [];
    const own = {
      onmessage: (message: JsonRpcMessage) => void seen.push(`own ${(message as { method: string }).method}`),
      onerror: (error: Error) => void seen.push(`own ${error.message}`),
      onclose: () => void seen.push('own close'),
    };
    Object.assign(near, own);
    const connection = new Connection(near, {
      onNotification: ({ method }) => void seen.push(method),
      onError: (error) => void seen.push(error.message),
    });
    void connection.closed.then(() => seen.push('close'));
    await connection.start();
    await far.start();
    await far.send({ jsonrpc: '2.0', method: 'a' });
    await turn();
    near.onerror?.(new Error('e'));
    expect(seen).toEqual(['own a', 'a', 'own e', 'e']);
    await connection.close();
    expect(seen.slice(4)).toEqual(['own close', 'close']);
    expect(near).toMatchObject(own);
  });

  it.each([{ kind: Error }, { kind: SyntaxError }])(
    'hold nothing up when they throw, nor are taken for a fault of the peer ($kind.name)',
    async ({ kind }) => {
      const [near, far] = createInMemoryPair();
      const fail = (): never => {
        throw new kind('own');
      };
      Object.assign(near, { onmessage: fail, onerror: fail, onclose: fail });
      const errors: string[] = [];
      const connection = new Connection(near, {
        onRequest: ({ id }) => result(id),
        onError: (error) => errors.push(error.message),
      });
      const peer = new RawPeer(far);
      await Promise.all([connection.start(), far.start()]);
      await peer.send(request(1));
      expect(peer.take()).toEqual([result(1)]);
      await connection.close();
      expect(errors).toEqual(['own', 'own']);
    },
  );

  it('are not put back over others that the program has set since', async () => {
    const [near] = createInMemoryPair();
    const connection = new Connection(near);
    await connection.start();
    const later = (): void => undefined;
    near.onerror = later;
    await connection.close();
    expect(near.onerror).toBe(later);
    expect(near.onmessage).toBeUndefined();
  });
});

describe('draining', () => {
  it('lets what is in flight finish in both directions, refuses what is new, then closes', async () => {
    const gate = defer<JsonRpcResponse>();
    const clock = new FakeClock();
    const { connection, peer } = await connectToRawPeer({ clock, onRequest: () => gate.promise });
    const answer = connection.request('a');
    await peer.send(request('old'));
    peer.take();
    const drained = connection.drain(10_000);
    await peer.send(request('new'));
    expect(peer.take()).toEqual([errorOf('new', -32603)]);
    gate.resolve(result('old'));
    await peer.send();
    expect(peer.take()).toEqual([result('old')]);
    expect(peer.closes).toBe(0);
    await peer.send(result(1, { done: true }));
    await drained;
    expect(await answer).toEqual({ done: true });
    expect(clock.timerCount).toBe(0);
    await turn();
    expect(peer.closes).toBe(1);
  });

  it.each(['its time is over', 'its caller gives it up', 'it is answered by garbage', 'it cannot be sent'])(
    'does not wait for a request any longer once %s',
    async (end) => {
      const clock = new FakeClock();
      const controller = new AbortController();
      const { connection, peer } = await connectToRawPeer({ clock });
      const sent = defer<void>();
      if (end === 'it cannot be sent') connection.transport.send = () => sent.promise;
      const outcome = outcomeOf(connection.request('a', {}, { timeoutMs: 100, signal: controller.signal }));
      const drained = connection.drain(60_000);
      if (end === 'its time is over') clock.advance(100);
      else if (end === 'its caller gives it up') controller.abort(new Error('enough'));
      else if (end === 'it is answered by garbage') await peer.send({ jsonrpc: '2.0', id: 1, result: 7 });
      else sent.reject(new Error('full'));
      await drained;
      expect(await outcome).toHaveProperty('error');
      expect(clock.timerCount).toBe(0);
    },
  );

  it('ends with the answer that came in a batch with what is refused', async () => {
    const clock = new FakeClock();
    const { connection, peer } = await connectToRawPeer({ clock, rules: batching, onRequest: ({ id }) => result(id) });
    const answer = connection.request('a');
    const drained = connection.drain(10_000);
    await peer.send([request('new'), result(1, { done: true })]);
    await drained;
    expect(await answer).toEqual({ done: true });
    expect(clock.timerCount).toBe(0);
  });

  it('aborts at the deadline what still runs', async () => {
    const clock = new FakeClock();
    let kept: InboundCall | undefined;
    const { connection, peer } = await connectToRawPeer({
      clock,
      onRequest: (_message, call) => {
        kept = call;
        return new Promise(() => undefined);
      },
    });
    await peer.send(request(1));
    const drained = connection.drain(500);
    clock.advance(499);
    await turn();
    expect(kept?.isCancelled).toBe(false);
    clock.advance(1);
    await drained;
    expect(kept?.signal.reason).toBeInstanceOf(ConnectionClosedError);
    expect(clock.timerCount).toBe(0);
  });

  it('closes at once when nothing is in flight, and before the start', async () => {
    const clock = new FakeClock();
    const { connection } = await connectToRawPeer({ clock });
    await connection.drain(10_000);
    const [near] = createInMemoryPair();
    await new Connection(near, { clock }).drain(10_000);
    expect(clock.timerCount).toBe(0);
  });

  it('ends when the peer closes meanwhile, and may be asked for twice', async () => {
    const { connection, peer } = await connectToRawPeer({ onRequest: () => new Promise(() => undefined) });
    await peer.send(request(1));
    const drained = [connection.drain(60_000), connection.drain(60_000)];
    await peer.transport.close();
    await Promise.all(drained);
    await connection.closed;
  });
});

describe('a channel that was lost and is being opened again', () => {
  it('has what was in flight rejected and aborted, and lives on', async () => {
    let kept: InboundCall | undefined;
    const { connection, peer } = await connectToRawPeer({
      onRequest: (_message, call) => {
        kept = call;
        return new Promise(() => undefined);
      },
    });
    const outcome = outcomeOf(connection.request('a'));
    await peer.send(request(1));
    const lost = new ConnectionLostError();
    connection.transport.onerror?.(lost);
    expect(await outcome).toEqual({ error: lost });
    expect(kept?.signal.reason).toBe(lost);
    peer.take();
    const next = connection.request('b');
    await peer.send(result(2, { alive: true }));
    expect(await next).toEqual({ alive: true });
  });
});

describe('a channel that was lost in the middle of a batch', () => {
  it('does not count the responses that were kept for the rest of it: it drains at once', async () => {
    const { connection, peer } = await connectToRawPeer({
      rules: { isAnswering: true, isBatchingOn: true, isErrorIdOptional: false },
      onRequest: ({ id }, { signal }) =>
        id === 'quick' ? result(id) : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    });
    await peer.send([request('quick'), request('slow')]);
    connection.transport.onerror?.(new ConnectionLostError());
    await connection.drain(60_000);
    await connection.closed;
  });
});

describe('a pair of connections', () => {
  it('[ROBUSTNESS-3] never hears of another pair', async () => {
    const serve = (name: string) => ({ onRequest: ({ id }: { id: string | number }) => result(id, { name }) });
    const pairs = await Promise.all(['a', 'b', 'c'].map((name) => connectPair({}, serve(name))));
    const answers = await Promise.all(pairs.flatMap(([client]) => [client.request('who'), client.request('who')]));
    expect(answers.map(({ name }) => name)).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
  });
});
