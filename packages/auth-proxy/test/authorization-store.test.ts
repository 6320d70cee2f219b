import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryAuthorizationStore } from '../src/authorization-store.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';

let clock: FakeClock;
let store: MemoryAuthorizationStore;
beforeEach(() => {
  clock = new FakeClock(1_800_000_000_000);
  store = new MemoryAuthorizationStore(clock, 3);
});

const put = (key: string, ms = 1_000) => store.put(key, { key }, clock.now() + ms);

describe('MemoryAuthorizationStore', () => {
  it('A1 gives what was written last, until its expiry', async () => {
    await put('code:a');
    await store.put('code:a', { second: true }, clock.now() + 1_000);
    expect(await store.get('code:a')).toEqual({ second: true });
    clock.advance(1_000);
    expect([await store.get('code:a'), await store.take('code:a')]).toEqual([undefined, undefined]);
    await put('code:b');
    await store.delete('code:b');
    expect([await store.get('code:b'), await store.get('other:b')]).toEqual([undefined, undefined]);
  });

  it('A2 gives a taken value to one of many', async () => {
    await put('code:a');
    const taken = await Promise.all(Array.from({ length: 10 }, () => store.take('code:a')));
    expect(taken.filter((value) => value !== undefined)).toEqual([{ key: 'code:a' }]);
  });

  it('[ROBUSTNESS-7] keeps each kind within its bound: what ends first makes room, and other kinds stay', async () => {
    await put('grant:a');
    for (const [key, ms] of [
      ['client:a', 500],
      ['client:b', 100],
      ['client:c', 300],
      ['client:d', 400],
    ] as const)
      await put(key, ms);
    const kept = await Promise.all(['grant:a', 'client:a', 'client:b', 'client:c', 'client:d'].map((key) => store.get(key)));
    expect(kept.map((value) => value !== undefined)).toEqual([true, true, false, true, true]);
  });
});
