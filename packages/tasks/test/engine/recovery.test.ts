import { describe, expect, it } from 'vitest';
import { MemoryTaskQueue, MemoryTaskStore, type TaskRecord } from '@mortise/tasks';
import type { TaskEngine, TaskEngineInit } from '../../src/engine/task-engine.ts';
import type { TaskOutcome } from '../../src/engine/task-states.ts';
import type { TaskRun } from '../../src/engine/task-run.ts';
import { turns } from '@mortise/transport-testkit';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { createEngine } from '../support/create-engine.ts';
import { toFaultyStore } from '../support/faulty-store.ts';
import { turn } from '../support/raw-peer.ts';

const LEASE_MS = 9_000;
const DONE: TaskOutcome = { status: 'completed', result: { content: [] } };
const never = new Promise<never>(() => undefined);

interface World {
  readonly clock: FakeClock;
  readonly store: MemoryTaskStore;
}

function createWorld(): World {
  const clock = new FakeClock();
  return { clock, store: new MemoryTaskStore({ now: () => clock.now() }) };
}

/** A process: an engine of its own over the store that all share. */
function startProcess({ clock, store }: World, run: TaskEngineInit['run']): TaskEngine {
  const engine = createEngine({ store, clock, run, leaseMs: LEASE_MS });
  engine.start();
  return engine;
}

/** A process whose store hears nothing more of it: it died. */
function startMortal(world: World, run: TaskEngineInit['run']): { readonly engine: TaskEngine; kill(): void } {
  const mortal = toFaultyStore(world.store);
  return { engine: startProcess({ ...world, store: mortal.store }, run), kill: () => void (mortal.before = () => never) };
}

async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    clock.advance(500);
    await turn();
  }
}

describe('a task that waits for a worker', () => {
  it('is put on the queue again at each look, which passes over what it has: one that was lost is run all the same', async () => {
    const { clock, store } = createWorld();
    const queue = new MemoryTaskQueue({ clock, maxConcurrent: 1 });
    const lost: string[] = [];
    let isLossy = true;
    const enqueue = async (id: string): Promise<void> => (isLossy ? void lost.push(id) : queue.enqueue(id));
    const lossy = { enqueue, work: queue.work.bind(queue), close: () => queue.close() };
    let ends: (outcome: TaskOutcome) => void = () => undefined;
    const ran: string[] = [];
    const run = ({ id }: TaskRecord): Promise<TaskOutcome> => (ran.push(id), new Promise((resolve) => (ends = resolve)));
    const engine = createEngine({ store, clock, queue: lossy, run, leaseMs: LEASE_MS });
    engine.start();
    await turn();
    const create = () => engine.create({ principal: 'ann', generation: 'g' });
    const ids = [(await create()).id, (await create()).id];
    expect([lost, ran]).toEqual([ids, []]);
    isLossy = false;
    await pass(clock, LEASE_MS * 3);
    expect(ran).toHaveLength(1);
    ends(DONE);
    await turn();
    expect(ran.toSorted()).toEqual(ids.toSorted());
    ends(DONE);
    await pass(clock, LEASE_MS);
    expect(ran).toHaveLength(2);
    await engine.close();
  });

  it('[ROBUSTNESS-18] is put on the queue as a task of its caller, also by a process that did not accept it', async () => {
    const { clock, store } = createWorld();
    await createEngine({ store, clock, leaseMs: LEASE_MS }).create({ principal: 'ann', generation: 'g' });
    clock.advance(LEASE_MS);
    const callers: unknown[] = [];
    const queue = new MemoryTaskQueue({ clock });
    const enqueue = async (_id: string, principal?: string): Promise<void> => void callers.push(principal);
    const other = createEngine({ store, clock, queue: { enqueue, work: queue.work.bind(queue), close: () => queue.close() } });
    other.start();
    await turn();
    expect(callers).toEqual(['ann']);
    await other.close();
  });

  it('is put on the queue again after a lease where the queue was away', async () => {
    const { clock, store } = createWorld();
    let isAway = true;
    const tries: boolean[] = [];
    const enqueue = async (): Promise<void> => {
      tries.push(isAway);
      if (isAway) throw new Error('no queue');
    };
    const queue = { enqueue, work: () => async () => undefined, close: async () => undefined };
    await createEngine({ store, clock, leaseMs: LEASE_MS }).create({ principal: 'ann', generation: 'g' });
    const engine = createEngine({ store, clock, queue, run: () => never, leaseMs: LEASE_MS });
    engine.start();
    await pass(clock, LEASE_MS * 4);
    const looks = tries.length;
    expect(looks).toBeGreaterThanOrEqual(2);
    isAway = false;
    await pass(clock, 1.5 * LEASE_MS);
    expect(tries.slice(looks)).toContain(false);
    expect(tries.slice(looks)).not.toContain(true);
    await engine.close();
  });
});

