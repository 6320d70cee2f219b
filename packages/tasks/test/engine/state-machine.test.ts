import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskRecord, TaskStatus } from '@mortise/protocol/contracts';
import { MemoryTaskStore } from '@mortise/tasks';
import type { TaskEngine } from '../../src/engine/task-engine.ts';
import { type TaskOutcome, TRANSITIONS } from '../../src/engine/task-states.ts';
import type { TaskRun } from '../../src/engine/task-run.ts';
import { createEngine } from '../support/create-engine.ts';

type Event =
  | { readonly kind: 'ask' | 'give up' | 'complete' | 'fail' | 'cancel' | 'say' | 'answer wrongly' }
  | { readonly kind: 'answer'; readonly which: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Event>({ kind: 'ask' }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('answer' as const), which: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.constantFrom<Event>({ kind: 'say' }, { kind: 'give up' }, { kind: 'answer wrongly' }) },
  { weight: 1, arbitrary: fc.constantFrom<Event>({ kind: 'complete' }, { kind: 'fail' }, { kind: 'cancel' }) },
);

/** What is ready happens at once; nothing happens later. */
const clock = {
  now: () => 1_000,
  monotonicMs: () => 1_000,
  schedule: (fn: () => void, delayMs: number) => {
    if (delayMs === 0) queueMicrotask(fn);
    return { cancel: () => undefined };
  },
};

/** One task, on a store that two engines share: one runs it, the other is what callers reach. */
class Subject {
  readonly seen: TaskRecord[] = [];
  readonly id: string;
  readonly #runner: TaskEngine;
  readonly #other: TaskEngine;
  readonly #run: TaskRun;
  readonly #end: (outcome: TaskOutcome) => void;
  readonly #controllers: AbortController[] = [];
  #asked = 0;

  private constructor(runner: TaskEngine, other: TaskEngine, run: TaskRun, end: (outcome: TaskOutcome) => void, seen: TaskRecord[]) {
    this.#runner = runner;
    this.#other = other;
    this.#run = run;
    this.#end = end;
    this.id = run.id;
    this.seen = seen;
  }

  static async create(): Promise<Subject> {
    const store = new MemoryTaskStore({ now: clock.now });
    const seen: TaskRecord[] = [];
    const onChanged = (record: TaskRecord): void => void seen.push(record);
    let end: (outcome: TaskOutcome) => void = () => undefined;
    const started = new Promise<TaskRun>((resolve) => {
      const runner = createEngine({
        store,
        clock,
        onChanged,
        run: (_record, run) => {
          resolve(run);
          return new Promise((done) => (end = done));
        },
      });
      runner.start();
      engines.push(runner);
    });
    const other = createEngine({ store, clock, onChanged });
    const runner = engines.pop() as TaskEngine;
    seen.push(await runner.create({ principal: 'p', generation: 'g' }));
    const run = await started;
    return new Subject(runner, other, run, (outcome) => end(outcome), seen);
  }

