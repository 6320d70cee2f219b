import { describe, expect, it } from 'vitest';
import { Connection } from '../../src/connection.ts';
import { createInMemoryPair, type JsonObject, type JsonRpcNotification, TimeoutError } from '../../src/index.ts';
import type { SendOptions } from '../../src/transport.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { connectToRawPeer, notification, result, turn } from '../support/raw-peer.ts';

function progress(progressToken: unknown, value: unknown = 1): object {
  return notification('notifications/progress', { progressToken, progress: value });
}

function track(answer: Promise<unknown>): { outcome: unknown } {
  const tracked: { outcome: unknown } = { outcome: 'waiting' };
  answer.then(
    (value) => (tracked.outcome = value),
    (error: unknown) => (tracked.outcome = error),
  );
  return tracked;
}

/** Lets a call wait to the last millisecond that is left to it, and end with the next by its time limit. */
async function expectTimeout(
  call: { readonly outcome: unknown },
  clock: FakeClock,
  { leftMs, timeoutMs }: { readonly leftMs: number; readonly timeoutMs: number },
): Promise<void> {
  clock.advance(leftMs - 1);
  await turn();
  expect(call.outcome).toBe('waiting');
  clock.advance(1);
  await turn();
  expect(call.outcome).toMatchObject({ code: 'ERR_TIMEOUT', timeoutMs });
}

/** A connection to a peer that answers nothing, and how each message was to be sent. */
async function connectToSilence(clock: FakeClock): Promise<{ connection: Connection; sent: (SendOptions | undefined)[] }> {
  const sent: (SendOptions | undefined)[] = [];
  const transport = {
    start: async () => undefined,
    send: async (_message: unknown, options?: SendOptions) => void sent.push(options),
    close: async () => undefined,
  };
  const connection = new Connection(transport, { clock });
  await connection.start();
  return { connection, sent };
}