describe('the limit of a principal', () => {
  it('holds for tasks that are created at the same moment, and for each principal by itself', async () => {
    const { clock, store } = createWorld();
    const slow = toFaultyStore(store);
    slow.before = turn;
    const engine = createEngine({ store: slow.store, clock, run: () => never, limits: { maxTasksPerPrincipal: 3 } });
    const create = (principal: string) => engine.create({ principal, generation: 'g', driver: 'hand' });
    const outcomes = await Promise.allSettled([...Array.from({ length: 10 }, () => create('ann')), create('bob')]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 3 }, () => 'fulfilled'),
      ...Array.from({ length: 7 }, () => 'rejected'),
      'fulfilled',
    ]);
    expect((await store.list('ann', { limit: 100 })).tasks).toHaveLength(3);
    await engine.close();
  });
});

describe('a task whose process died', () => {
  it('is run again by the next process where it can be resumed, and none of its steps runs twice', async () => {
    const world = createWorld();
    const ran: string[] = [];
    const steps = async (run: TaskRun, until: number, name: string): Promise<TaskOutcome> => {
      for (let step = 0; step < 4; step++) {
        await run.once(`step ${step}`, (key) => {
          ran.push(`${name} ${step}`);
          return key;
        });
        if (step === until) await never;
      }
      return DONE;
    };
    const first = startMortal(world, (_record, run) => steps(run, 1, 'first'));
    const { id } = await first.engine.create({ principal: 'p', generation: 'g', resumable: true });
    await turn();
    first.kill();
    startProcess(world, (_record, run) => steps(run, 9, 'second'));
    await turn();
    expect((await world.store.get(id))?.status).toBe('working');
    await pass(world.clock, 2 * LEASE_MS);
    expect((await world.store.get(id))?.status).toBe('completed');
    expect(ran).toEqual(['first 0', 'first 1', 'second 2', 'second 3']);
  });

  it('fails with a plain reason where it cannot be resumed', async () => {
    const world = createWorld();
    const first = startMortal(world, () => never);
    const { id } = await first.engine.create({ principal: 'p', generation: 'g' });
    await turn();
    first.kill();
    let runs = 0;
    startProcess(world, async () => {
      runs++;
      return DONE;
    });
    await pass(world.clock, 2 * LEASE_MS);
    expect(await world.store.get(id)).toMatchObject({
      status: 'failed',
      error: { code: -32603, message: expect.stringContaining('stopped while') },
    });
    expect(runs).toBe(0);
  });

  it('is run, whatever it says, where its run had not begun', async () => {
    const world = createWorld();
    const queue = new MemoryTaskQueue({ clock: world.clock });
    const idle = createEngine({ store: world.store, clock: world.clock, queue, leaseMs: LEASE_MS });
    const { id } = await idle.create({ principal: 'p', generation: 'g' });
    startProcess(world, async () => DONE);
    await pass(world.clock, 2 * LEASE_MS);
    expect((await world.store.get(id))?.status).toBe('completed');
  });

  it('keeps the answers that it was given, and asks nothing twice', async () => {
    const world = createWorld();
    const asking = async (run: TaskRun): Promise<TaskOutcome> => {
      const one = await run.ask({ method: 'elicitation/create', params: { message: 'One?' } });
      const two = await run.ask({ method: 'elicitation/create', params: { message: 'Two?' } });
      return { status: 'completed', result: { answers: [one, two] } };
    };
    const first = startMortal(world, (_record, run) => asking(run));
    const { id } = await first.engine.create({ principal: 'p', generation: 'g', resumable: true });
    const answer = async (engine: TaskEngine, text: string): Promise<void> => {
      for (;;) {
        const open = (await world.store.get(id))?.asks.find((ask) => !ask.answer);
        if (open) return void (await engine.answer(await engine.get(id, 'p'), new Map([[open.key, { answer: { text } }]])));
        world.clock.advance(0);
        await turn();
      }
    };
    const until = async (isSo: (record: TaskRecord | undefined) => boolean): Promise<void> => {
      while (!isSo(await world.store.get(id))) {
        world.clock.advance(0);
        await turn();
      }
    };
    await answer(first.engine, 'a');
    await until((record) => record?.asks.length === 2);
    first.kill();
    const second = startProcess(world, (_record, run) => asking(run));
    await pass(world.clock, 2 * LEASE_MS);
    expect((await world.store.get(id))?.asks.map((ask) => ask.answer)).toEqual([{ text: 'a' }, undefined]);
    await answer(second, 'b');
    await until((record) => record?.status === 'completed');
    expect((await world.store.get(id))?.result).toEqual({ answers: [{ text: 'a' }, { text: 'b' }] });
  });
});

