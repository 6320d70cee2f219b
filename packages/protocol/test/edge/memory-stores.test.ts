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

const session = (id: string): { id: string; principal: string; state: { layout: number } } => ({
  id,
  principal: 'p',
  state: { layout: 1 },
});

describe('MemorySessionStore', () => {
  it('S4 forgets on demand, and what expired', async () => {
    const clock = fakeClock();
    const store = new MemorySessionStore({ clock });
    await store.put(session('a'), 0, 5);
    await store.put(session('b'), 0, 50);
    await store.put(session('__proto__'), 0, 50);
    clock.atMs = 10;
    expect(await store.deleteExpired()).toBe(false);
    expect([store.size, await store.get('__proto__', 50)]).toEqual([2, expect.anything()]);
    await store.delete('__proto__');
    expect(store.size).toBe(1);
  });

  it('S4 deletes 10,000 expired sessions at once, and says that there are more', async () => {
    const clock = fakeClock();
    const store = new MemorySessionStore({ clock });
    for (let n = 0; n < 10_001; n++) await store.put(session(`${n}`), 0, 1);
    clock.atMs = 1;
    expect([await store.deleteExpired(), store.size, await store.deleteExpired(), store.size]).toEqual([true, 1, false, 0]);
  });

  it('rule 7: makes room by forgetting the session that was idle longest', async () => {
    const store = new MemorySessionStore({ clock: fakeClock(), maxSessions: 2 });
    for (const id of ['a', 'b']) await store.put(session(id), 0, 100);
    await store.get('a', 100);
    await store.put(session('c'), 0, 100);
    expect([store.size, await store.get('b', 100)]).toEqual([2, undefined]);
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
    const replayed = await store.replay('s', primed ?? '');
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

  it('rule 7: forgets a stream or a session on demand', async () => {
    const store = new MemoryEventStore({ clock: fakeClock() });
    const [first, second, other] = [
      await store.append('s', 'a', message(1)),
      await store.append('s', 'b', message(1)),
      await store.append('t', 'a', message(1)),
    ];
    await store.delete('s', 'b');
    expect(await store.replay('s', first ?? '')).toBeDefined();
    expect(await store.replay('s', second ?? '')).toBeUndefined();
    await store.delete('s');
    expect(await store.replay('s', first ?? '')).toBeUndefined();
    expect(await store.replay('t', other ?? '')).toBeDefined();
  });

  it('rule 16: gives no id again to a stream that was pushed out and is used again', async () => {
    const store = new MemoryEventStore({ clock: fakeClock(), maxBytes: 1 });
    const before = [await store.append('s', 'a', message(1)), await store.append('s', 'a', message(2))];
    await store.append('s', 'b', message(3));
    const after = [await store.append('s', 'a', message(4)), await store.append('s', 'a', message(5))];
    expect(after.filter((id) => before.includes(id))).toEqual([]);
    for (const id of before) expect(await store.replay('s', id ?? '')).toBeUndefined();
  });

  describe('in bytes', () => {
    const KIB = 1024;
    const long = (kib: number): JsonRpcMessage => ({ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat((kib * KIB) / 2) } });

    it('[ROBUSTNESS-7] bounds what a session holds to a quarter, the oldest events of the stream that was used longest ago going first', async () => {
      const store = new MemoryEventStore({ clock: fakeClock(), maxBytes: 400 * KIB });
      const old = [await store.append('s', 'old', long(30)), await store.append('s', 'old', long(30))];
      const other = await store.append('other', 'a', long(90));
      const next = await store.append('s', 'next', long(50));
      expect(await store.replay('s', old[0] ?? '')).toBeUndefined();
      expect((await store.replay('s', old[1] ?? ''))?.events).toEqual([]);
      await store.append('s', 'next', long(45));
      expect(await store.replay('s', old[1] ?? '')).toBeUndefined();
      expect((await store.replay('s', next ?? ''))?.events).toHaveLength(1);
      expect(await store.replay('other', other ?? '')).toBeDefined();
      expect(store.bytes).toBeLessThan(200 * KIB);
    });

    it('[ROBUSTNESS-7][ROBUSTNESS-8] bounds what all hold, the session that was used longest ago going first', async () => {
      const store = new MemoryEventStore({ clock: fakeClock(), maxBytes: 200 * KIB });
      const first = await store.append('first', 'a', long(40));
      const second = await store.append('second', 'a', long(40));
      for (const session of ['x', 'y']) await store.append(session, 'a', long(40));
      await store.append('first', 'a', long(1));
      const third = await store.append('third', 'a', long(40));
      expect(await store.replay('second', second ?? '')).toBeUndefined();
      expect((await store.replay('first', first ?? ''))?.events).toHaveLength(1);
      expect(await store.replay('third', third ?? '')).toBeDefined();
      expect(store.bytes).toBeLessThan(200 * KIB);
    });

    it('keeps the newest event however long it is, and nothing beside it', async () => {
      const store = new MemoryEventStore({ clock: fakeClock(), maxBytes: 20 * KIB });
      const others = [await store.append('s', 'a', long(1)), await store.append('s', 'b', long(1)), await store.append('t', 'a', long(1))];
      const priming = await store.append('s', 'c', undefined);
      const huge = await store.append('s', 'c', long(50));
      expect((await store.replay('s', huge ?? ''))?.events).toEqual([]);
      for (const id of [...others, priming])
        expect([await store.replay('s', id ?? ''), await store.replay('t', id ?? '')]).toEqual([undefined, undefined]);
    });

    it('counts what is forgotten out again', async () => {
      const store = new MemoryEventStore({ clock: fakeClock(), maxEventsPerStream: 2, maxBytes: 20 * KIB });
      for (let n = 0; n < 100; n++) await store.append(`s${n % 5}`, `t${n % 7}`, long(1));
      expect(store.bytes).toBeGreaterThan(0);
      await store.delete('s4', 't0');
      await store.delete('none');
      for (let n = 0; n < 5; n++) await store.delete(`s${n}`);
      expect(store.bytes).toBe(0);
    });

    it('[ROBUSTNESS-7] holds no more than 64 MiB where nothing is said', async () => {
      const store = new MemoryEventStore({ clock: fakeClock() });
      for (let n = 0; n < 40; n++) await store.append(`s${n}`, 'a', long(6 * KIB));
      expect([store.bytes > 50 * KIB * KIB, store.bytes <= 64 * KIB * KIB]).toEqual([true, true]);
      for (let n = 0; n < 40; n++) await store.append('one', 'a', long(6 * KIB));
      await store.delete('one');
      expect(store.bytes).toBeGreaterThan(40 * KIB * KIB);
    });
  });
});

it.each([
  ...['maxEventsPerStream', 'maxBytes', 'maxAgeMs'].map((name) => [name, (options: object) => new MemoryEventStore(options)] as const),
  ['maxSessions', (options: object) => new MemorySessionStore(options)] as const,
])('[ROBUSTNESS-7] a store whose %s is no number is refused: it would hold whatever comes', (name, make) => {
  for (const value of [NaN, -1, '64', null])
    expect(() => make({ [name]: value })).toThrow(new RegExp(`: "${name}" must be a number, [01] or more`));
  for (const value of [undefined, 1, Infinity]) expect(() => make({ [name]: value })).not.toThrow();
});
