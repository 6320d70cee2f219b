/** `@mortise/transport-testkit/task-queue`: test cases for the guarantees Q1 to Q3 of a `TaskQueue`. */

import type { TaskQueue } from '@mortise/protocol/contracts';
import { check, checkEqual, settlesWithin, turns, within } from './check.ts';
import type { KitCase, KitSubject } from './kit-case.ts';

/** What the `TaskQueue` cases test: an empty queue. It must deliver a failed job again well before the timeout set by `setPatience`. */
export interface TaskQueueSubject extends KitSubject {
  readonly queue: TaskQueue;
  /** For implementations that declare the trait `shared`: another queue over the same jobs, as another machine or process would open it. */
  readonly other?: TaskQueue;
  /** For the trait `durable`: ends `queue` and its running jobs as a crash would. Resolves with the queue that another process opens. */
  crash?(): Promise<TaskQueue>;
}

/** A test case for one guarantee of a `TaskQueue`. */
export type TaskQueueCase = KitCase<TaskQueueSubject>;

/** A worker of a task queue that records the jobs it gets. */
class Worker {
  readonly seen: string[] = [];
  #wake = (): void => undefined;

  readonly take = async (taskId: string): Promise<void> => {
    this.seen.push(taskId);
    this.#wake();
  };

  /** Waits until `holds` returns true for the ids of the jobs that this worker got. */
  async until(holds: (seen: readonly string[]) => boolean, otherwise: string): Promise<void> {
    while (!holds(this.seen)) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await within(woken, () => `${otherwise}: ${JSON.stringify(this.seen)}`);
    }
  }
}

/** Makes a JavaScript promise and a function that resolves it. */
function deferred(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const hasAll =
  (...ids: readonly string[]) =>
  (seen: readonly string[]): boolean =>
    ids.every((id) => seen.includes(id));

/**
 * Test cases for the guarantees of a `TaskQueue`. The id of a case, such as Q1.1, begins with the id of its guarantee.
 *
 * A trait that adds a case: `durable` (the subject has `crash`).
 */
export const taskQueueCases: readonly TaskQueueCase[] = [
  {
    id: 'Q1.1',
    title: 'delivers jobs to a worker, also those added before it started',
    async run({ queue }) {
      const worker = new Worker();
      await queue.enqueue('before');
      const stop = queue.work(worker.take);
      await worker.until(hasAll('before'), 'A job from before the worker should be given to it');
      await Promise.all(['a', '__proto__', 'ä b'].map((id) => queue.enqueue(id)));
      await worker.until(hasAll('a', '__proto__', 'ä b'), 'Jobs should be given to the worker');
      await within(stop(), 'stop should resolve');
    },
  },
  {
    id: 'Q1.2',
    title: 'delivers each of many jobs to a worker',
    async run(subject) {
      const worker = new Worker();
      const stops = [subject.queue, subject.other ?? subject.queue].map((queue) => queue.work(worker.take));
      const ids = Array.from({ length: 100 }, (_, n) => `t${n}`);
      await Promise.all(ids.map((id) => subject.queue.enqueue(id)));
      await worker.until(hasAll(...ids), 'Every job should be given to some worker');
      await Promise.all(stops.map((stop) => within(stop(), 'stop should resolve')));
    },
  },
  {
    id: 'Q1.3',
    title: 'delivers jobs again that were queued or running when a process crashed',
    needs: ['durable'],
    async run(subject) {
      const { queue } = subject;
      check(subject.crash !== undefined, 'A subject with the trait durable should be able to crash');
      const inHand = deferred();
      // Also of a job that reached the worker just before the crash.
      queue.work(() => (inHand.resolve(), new Promise(() => undefined)));
      await queue.enqueue('in hand');
      await within(inHand.promise, 'A job should be given out');
      await queue.enqueue('accepted');
      const next = await subject.crash();
      const worker = new Worker();
      const stop = next.work(worker.take);
      await worker.until(hasAll('in hand', 'accepted'), 'What a dead process left should be given out');
      await stop();
    },
  },
  {
    id: 'Q2.1',
    title: 'delivers a job again if its handler rejects, and others in the meantime',
    async run({ queue }) {
      const worker = new Worker();
      let failures = 2;
      const stop = queue.work(async (id) => {
        await worker.take(id);
        if (id === 'bad' && failures-- > 0) throw new Error('not now');
      });
      await queue.enqueue('bad');
      await queue.enqueue('good');
      await worker.until((seen) => hasAll('good')(seen) && seen.filter((id) => id === 'bad').length >= 3, 'A job should come again');
      await stop();
    },
  },
  {
    id: 'Q2.2',
    title: 'stop waits for running jobs, and no job is delivered afterwards',
    async run({ queue }) {
      const [started, finish] = [deferred(), deferred()];
      const seen: string[] = [];
      const stop = queue.work(async (id) => {
        seen.push(id);
        started.resolve();
        await finish.promise;
      });
      await queue.enqueue('one');
      await within(started.promise, 'A job should be given out');
      const stopped = stop();
      checkEqual(await settlesWithin(stopped, 5), false, 'Whether stop resolves while a job is in hand');
      await queue.enqueue('two');
      finish.resolve();
      await within(stopped, 'stop should resolve when nothing is in hand');
      await turns(10);
      checkEqual(seen, ['one'], 'The jobs that were given out');
      const worker = new Worker();
      const stopNext = queue.work(worker.take);
      await worker.until(hasAll('two'), 'A job that was accepted while nobody worked should be kept');
      await stopNext();
    },
  },
  {
    id: 'Q3.1',
    title: 'delivers a task once if it was added twice while it waited',
    async run({ queue }) {
      for (const id of ['one', 'one', 'two', 'one', 'two']) await queue.enqueue(id);
      const worker = new Worker();
      const stop = queue.work(worker.take);
      await queue.enqueue('last');
      await worker.until(hasAll('one', 'two', 'last'), 'Each task should be given to the worker');
      await turns(10);
      await stop();
      checkEqual(worker.seen.toSorted(), ['last', 'one', 'two'], 'The tasks that were given out');
    },
  },
  {
    id: 'Q3.2',
    title: 'delivers a task once more that was added again while its handler was running',
    async run({ queue }) {
      const worker = new Worker();
      const [started, finish] = [deferred(), deferred()];
      const stop = queue.work(async (id) => {
        await worker.take(id);
        if (worker.seen.length > 1) return;
        started.resolve();
        await finish.promise;
      });
      await queue.enqueue('one');
      await within(started.promise, 'A job should be given out');
      await queue.enqueue('one');
      finish.resolve();
      await worker.until((seen) => seen.length >= 2, 'A task should be given out for each time that it was added');
      await within(stop(), 'stop should resolve');
    },
  },
];
