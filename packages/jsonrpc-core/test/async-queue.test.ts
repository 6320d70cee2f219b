import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AsyncQueue } from '../src/connection.ts';
import { outcomeOf } from './support/raw-peer.ts';

async function readAll<T>(queue: AsyncQueue<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of queue) values.push(value);
  return values;
}

describe('AsyncQueue', () => {
  it('gives values out in order, those that wait and those to come', async () => {
    const queue = new AsyncQueue<number>();
    queue.push(1);
    const reading = readAll(queue);
    queue.push(2);
    await undefined;
    queue.push(3);
    queue.close();
    expect(await reading).toEqual([1, 2, 3]);
    expect(queue.push(4)).toBe(false);
  });

  it('refuses what goes beyond its bound', () => {
    const queue = new AsyncQueue<number>();
    for (let n = 0; n < 1024; n++) expect(queue.push(n)).toBe(true);
    expect(queue.push(1024)).toBe(false);
    expect(queue.length).toBe(1024);
  });

  it('gives what waits before the error that it failed with, and the end after', async () => {
    const queue = new AsyncQueue<number>();
    queue.push(1);
    queue.fail(new Error('broken'));
    queue.fail(new Error('again'));
    expect(await queue.next()).toEqual({ value: 1, done: false });
    await expect(queue.next()).rejects.toThrow('broken');
    expect(await queue.next()).toEqual({ value: undefined, done: true });
  });

  it('settles readers that wait when it ends', async () => {
    for (const end of ['close', 'fail'] as const) {
      const queue = new AsyncQueue<number>();
      const reads = [outcomeOf(queue.next()), outcomeOf(queue.next())];
      if (end === 'fail') queue.fail('broken');
      else queue.close();
      const done = { value: { value: undefined, done: true } };
      expect(await Promise.all(reads)).toEqual(end === 'fail' ? [{ error: 'broken' }, done] : [done, done]);
    }
  });

  it('lets go of its source once, when the reader leaves or it ends', async () => {
    let ends = 0;
    const queue = new AsyncQueue<number>(() => ends++);
    queue.push(1);
    queue.push(2);
    for await (const value of queue) {
      expect(value).toBe(1);
      break;
    }
    expect([ends, queue.isEnded, queue.length, queue.push(3)]).toEqual([1, true, 0, false]);
    queue.close();
    expect(ends).toBe(1);
  });

  it('keeps the order of any mix of pushes and reads', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 1_024 }), async (steps) => {
        const queue = new AsyncQueue<number>();
        const reads: Promise<IteratorResult<number, undefined>>[] = [];
        let next = 0;
        for (const isPush of steps) {
          if (isPush) queue.push(next++);
          else reads.push(queue.next());
        }
        queue.close();
        const got = (await Promise.all(reads)).flatMap(({ value }) => (value === undefined ? [] : [value]));
        expect([...got, ...(await readAll(queue))]).toEqual(Array.from({ length: next }, (_none, n) => n));
      }),
      { numRuns: 50 },
    );
  });
});
