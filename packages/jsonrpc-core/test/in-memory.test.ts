import { describe, expect, it } from 'vitest';
import {
  ConnectionClosedError,
  createInMemoryPair,
  InMemoryTransport,
  type InMemoryOptions,
  type JsonRpcMessage,
  ParseError,
} from '../src/index.ts';
import { resolvedPromise } from '../src/transport.ts';
import { outcomeOf, turn } from './support/raw-peer.ts';

function note(n: unknown): JsonRpcMessage {
  return { jsonrpc: '2.0', method: 'n', params: { n: n as number } };
}

function numberOf(message: JsonRpcMessage): unknown {
  return 'params' in message ? message.params?.['n'] : undefined;
}

async function startPair(options?: InMemoryOptions): Promise<[InMemoryTransport, InMemoryTransport, unknown[]]> {
  const [one, other] = createInMemoryPair(options);
  const seen: unknown[] = [];
  other.onmessage = (message: JsonRpcMessage) => seen.push(numberOf(message));
  other.onclose = () => seen.push('close');
  await Promise.all([one.start(), other.start()]);
  return [one, other, seen];
}

describe('an in-memory pair', () => {
  it('delivers nothing before start and everything after it, in order (T1, T2)', async () => {
    const [one, other] = InMemoryTransport.createLinkedPair();
    const seen: unknown[] = [];
    other.onmessage = (message: JsonRpcMessage) => seen.push(numberOf(message));
    await one.start();
    for (let n = 0; n < 5; n++) await one.send(note(n));
    await turn();
    expect(seen).toEqual([]);
    await other.start();
    await turn();
    expect(seen).toEqual([0, 1, 2, 3, 4]);
  });

  it('never delivers while send runs', async () => {
    const [one, , seen] = await startPair();
    void one.send(note(1));
    expect(seen).toEqual([]);
    await turn();
    expect(seen).toEqual([1]);
  });

  it('returns one shared promise when nothing waits', async () => {
    const [one] = await startPair();
    expect(one.send(note(1))).toBe(resolvedPromise);
  });

  it('refuses sends before start, after close and after the peer has gone (T3)', async () => {
    const [one, other] = createInMemoryPair();
    await expect(one.send(note(1))).rejects.toMatchObject({ code: 'ERR_NOT_CONNECTED' });
    await one.start();
    await other.close();
    await expect(one.send(note(1))).rejects.toBeInstanceOf(ConnectionClosedError);
    await one.close();
    await expect(one.send(note(1))).rejects.toBeInstanceOf(ConnectionClosedError);
    await expect(one.start()).rejects.toBeInstanceOf(ConnectionClosedError);
  });

  it('is started once', async () => {
    const [one] = await startPair();
    await expect(one.start()).rejects.toMatchObject({ code: 'ERR_ALREADY_STARTED' });
  });

  it.each(['the sender', 'the reader'])('lets a send that waits reject when %s closes (T3)', async (who) => {
    const [one, other] = createInMemoryPair();
    await one.start();
    for (let n = 0; n < 1024; n++) await one.send(note(1));
    const waiting = [outcomeOf(one.send(note(2))), outcomeOf(one.send(note(3)))];
    await (who === 'the sender' ? one : other).close();
    for (const outcome of await Promise.all(waiting)) expect(outcome).toEqual({ error: expect.any(ConnectionClosedError) });
  });

  it('hands over what was sent before the end, then says once that it has ended (T4)', async () => {
    const [one, other, seen] = await startPair();
    let closes = 0;
    one.onclose = () => closes++;
    for (let n = 0; n < 3; n++) void one.send(note(n));
    await one.close();
    await turn();
    expect(seen).toEqual([0, 1, 2, 'close']);
    await Promise.all([one.close(), other.close()]);
    await turn();
    expect([seen.length, closes]).toEqual([4, 1]);
  });

  it('says that it has ended only after the callback that closed it (T4, T7)', async () => {
    const [one, other] = createInMemoryPair();
    const order: string[] = [];
    other.onmessage = () => {
      void other.close();
      order.push('message');
    };
    other.onclose = () => order.push('close');
    await Promise.all([one.start(), other.start()]);
    void one.send(note(1));
    void one.send(note(2));
    await turn();
    expect(order).toEqual(['message', 'close']);
  });

  it('says once that it has ended when both ends close at once (T4)', async () => {
    const [one, other] = createInMemoryPair();
    const ends: string[] = [];
    one.onclose = () => ends.push('one');
    other.onclose = () => ends.push('other');
    other.onmessage = () => void other.close();
    await Promise.all([one.start(), other.start()]);
    void one.send(note(1));
    void one.close();
    await turn();
    expect(ends.sort()).toEqual(['one', 'other']);
  });

  it('may be closed before start, and tells a peer that starts later (T7)', async () => {
    const [one, other] = createInMemoryPair();
    const order: string[] = [];
    other.onclose = () => order.push('other');
    one.onclose = () => order.push('one');
    await one.close();
    expect(order).toEqual(['one']);
    await other.start();
    await turn();
    expect(order).toEqual(['one', 'other']);
  });

  it('reports a callback that throws and delivers the next message (T8)', async () => {
    const [one, other] = createInMemoryPair();
    const seen: unknown[] = [];
    other.onmessage = (message: JsonRpcMessage) => {
      seen.push(numberOf(message));
      throw new Error(`at ${String(numberOf(message))}`);
    };
    other.onerror = (error) => {
      seen.push(error.message);
      throw new Error('again');
    };
    other.onclose = () => {
      throw new Error('at the end');
    };
    await Promise.all([one.start(), other.start()]);
    await one.send(note(1));
    await one.send(note(2));
    await turn();
    await one.close();
    await other.close();
    expect(seen).toEqual([1, 'at 1', 2, 'at 2', 'at the end']);
  });

  it.each(['reference', 'json'] as const)('passes any text and a long message by %s (T9, T10)', async (passBy) => {
    const [one, , seen] = await startPair({ passBy });
    const texts = ['a\nb\r\n\u2028\u2029', '😀\u0000', 'x'.repeat(1_048_576)];
    for (const text of texts) await one.send(note(text));
    await turn();
    expect(seen).toEqual(texts);
  });

  it('delivers 10,000 messages in a row once and in order, and lets timers run meanwhile (T11)', async () => {
    const [one, , seen] = await startPair();
    let hasTimerRun = false;
    setImmediate(() => {
      hasTimerRun = seen.length < 10_000;
    });
    await Promise.all(Array.from({ length: 10_000 }, (_none, n) => one.send(note(n))));
    while (seen.length < 10_000) await turn();
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_none, n) => n));
    expect(hasTimerRun).toBe(true);
  });

  it('lets sends wait while the reader is not ready, and then delivers all in order (T12)', async () => {
    const [one, other] = createInMemoryPair();
    await one.start();
    let taken = 0;
    const sends = Array.from({ length: 2000 }, (_none, n) => one.send(note(n)).then(() => taken++));
    await turn();
    expect(taken).toBe(1024);
    const seen: unknown[] = [];
    other.onmessage = (message: JsonRpcMessage) => seen.push(numberOf(message));
    await other.start();
    await Promise.all(sends);
    await turn();
    expect(seen).toEqual(Array.from({ length: 2000 }, (_none, n) => n));
  });

  it('passes the very object by reference, and an equal one by json', async () => {
    const message = note(1);
    for (const passBy of ['reference', 'json'] as const) {
      const [one, other] = createInMemoryPair({ passBy });
      let got: unknown;
      other.onmessage = (arrived) => {
        got = arrived;
      };
      await Promise.all([one.start(), other.start()]);
      await one.send(message);
      await turn();
      expect(got).toEqual(message);
      expect(got === message).toBe(passBy === 'reference');
    }
  });

  it('refuses by json what a wire could not carry, and reports what the reader would not take (T5)', async () => {
    const [one, other, seen] = await startPair({ passBy: 'json' });
    const errors: Error[] = [];
    other.onerror = (error) => errors.push(error);
    await expect(one.send(note(1n))).rejects.toMatchObject({ code: 'ERR_SERIALIZE' });
    let deep: unknown = 0;
    for (let level = 0; level < 300; level++) deep = [deep];
    await one.send(note(deep));
    await one.send(note(2));
    await turn();
    expect(errors).toEqual([expect.any(ParseError)]);
    expect(seen).toEqual([2]);
  });

  it('closes at the end of its scope', async () => {
    const [client, server] = createInMemoryPair();
    await Promise.all([client.start(), server.start()]);
    const closed = new Promise<void>((resolve) => {
      server.onclose = resolve;
    });
    await client[Symbol.asyncDispose]();
    await closed;
  });
});

it('refuses options that do not exist', () => {
  const says = 'in-memory options: unknown option "passby" (known: passBy, info)';
  expect(() => createInMemoryPair({ passby: 'json' } as object)).toThrow(says);
  expect(() => InMemoryTransport.createLinkedPair({ passby: 'json' } as object)).toThrow(says);
});
