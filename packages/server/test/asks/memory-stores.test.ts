/** The stores of a single process. */

import { describe, expect, it } from 'vitest';
import { MemoryReplayStore, MemoryStateStore } from '@mortise/server';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { answerTo, askName, callThrough, open } from './chain.ts';

describe('MemoryStateStore', () => {
  it('holds a state until it expires, or is deleted', async () => {
    const clock = new FakeClock();
    expect(() => new MemoryStateStore({ clok: clock } as never)).toThrow(/unknown option "clok"/);
    const store = new MemoryStateStore({ clock });
    await store.put('a', 'A', 10);
    await store.put('b', 'B', 20);
    expect([await store.get('a'), await store.get('b'), await store.get('c'), await store.get('__proto__')]).toEqual([
      'A',
      'B',
      undefined,
      undefined,
    ]);
    clock.advance(10);
    expect([await store.get('a'), await store.get('b')]).toEqual([undefined, 'B']);
    await store.delete('b');
    expect(await store.get('b')).toBeUndefined();
  });

  it('lets the oldest go when there is too much', async () => {
    const clock = new FakeClock();
    // At most 64 Mi characters.
    const large = (id: string): string => id.repeat(26 * 1024 * 1024);
    const kept = async (ids: string): Promise<string> => {
      const values = await Promise.all([...ids].map((id) => store.get(id)));
      return values.map((value) => value?.[0] ?? '-').join('');
    };
    const store = new MemoryStateStore({ clock });
    for (const id of ['a', 'b', 'c']) await store.put(id, large(id), 1_000);
    expect(await kept('abc')).toBe('-bc');
    await store.put('b', 'b', 1_000);
    await store.put('d', large('d'), 1_000);
    expect(await kept('bcd')).toBe('bcd');
  });

  it('carries rounds whose states are too long to travel', async () => {
    const store = new MemoryStateStore();
    const peer = await open(async (ctx) => `${(await ctx.once('big', () => 'x'.repeat(300_000))).length} ${await askName(ctx, 'a')}`, {
      requestState: { store },
    });
    expect((await callThrough(peer)).text).toBe('300000 a');
  });
});

/** A store with the 100,000 claims that it may have: `a`, and others for 10 ms. */
async function fullStore(clock: FakeClock, firstMs: number): Promise<MemoryReplayStore> {
  const store = new MemoryReplayStore({ clock });
  const claims = [await store.claim('a', firstMs)];
  for (let n = 1; n < 100_000; n++) claims.push(await store.claim(`${n}`, 10));
  expect(claims.every(Boolean)).toBe(true);
  return store;
}

describe('MemoryReplayStore', () => {
  it('lets one of many claim, until the claim expires', async () => {
    const clock = new FakeClock();
    const store = new MemoryReplayStore({ clock });
    const claims = await Promise.all(Array.from({ length: 9 }, () => store.claim('a', 10)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await store.claim('b', 10)).toBe(true);
    clock.advance(9);
    expect(await store.claim('a', 10)).toBe(false);
    clock.advance(1);
    expect(await store.claim('a', 10)).toBe(true);
  });

  it('lets nobody claim when it is full, and forgets no claim for that', async () => {
    const clock = new FakeClock();
    const store = await fullStore(clock, 10);
    expect([await store.claim('c', 10), await store.claim('a', 10)]).toEqual([false, false]);
    clock.advance(1_000);
    expect(await store.claim('c', 10)).toBe(true);
  });

  it('forgets claims that have expired behind one that lasts', async () => {
    const clock = new FakeClock();
    const store = await fullStore(clock, 60_000);
    clock.advance(1_000);
    expect([await store.claim('c', 10), await store.claim('a', 10)]).toEqual([true, false]);
  });

  it('makes a requestState good for one use', async () => {
    const peer = await open((ctx) => askName(ctx, 'a'), { requestState: { replay: new MemoryReplayStore() } });
    const { result } = await peer.request('tools/call', { name: 'run' });
    const retry = { name: 'run', ...answerTo(result) };
    expect((await peer.request('tools/call', retry)).result.content[0].text).toBe('a');
    expect((await peer.request('tools/call', retry)).error?.code).toBe(-32602);
  });
});