  async apply(event: Event): Promise<void> {
    const record = await this.record();
    const outstanding = record.asks.filter(({ answer, isWithdrawn }) => !answer && !isWithdrawn);
    switch (event.kind) {
      case 'ask': {
        const controller = new AbortController();
        this.#controllers.push(controller);
        void this.#run
          .ask({ method: 'elicitation/create', params: { n: ++this.#asked % 3 }, signal: controller.signal })
          .catch(() => undefined);
        return;
      }
      case 'give up':
        return this.#controllers.pop()?.abort(new Error('given up'));
      case 'answer': {
        const ask = outstanding[event.which % Math.max(1, outstanding.length)];
        await this.#other.answer(record, new Map([[ask?.key ?? 'none', { answer: { action: 'decline' } }]]));
        // The runner looks at the store when it renews its lease; here it is told at once.
        const now = await this.record();
        this.#run.onRecord(now);
        return;
      }
      case 'answer wrongly':
        await this.#other.answer(record, new Map([['never asked', { answer: {} }]]));
        return;
      case 'say':
        return this.#run.setStatus(`said ${this.#asked}`);
      case 'cancel':
        await this.#other.cancel(record);
        return;
      case 'complete':
        return this.#end({ status: 'completed', result: {} });
      case 'fail':
        return this.#end({ status: 'failed', error: { code: -32603, message: 'failed' } });
    }
  }

  async record(): Promise<TaskRecord> {
    return (await this.#runner.peek(this.id)) as TaskRecord;
  }

  async settle(): Promise<void> {
    // A question is kept once its digest is known, which takes some turns.
    for (let turn = 0; turn < 3 || (await this.#isAsking()); turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  async #isAsking(): Promise<boolean> {
    const { status, asks } = await this.record();
    return TRANSITIONS[status].length > 0 && asks.length < this.#asked;
  }

  close(): Promise<unknown> {
    // Handlers that go on would keep it waiting for good: no time passes here.
    this.#end({ status: 'completed', result: {} });
    return Promise.all([this.#runner.close(), this.#other.close()]);
  }
}

const engines: TaskEngine[] = [];

/** What a task must look like after one event, if nothing else happens. */
function next(status: TaskStatus, open: number, event: Event): { readonly status: TaskStatus; readonly open: number | undefined } {
  if (TRANSITIONS[status].length === 0) return { status, open };
  const waiting = (count: number): { status: TaskStatus; open: number } => ({
    status: count > 0 ? 'input_required' : 'working',
    open: count,
  });
  switch (event.kind) {
    case 'ask':
      return waiting(open + 1);
    case 'answer':
      return waiting(Math.max(0, open - 1));
    case 'give up':
      // The question that is given up may have been answered already.
      return { status, open: undefined };
    case 'complete':
      return { status: 'completed', open: 0 };
    case 'fail':
      return { status: 'failed', open: 0 };
    case 'cancel':
      return { status: 'cancelled', open: 0 };
    default:
      return { status, open };
  }
}

function isOpen({ asks }: TaskRecord): number {
  return asks.filter(({ answer, isWithdrawn }) => !answer && !isWithdrawn).length;
}

function expectLegal(seen: readonly TaskRecord[]): void {
  const inOrder = seen.toSorted((one, other) => one.version - other.version);
  for (const [index, record] of inOrder.entries()) {
    const before = inOrder[index - 1]?.status ?? 'working';
    if (before !== record.status) expect(TRANSITIONS[before]).toContain(record.status);
    else if (index > 0) expect(TRANSITIONS[before]).not.toEqual([]);
    if (TRANSITIONS[record.status].length > 0) expect(record.status).toBe(isOpen(record) > 0 ? 'input_required' : 'working');
    // No key is ever used for two questions, and no answer is ever changed.
    expect(new Set(record.asks.map(({ key }) => key)).size).toBe(record.asks.length);
    for (const ask of inOrder[index - 1]?.asks ?? []) {
      const now = record.asks.find(({ key }) => key === ask.key);
      expect(now?.digest).toBe(ask.digest);
      if (ask.answer) expect(now?.answer).toEqual(ask.answer);
    }
  }
}

describe('the states of a task', () => {
  it('[TASK25-015] are those of the model, one event after the other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 20 }), async (events) => {
        const subject = await Subject.create();
        try {
          for (const each of events) {
            const before = await subject.record();
            const expected = next(before.status, isOpen(before), each);
            await subject.apply(each);
            await subject.settle();
            const after = await subject.record();
            if (expected.open !== undefined) expect({ status: after.status, open: isOpen(after) }).toEqual(expected);
          }
          expectLegal(subject.seen);
        } finally {
          await subject.close();
        }
      }),
      { numRuns: 150 },
    );
  });

  it('[TASK25-015] never change in a way that is not allowed, however events race', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(event, { minLength: 1, maxLength: 5 }), { maxLength: 6 }), async (rounds) => {
        const subject = await Subject.create();
        try {
          for (const round of rounds) {
            await Promise.all(round.map((each) => subject.apply(each)));
            await subject.settle();
          }
          expectLegal(subject.seen);
        } finally {
          await subject.close();
        }
      }),
      { numRuns: 150 },
    );
  });
});