describe('the time that a request waits', () => {
  it('[TIME-001] is one minute unless said otherwise', async () => {
    const clock = new FakeClock();
    const { connection, peer } = await connectToRawPeer({ clock });
    const call = track(connection.request('slow'));
    clock.advance(59_999);
    await turn();
    expect(call.outcome).toBe('waiting');
    clock.advance(1);
    await turn();
    expect(call.outcome).toBeInstanceOf(TimeoutError);
    expect(call.outcome).toMatchObject({ timeoutMs: 60_000, message: expect.stringContaining('"slow"') as string });
    expect(peer.received).toHaveLength(2);
  });

  it('[TIME-002] ends with a cancellation, and a late answer is ignored', async () => {
    const clock = new FakeClock();
    const { connection, peer, errors } = await connectToRawPeer({ clock });
    const call = track(connection.request('slow', {}, { timeoutMs: 10 }));
    await turn();
    const { id } = peer.takeRequest();
    clock.advance(10);
    await turn();
    expect(call.outcome).toBeInstanceOf(TimeoutError);
    expect(peer.take()).toEqual([
      notification('notifications/cancelled', { requestId: id, reason: expect.stringContaining('10 ms') as string }),
    ]);
    await peer.send(result(id));
    expect(errors).toEqual([]);
  });

  it('[TIME-003] is set for each request', async () => {
    const clock = new FakeClock();
    const { connection } = await connectToRawPeer({ clock, requestTimeoutMs: 100 });
    const calls = [{ timeoutMs: 500 }, { timeoutMs: 5 }, undefined].map((options) => track(connection.request('slow', {}, options)));
    const outcomes = (): unknown[] => calls.map(({ outcome }) => outcome instanceof TimeoutError);
    clock.advance(5);
    await turn();
    expect(outcomes()).toEqual([false, true, false]);
    clock.advance(95);
    await turn();
    expect(outcomes()).toEqual([false, true, true]);
    clock.advance(400);
    await turn();
    expect(outcomes()).toEqual([true, true, true]);
  });

  it('[TIME-004] starts anew with each progress message', async () => {
    const clock = new FakeClock();
    const { connection, peer } = await connectToRawPeer({ clock, requestTimeoutMs: 100 });
    const call = track(connection.request('slow'));
    for (let step = 1; step <= 5; step++) {
      clock.advance(90);
      await peer.send(progress(1, step));
    }
    expect(call.outcome).toBe('waiting');
    clock.advance(100);
    await turn();
    expect(call.outcome).toBeInstanceOf(TimeoutError);
  });

  it('[TIME-004] starts anew only where wanted, and only for true progress of that request', async () => {
    const clock = new FakeClock();
    const { connection, peer } = await connectToRawPeer({ clock, requestTimeoutMs: 100 });
    const calls = [
      track(connection.request('a', {}, { resetTimeoutOnProgress: false, onProgress: () => undefined })),
      track(connection.request('b')),
    ];
    clock.advance(90);
    await peer.send(progress(1), progress(2, 'not a number'), progress('2'), progress(3));
    clock.advance(10);
    await turn();
    expect(calls.map(({ outcome }) => outcome)).toEqual([expect.any(TimeoutError), expect.any(TimeoutError)]);
  });

  it('stands still, hard end and all, until the last of several pauses is over', async () => {
    const clock = new FakeClock();
    const { connection } = await connectToRawPeer({ clock });
    const call = track(connection.request('x', {}, { timeoutMs: 100, maxTimeoutMs: 150 }));
    clock.advance(60);
    const [first, second] = [connection.requests.pauseTimeouts(), connection.requests.pauseTimeouts()];
    clock.advance(1_000_000);
    first();
    first();
    clock.advance(1_000_000);
    second();
    await expectTimeout(call, clock, { leftMs: 40, timeoutMs: 100 });
  });

  it('gives a request that is sent while time stands still no more than its own', async () => {
    const clock = new FakeClock();
    const { connection } = await connectToRawPeer({ clock });
    const resume = connection.requests.pauseTimeouts();
    clock.advance(600_000);
    const call = track(connection.request('x', {}, { timeoutMs: 1000, maxTimeoutMs: 1000 }));
    clock.advance(1);
    resume();
    await expectTimeout(call, clock, { leftMs: 1000, timeoutMs: 1000 });
  });

  it('begins anew by progress that comes while time stands still, and is not lengthened twice', async () => {
    const clock = new FakeClock();
    const { connection, peer } = await connectToRawPeer({ clock });
    const call = track(connection.request('x', {}, { timeoutMs: 100, maxTimeoutMs: 1000 }));
    clock.advance(60);
    const resume = connection.requests.pauseTimeouts();
    clock.advance(5000);
    await peer.send(progress(1, 1));
    clock.advance(5000);
    resume();
    await expectTimeout(call, clock, { leftMs: 100, timeoutMs: 100 });
  });

  it('[TIME-005] ends after ten times the hard maximum, however many pauses it meets', async () => {
    const clock = new FakeClock();
    const { connection, peer } = await connectToRawPeer({ clock, maxRequestTimeoutMs: 1_000_000 });
    const call = track(connection.request('x', {}, { timeoutMs: 100 }));
    const pauses = [connection.requests.pauseTimeouts()];
    for (let paused = 0; paused < 4; paused += 1) {
      // Each begins before the one before it is over.
      for (const lengthMs of [400_000, 600_000]) {
        clock.advance(lengthMs);
        pauses.push(connection.requests.pauseTimeouts());
        pauses.shift()?.();
      }
      pauses.shift()?.();
      clock.advance(5);
      pauses.push(connection.requests.pauseTimeouts());
    }
    const late = track(connection.request('y', {}, { timeoutMs: 100 }));
    clock.advance(5_999_000);
    await peer.send(progress(1));
    await expectTimeout(call, clock, { leftMs: 980, timeoutMs: 1_000_000 });
    expect(peer.take().at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } });
    await expectTimeout(late, clock, { leftMs: 4_000_020, timeoutMs: 1_000_000 });
    for (const resume of pauses) resume();
    expect(connection.inFlight.outbound).toBe(0);
  });

  it('stands still for as long as a person needs, however small the hard maximum', async () => {
    const clock = new FakeClock();
    const { connection } = await connectToRawPeer({ clock, maxRequestTimeoutMs: 1000 });
    const call = track(connection.request('x', {}, { timeoutMs: 100 }));
    const resume = connection.requests.pauseTimeouts();
    clock.advance(10 * 600_000 - 100);
    resume();
    clock.advance(99);
    await turn();
    expect(call.outcome).toBe('waiting');
    connection.requests.pauseTimeouts();
    clock.advance(1);
    await turn();
    expect(call.outcome).toMatchObject({ code: 'ERR_TIMEOUT', timeoutMs: 100 });
  });

  it('[TIME-005] has the hard end that the connection was given, also below its usual limit', async () => {
    const clock = new FakeClock();
    const { connection } = await connectToRawPeer({ clock, maxRequestTimeoutMs: 50 });
    const call = track(connection.request('x'));
    const own = track(connection.request('y', {}, { timeoutMs: 70 }));
    clock.advance(50);
    await turn();
    expect([call.outcome, own.outcome]).toEqual([expect.objectContaining({ code: 'ERR_TIMEOUT', timeoutMs: 50 }), 'waiting']);
    clock.advance(20);
    await turn();
    expect(own.outcome).toMatchObject({ code: 'ERR_TIMEOUT', timeoutMs: 70 });
  });

  it('[TIME-003] may be longer than the usual hard end for all requests of a connection', async () => {
    const clock = new FakeClock();
    const { connection } = await connectToRawPeer({ clock, requestTimeoutMs: 900_000 });
    const call = track(connection.request('x'));
    await expectTimeout(call, clock, { leftMs: 900_000, timeoutMs: 900_000 });
  });

  it.each(['maxInFlightBytes', 'requestTimeoutMs', 'maxRequestTimeoutMs'])(
    '[ROBUSTNESS-7] %s that is no number is refused at once',
    (name) => {
      const make = (value: unknown): Connection => new Connection(createInMemoryPair()[0], { [name]: value });
      for (const [bad, text] of [
        [Number.NaN, 'NaN'],
        [-1, '-1'],
        ['1mb', '"1mb"'],
      ] as const) {
        expect(() => make(bad)).toThrow(new TypeError(`Connection options: "${name}" must be a number, 0 or more, got ${text}`));
      }
      for (const good of [undefined, 0, 1.5, Infinity]) expect(() => make(good)).not.toThrow();
    },
  );

  it.each([{ timeoutMs: Number.NaN }, { maxTimeoutMs: -1 }, { timeoutMs: '50' as unknown as number }])(
    '[ROBUSTNESS-7] that is no number is refused: %j',
    async (options) => {
      const { connection, peer } = await connectToRawPeer();
      const [[name, value] = []] = Object.entries(options);
      await expect(connection.request('x', {}, options)).rejects.toThrow(
        `timeoutMs and maxTimeoutMs must be 0 or more milliseconds, got ${name}: ${value}`,
      );
      expect(peer.received).toEqual([]);
    },
  );

  it('is the usual one where it is null, as a configuration read from JSON may say', async () => {
    const clock = new FakeClock();
    const { connection } = await connectToRawPeer({ clock });
    const call = track(connection.request('x', {}, JSON.parse('{ "timeoutMs": null, "maxTimeoutMs": null }') as object));
    await expectTimeout(call, clock, { leftMs: 60_000, timeoutMs: 60_000 });
  });

  it('lets a transport stop the time of the one request that it signs in for', async () => {
    const clock = new FakeClock();
    const { connection, sent } = await connectToSilence(clock);
    const options = { timeoutMs: 100, maxTimeoutMs: 150, relatedRequestId: 'r' };
    const [paused, other] = [track(connection.request('x', {}, options)), track(connection.request('x', {}, options))];
    expect(sent[0]?.relatedRequestId).toBe('r');
    clock.advance(60);
    const resume = sent[0]?.pauseTimeout?.();
    clock.advance(3_600_000);
    await turn();
    expect([paused.outcome, other.outcome]).toEqual(['waiting', expect.any(TimeoutError)]);
    resume?.();
    await expectTimeout(paused, clock, { leftMs: 40, timeoutMs: 100 });
  });

  it('[TIME-005] has a hard end, however much progress is told', async () => {
    const clock = new FakeClock();
    const { connection, peer } = await connectToRawPeer({ clock });
    const calls = [
      track(connection.request('default', {}, { timeoutMs: 100 })),
      track(connection.request('own', {}, { timeoutMs: 100, maxTimeoutMs: 250 })),
    ];
    const endsMs: number[] = [];
    for (let nowMs = 50; nowMs <= 600_000; nowMs += 50) {
      clock.advance(50);
      await peer.send(progress(1, nowMs), progress(2, nowMs));
      for (const [at, call] of calls.entries()) if (call.outcome !== 'waiting') endsMs[at] ??= nowMs;
      if (endsMs[0] !== undefined) break;
    }
    expect(endsMs).toEqual([600_000, 250]);
    expect(calls.map(({ outcome }) => (outcome as TimeoutError).timeoutMs)).toEqual([600_000, 250]);
  });

  it('is not bounded where the caller says so, and then needs no timer', async () => {
    const clock = new FakeClock();
    const { connection, peer } = await connectToRawPeer({ clock });
    const call = track(connection.request('subscriptions/listen', {}, { timeoutMs: Infinity }));
    expect(clock.timerCount).toBe(0);
    clock.advance(10 ** 9);
    await turn();
    expect(call.outcome).toBe('waiting');
    expect(peer.takeRequest().params).toEqual({});
  });

  it('may be longer than the usual hard end when the caller asks for it', async () => {
    const clock = new FakeClock();
    const { connection } = await connectToRawPeer({ clock });
    const call = track(connection.request('slow', {}, { timeoutMs: 900_000 }));
    await expectTimeout(call, clock, { leftMs: 900_000, timeoutMs: 900_000 });
  });

  it('costs one timer for any number of requests, and none after the end', async () => {
    const clock = new FakeClock();
    const { connection } = await connectToRawPeer({ clock });
    const calls = Array.from({ length: 100 }, () => connection.request('slow'));
    expect(clock.timerCount).toBe(1);
    await connection.close();
    expect(clock.timerCount).toBe(0);
    expect((await Promise.allSettled(calls)).every(({ status }) => status === 'rejected')).toBe(true);
  });
});

