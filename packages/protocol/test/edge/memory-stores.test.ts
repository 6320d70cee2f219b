/** The stores in memory. The kits of `SessionStore` and `EventStore` run on them in transport-testkit. */

import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import { MemoryEventStore, MemorySessionStore } from '@mortise/protocol/edge';
import { describe, expect, it } from 'vitest';

function fakeClock(): { now(): number; monotonicMs(): number; schedule(): { cancel(): void }; atMs: number } {
  return {
    atMs: 0,
    now() {
      return this.atMs;
    },
    monotonicMs() {
      return this.atMs;
    },
    schedule: () => ({ cancel: () => undefined }),
  };
}

const session = (id: string, expiresAtMs = 100): { id: string; principal: string; state: { layout: number }; expiresAtMs: number } => ({
  id,
  principal: 'p',
  state: { layout: 1 },
  expiresAtMs,
});

describe('MemorySessionStore', () => {
  it('S1 writes only over the version that the writer saw', async () => {
    const store = new MemorySessionStore({ clock: fakeClock() });
    expect(await store.put(session('a'), 0)).toBe(true);
    expect(await store.put(session('a'), 0)).toBe(false);
    expect(await store.put(session('a'), 2)).toBe(false);
    const results = await Promise.all([store.put(session('a'), 1), store.put(session('a'), 1)]);
    expect(results.filter(Boolean)).toHaveLength(1);
    expect((await store.get('a'))?.version).toBe(2);
    expect(await store.put(session('b'), 1)).toBe(false);
  });

  it('S2 does not find what has expired, and touch moves the expiry on', async () => {
    const clock = fakeClock();
    const store = new MemorySessionStore({ clock });
    await store.put(session('a'), 0);
    expect(await store.touch('a', 200)).toBe(true);
    clock.atMs = 150;
    expect(await store.get('a')).toBeDefined();
    clock.atMs = 200;
    expect(await store.get('a')).toBeUndefined();
    expect(await store.touch('a', 300)).toBe(false);
    expect(await store.put(session('a', 300), 0)).toBe(true);
  });

  it('S3 gives and takes copies', async () => {
    const store = new MemorySessionStore({ clock: fakeClock() });
    const given = { ...session('a'), state: { layout: 1, list: [1] as number[] } };
    await store.put(given, 0);
    given.state.list.push(2);
    const first = await store.get('a');
    (first?.state['list'] as number[]).push(3);
    expect((await store.get('a'))?.state['list']).toEqual([1]);
  });

  it('S4 forgets on demand, and what expired', async () => {
    const store = new MemorySessionStore({ clock: fakeClock() });
    await store.put(session('a', 5), 0);
    await store.put(session('b', 50), 0);
    await store.put(session('__proto__', 50), 0);
    expect(await store.deleteExpired(10)).toBe(1);
    expect(await store.get('__proto__')).toBeDefined();
    await store.delete('__proto__');
    expect(store.size).toBe(1);
  });

  it('rule 7: makes room by forgetting the session that was idle longest', async () => {
    const store = new MemorySessionStore({ clock: fakeClock(), maxSessions: 2 });
    await store.put(session('a'), 0);
    await store.put(session('b'), 0);
    await store.touch('a', 100);
    await store.put(session('c'), 0);
    expect(await store.get('b')).toBeUndefined();
    expect([(await store.get('a'))?.id, (await store.get('c'))?.id]).toEqual(['a', 'c']);
  });
});

const message = (id: number): JsonRpcMessage => ({ jsonrpc: '2.0', id, result: {} });

describe('MemoryEventStore', () => {
  it('V1 gives ids that are unique and name their stream', async () => {
    const store = new MemoryEventStore({ clock: fakeClock() });
    const ids = [
      await store.append('s', 'a', message(1)),
      await store.append('s', 'a', message(2)),
      await store.append('s', 'b', message(3)),
    ];
    expect(new Set(ids).size).toBe(3);
    expect((await store.replay('s', ids[2] ?? ''))?.streamId).toBe('b');
  });

  it('V2 rule 16: replays one stream only, in order, within one millisecond', async () => {
    const store = new MemoryEventStore({ clock: fakeClock() });
    const primed = await store.append('s', 'a~x', undefined);
    for (let id = 1; id <= 20; id += 1) await store.append('s', id % 2 === 0 ? 'a~x' : 'b', message(id));
    const replayed = await store.replay('s', primed);
    expect(replayed?.events.map((event) => (event.message as { id: number }).id)).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
    expect((await store.replay('s', replayed?.events[7]?.id ?? ''))?.events).toHaveLength(2);
    expect((await store.replay('s', replayed?.events[9]?.id ?? ''))?.events).toEqual([]);
  });

  it('V3 rule 16: drops by count and by age, and knows no id that is dropped or made up', async () => {
    const clock = fakeClock();
    const store = new MemoryEventStore({ clock, maxEventsPerStream: 2, maxAgeMs: 100 });
    const ids = [
      await store.append('s', 'a', message(1)),
      await store.append('s', 'a', message(2)),
      await store.append('s', 'a', message(3)),
    ];
    expect(await store.replay('s', ids[0] ?? '')).toBeUndefined();
    expect((await store.replay('s', ids[1] ?? ''))?.events).toHaveLength(1);
    for (const made of ['a~99', 'a~0', 'a~-1', 'a', '', 'b~1', 'a~1.5', 'a~03', '__proto__~1'])
      expect(await store.replay('s', made)).toBeUndefined();
    expect(await store.replay('other', ids[1] ?? '')).toBeUndefined();
    clock.atMs = 101;
    expect(await store.replay('s', ids[1] ?? '')).toBeUndefined();
  });

  it('rule 7: bounds streams and sessions, and forgets on demand', async () => {
    const store = new MemoryEventStore({ clock: fakeClock(), maxStreamsPerSession: 2, maxSessions: 2 });
    const first = await store.append('s', 'a', message(1));
    const pushedOut = await store.append('s', 'b', message(1));
    await store.append('s', 'a', message(2));
    const third = await store.append('s', 'c', message(1));
    expect(await store.replay('s', first)).toBeDefined();
    expect(await store.replay('s', pushedOut)).toBeUndefined();
    await store.delete('s', 'c');
    expect(await store.replay('s', third)).toBeUndefined();
    await store.append('t', 'a', message(1));
    await store.append('u', 'a', message(1));
    expect(await store.replay('s', first)).toBeUndefined();
    await store.delete('u');
    expect(await store.replay('u', 'a~1')).toBeUndefined();
  });

  it('rule 16: gives no id again to a stream that was pushed out and is used again', async () => {
    const store = new MemoryEventStore({ clock: fakeClock(), maxStreamsPerSession: 1 });
    const before = [await store.append('s', 'a', message(1)), await store.append('s', 'a', message(2))];
    await store.append('s', 'b', message(3));
    const after = [await store.append('s', 'a', message(4)), await store.append('s', 'a', message(5))];
    expect(after.filter((id) => before.includes(id))).toEqual([]);
    for (const id of before) expect(await store.replay('s', id)).toBeUndefined();
  });
});