describe('a process that lives', () => {
  it('keeps its tasks by renewing their leases, however long they take', async () => {
    const world = createWorld();
    let finish: (outcome: TaskOutcome) => void = () => undefined;
    const first = startProcess(world, () => new Promise((resolve) => (finish = resolve)));
    let taken = 0;
    const { id } = await first.create({ principal: 'p', generation: 'g', resumable: true });
    await turn();
    startProcess(world, async () => {
      taken++;
      return DONE;
    });
    await pass(world.clock, 5 * LEASE_MS);
    finish(DONE);
    await turn();
    expect(taken).toBe(0);
    expect((await world.store.get(id))?.status).toBe('completed');
  });

  it('[ROBUSTNESS-18] renews the leases of any number of tasks by one call of the store, and reads no task that has not changed', async () => {
    const world = createWorld();
    const counted = toFaultyStore(world.store);
    const calls: string[] = [];
    counted.before = (member) => void calls.push(member);
    const limits = { maxTasksPerPrincipal: Infinity };
    const engine = createEngine({ store: counted.store, clock: world.clock, run: () => never, leaseMs: LEASE_MS, limits });
    engine.start();
    for (let n = 0; n < 1200; n++) await engine.create({ principal: 'p', generation: 'g', resumable: true });
    await turn();
    calls.length = 0;
    await pass(world.clock, LEASE_MS / 3);
    expect(calls).toEqual(['renew', 'claimOrphans']);
  });

  it('is told to stop when another took its task over, and what it gives is not kept', async () => {
    const world = createWorld();
    const late: TaskOutcome = { status: 'completed', result: { late: true } };
    let slow: TaskRun | undefined;
    let finish: (outcome: TaskOutcome) => void = () => undefined;
    const first = startProcess(world, (_record, run) => {
      slow = run;
      return new Promise((resolve) => (finish = resolve));
    });
    const { id } = await first.create({ principal: 'p', generation: 'g', resumable: true });
    await turn();
    // The store says that another has it.
    await world.store.renew(first.owner, 0);
    await world.store.claim(id, 'another', 10 * LEASE_MS);
    await pass(world.clock, LEASE_MS);
    expect(slow?.signal.reason).toMatchObject({ code: 'ERR_TASK_LOST' });
    finish(late);
    await turn();
    expect((await world.store.get(id))?.status).toBe('working');
  });

  it('is told to stop when the time of its task is over', async () => {
    const world = createWorld();
    const signals: AbortSignal[] = [];
    const engine = startProcess(world, (_record, run) => (signals.push(run.signal), never));
    await engine.create({ principal: 'p', generation: 'g', ttlMs: 2 * LEASE_MS });
    await pass(world.clock, LEASE_MS);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await pass(world.clock, 2 * LEASE_MS);
    expect(signals[0]?.reason).toMatchObject({ code: 'ERR_TASK_LOST' });
  });

  it('leaves what can be resumed to the next one when it closes, and ends the rest with a reason', async () => {
    const world = createWorld();
    const first = startProcess(
      world,
      (_record, run) => new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason as Error))),
    );
    const resumable = await first.create({ principal: 'p', generation: 'g', resumable: true });
    const other = await first.create({ principal: 'p', generation: 'g' });
    await turn();
    const closed = first.close();
    await pass(world.clock, 500);
    await closed;
    expect(await world.store.get(other.id)).toMatchObject({ status: 'failed', statusMessage: expect.stringContaining('closed') });
    expect((await world.store.get(resumable.id))?.status).toBe('working');
    // At once, not after the lease.
    startProcess(world, async () => DONE);
    await turn();
    await turn();
    expect((await world.store.get(resumable.id))?.status).toBe('completed');
  });

  it('closes once the handlers of tasks that wait for their answers have returned', async () => {
    const world = createWorld();
    const ended: string[] = [];
    const run: TaskEngineInit['run'] = async ({ id }, asking) => {
      await asking.ask({ method: 'elicitation/create' }).catch(() => turns(5));
      ended.push(id);
      return DONE;
    };
    const engine = startProcess(world, run);
    const { id } = await engine.create({ principal: 'p', generation: 'g' });
    while ((await world.store.get(id))?.status !== 'input_required') {
      await turn();
      world.clock.advance(0);
    }
    await engine.close();
    expect(ended).toEqual([id]);
    expect((await world.store.get(id))?.status).toBe('failed');
  });

  it('is told of a cancel by another process, and stops', async () => {
    const world = createWorld();
    let run: TaskRun | undefined;
    const first = startProcess(world, (_record, given) => {
      run = given;
      return never;
    });
    const second = startProcess(world, async () => DONE);
    const { id } = await first.create({ principal: 'p', generation: 'g' });
    await turn();
    await second.cancel(await second.get(id, 'p'));
    await pass(world.clock, LEASE_MS);
    expect(run?.signal.reason).toMatchObject({ code: 'ERR_TASK_CANCELLED' });
  });
});

