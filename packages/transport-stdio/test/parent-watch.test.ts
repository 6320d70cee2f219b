import type { Clock } from '@mortise/jsonrpc-core';
import { expect, it } from 'vitest';
import { watchParent } from '../src/stdio-server-transport.ts';

function createClock(): Clock & { tick(): void; readonly delays: number[]; readonly keepsAlive: unknown[] } {
  let next: (() => void) | undefined;
  const [delays, keepsAlive] = [[] as number[], [] as unknown[]];
  return {
    delays,
    keepsAlive,
    now: () => 0,
    monotonicMs: () => 0,
    schedule(fn, delayMs, options) {
      next = fn;
      delays.push(delayMs);
      keepsAlive.push(options?.keepAlive);
      return { cancel: () => void (next = undefined) };
    },
    tick() {
      const fn = next;
      next = undefined;
      fn?.();
    },
  };
}

it('calls back once when the parent has another id, and looks no more', () => {
  const clock = createClock();
  let [parent, count] = [100, 0];
  watchParent(
    () => count++,
    clock,
    () => parent,
  );
  clock.tick();
  clock.tick();
  expect(count).toBe(0);
  parent = 1;
  clock.tick();
  clock.tick();
  expect(count).toBe(1);
  expect(clock.delays).toEqual([400, 400, 400]);
});

it('never keeps the process alive', () => {
  const clock = createClock();
  watchParent(
    () => undefined,
    clock,
    () => 100,
  );
  clock.tick();
  expect(clock.keepsAlive.every((keepAlive) => keepAlive !== true)).toBe(true);
});

it('ends when it is told to', () => {
  const clock = createClock();
  let [parent, count] = [100, 0];
  const end = watchParent(
    () => count++,
    clock,
    () => parent,
  );
  clock.tick();
  end();
  parent = 1;
  clock.tick();
  expect(count).toBe(0);
});

it('is content with a parent that is process 1 from the start, as in a container', () => {
  const clock = createClock();
  let count = 0;
  watchParent(
    () => count++,
    clock,
    () => 1,
  );
  clock.tick();
  expect(count).toBe(0);
});