describe('progress', () => {
  it('[PROG-001] has a token for each request that no other active one has', async () => {
    const { connection, peer } = await connectToRawPeer();
    for (let call = 0; call < 50; call++) void connection.request('a', {}, { onProgress: () => undefined }).catch(() => undefined);
    await turn();
    const tokens = peer.take().map((message) => (message as { params: { _meta: { progressToken: unknown } } }).params._meta.progressToken);
    expect(new Set(tokens).size).toBe(50);
    expect(tokens.every((token) => typeof token === 'string' || Number.isInteger(token))).toBe(true);
  });

  it('is asked for whether or not a callback is given, and without changing what the caller gave', async () => {
    const { connection, peer } = await connectToRawPeer();
    const params = Object.freeze({ name: 'a', _meta: Object.freeze({ 'x/trace': 1, progressToken: 'old' }) });
    const all = [
      connection.request('a', params),
      connection.request('b'),
      connection.request('d', {}, { timeoutMs: Infinity, onProgress: () => undefined }),
      connection.request('e', {}, { resetTimeoutOnProgress: false }),
    ];
    await turn();
    expect(peer.take().map((message) => (message as { params?: unknown }).params)).toEqual([
      { name: 'a', _meta: { 'x/trace': 1, progressToken: 1 } },
      { _meta: { progressToken: 2 } },
      { _meta: { progressToken: 3 } },
      {},
    ]);
    await connection.close();
    await Promise.allSettled(all);
  });

  it('is asked for by whoever makes new parameters for each request', async () => {
    const { connection, peer } = await connectToRawPeer();
    const make = (progressToken: unknown): JsonObject => ({ a: 1, _meta: { progressToken: (progressToken ?? 'none') as string } });
    for (const options of [{}, { resetTimeoutOnProgress: false }]) void connection.request('x', make, options).catch(() => undefined);
    const failed = connection.request('y', () => {
      throw new Error('cannot be made');
    });
    await expect(failed).rejects.toThrow('cannot be made');
    await turn();
    const metas = peer.take().map((message) => (message as { params: { _meta: unknown } }).params._meta);
    expect(metas).toEqual([{ progressToken: 1 }, { progressToken: 'none' }]);
  });

  it('is asked for beside members with any name', async () => {
    const { connection, peer } = await connectToRawPeer();
    const params = JSON.parse('{"__proto__":{"a":1},"_meta":{"__proto__":{"b":2}}}') as JsonObject;
    void connection.request('a', params).catch(() => undefined);
    await turn();
    expect(JSON.stringify(peer.takeRequest().params)).toBe('{"__proto__":{"a":1},"_meta":{"__proto__":{"b":2},"progressToken":1}}');
  });

  it('[PROG-003][PROG-005] reaches the request with that very token, fractions and all, without the token', async () => {
    const seen: JsonObject[][] = [[], []];
    const { connection, peer } = await connectToRawPeer();
    for (const list of seen) void connection.request('a', {}, { onProgress: (step) => list.push(step) }).catch(() => undefined);
    await turn();
    const first = { progress: 0.25, total: 1.5, message: 'a quarter' };
    const sent = notification('notifications/progress', { progressToken: 1, ...first });
    await peer.send(sent, progress(2, 7), progress('1', 8), progress(9, 9));
    expect(seen).toEqual([[first], [{ progress: 7 }]]);
  });

  it('[PROG-007] may never come', async () => {
    const { connection, peer } = await connectToRawPeer();
    const answer = connection.request('a', {}, { onProgress: () => undefined });
    await turn();
    await peer.send(result(1));
    expect(await answer).toEqual({});
  });

  it('[PROG-008] is not told to a request that is settled', async () => {
    const seen: JsonObject[] = [];
    const { connection, peer } = await connectToRawPeer();
    const answer = connection.request('a', {}, { onProgress: (params) => seen.push(params) });
    await turn();
    await peer.send(progress(1, 1), result(1), progress(1, 2));
    await answer;
    expect(seen).toHaveLength(1);
  });

  it('is told to onNotification too, also under tokens that belong to no request', async () => {
    const seen: JsonRpcNotification[] = [];
    const { connection, peer, errors } = await connectToRawPeer({
      onNotification: (message) => {
        seen.push(message);
      },
    });
    void connection.request('a').catch(() => undefined);
    await peer.send(progress(1), progress('of a task'), notification('notifications/progress'));
    expect(seen).toHaveLength(3);
    expect(errors).toEqual([]);
    expect(peer.take()).toHaveLength(1);
  });

  it('[ROBUSTNESS-5] does no harm when its callback throws or rejects', async () => {
    const { connection, peer, errors } = await connectToRawPeer();
    const answer = connection.request(
      'a',
      {},
      {
        onProgress: () => {
          throw new Error('one');
        },
      },
    );
    const other = connection.request(
      'b',
      {},
      {
        onProgress: (async () => {
          throw new Error('two');
        }) as () => void,
      },
    );
    await turn();
    await peer.send(progress(1), progress(2), result(1), result(2));
    expect(await Promise.all([answer, other])).toEqual([{}, {}]);
    expect(errors.map(String)).toEqual(['Error: one', 'Error: two']);
  });
});