describe('a question of a run', () => {
  it('is refused where a run that began again asks something else under the key of its author', async () => {
    const world = createWorld();
    const first = startMortal(world, (_record, run) =>
      run.ask({ method: 'elicitation/create', key: 'who', params: { message: 'Who?' } }).then(() => DONE),
    );
    const { id } = await first.engine.create({ principal: 'p', generation: 'g', resumable: true });
    while ((await world.store.get(id))?.asks.length !== 1) await pass(world.clock, 500);
    first.kill();
    const errors: unknown[] = [];
    startProcess(world, (_record, run) =>
      run
        .ask({ method: 'elicitation/create', key: 'who', params: { message: 'Where?' } })
        .then(() => DONE)
        .catch((error: unknown) => {
          errors.push(error);
          return DONE;
        }),
    );
    while (errors.length === 0) await pass(world.clock, 500);
    expect(errors).toMatchObject([{ code: 'ERR_TASK_UNAVAILABLE' }]);
    expect((await world.store.get(id))?.asks).toHaveLength(1);
  });

  it('is given up after its time, or when its signal aborts', async () => {
    const world = createWorld();
    const errors: unknown[] = [];
    const controller = new AbortController();
    const engine = startProcess(world, async (_record, run) => {
      const asks = [
        run.ask({ method: 'elicitation/create', params: { message: 'Soon?' }, timeoutMs: 1_000 }),
        run.ask({ method: 'elicitation/create', params: { message: 'Ever?' }, signal: controller.signal }),
      ];
      for (const ask of asks) await ask.catch((error: unknown) => errors.push(error));
      return DONE;
    });
    const { id } = await engine.create({ principal: 'p', generation: 'g' });
    while ((await world.store.get(id))?.status !== 'input_required')
      await pass(world.clock, 0).then(() => (world.clock.advance(0), turn()));
    await pass(world.clock, 1_500);
    controller.abort(new Error('no longer'));
    await pass(world.clock, 500);
    expect(errors).toMatchObject([{ code: 'ERR_TIMEOUT' }, { message: 'no longer' }]);
    expect((await world.store.get(id))?.asks.map(({ isWithdrawn }) => isWithdrawn)).toEqual([true, true]);
    expect((await world.store.get(id))?.status).toBe('completed');
  });
});
