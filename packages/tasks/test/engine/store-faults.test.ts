import { describe, expect, it, onTestFinished } from 'vitest';
import type { Logger } from '@mortise/jsonrpc-core';
import { McpServer } from '@mortise/server';
import { MemoryTaskQueue, MemoryTaskStore } from '@mortise/tasks';
import { createTasks } from '@mortise/tasks/server';
import type { TaskQueue, TaskStore } from '@mortise/protocol/contracts';
import { turns } from '@mortise/transport-testkit';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import type { TaskEngine, TaskEngineInit } from '../../src/engine/task-engine.ts';
import type { TaskOutcome } from '../../src/engine/task-states.ts';
import { createEngine } from '../support/create-engine.ts';
import { type FaultyStore, toFaultyStore } from '../support/faulty-store.ts';
import { MODERN, RawPeer } from '../support/raw-peer.ts';
import { createGate } from '../support/task-server.ts';

const DONE: TaskOutcome = { status: 'completed', result: { content: [] } };

function createFaultyStore(clock?: FakeClock): FaultyStore {
  return toFaultyStore(new MemoryTaskStore(clock ? { now: () => clock.now() } : {}));
}

/** Fails as often as it is told, where `isMeant` says so. */
function failing(times: number, isMeant: (member: keyof TaskStore, args: readonly unknown[]) => boolean): FaultyStore['before'] {
  let left = times;
  return (member, args) => {
    if (left > 0 && isMeant(member, args) && left-- > 0) throw new Error('the disk is gone');
  };
}

const isEnd = (member: keyof TaskStore, [, , changes]: readonly unknown[]): boolean =>
  member === 'update' && (changes as { status?: string }).status === 'completed';

/** What nobody caught while `fn` ran. */
async function uncaughtIn(fn: () => Promise<void>): Promise<readonly unknown[]> {
  const uncaught: unknown[] = [];
  const onUncaught = (error: unknown): void => void uncaught.push(error);
  process.on('unhandledRejection', onUncaught);
  onTestFinished(() => void process.off('unhandledRejection', onUncaught));
  await fn();
  return uncaught;
}

describe('an engine whose store fails', () => {
  const start = (clock: FakeClock, options: Partial<TaskEngineInit> & Pick<TaskEngineInit, 'store'>): TaskEngine => {
    const engine = createEngine({ clock, leaseMs: 9_000, ...options });
    engine.start();
    return engine;
  };

  it('keeps the end of a task, written once the store takes it again', async () => {
    const clock = new FakeClock();
    const faulty = createFaultyStore(clock);
    let runs = 0;
    const engine = start(clock, { store: faulty.store, run: () => Promise.resolve((runs++, DONE)) });
    faulty.before = failing(3, isEnd);
    const { id } = await engine.create({ principal: 'p', generation: 'g' });
    for (let i = 0; i < 10; i++) {
      await turns(2);
      clock.advance(500);
    }
    expect([(await faulty.store.get(id))?.status, runs]).toEqual(['completed', 1]);
  });

  it.each(['getStep', 'putStep', 'update'] as const)('goes on with a task after its call of "%s" failed a few times', async (failed) => {
    const clock = new FakeClock();
    const faulty = createFaultyStore(clock);
    let steps = 0;
    const run: TaskEngineInit['run'] = async (_record, running) => {
      await running.once('step', () => ++steps);
      await running.ask({ method: 'elicitation/create' });
      return DONE;
    };
    const engine = start(clock, { store: faulty.store, run });
    faulty.before = failing(3, (member) => member === failed);
    const { id } = await engine.create({ principal: 'p', generation: 'g' });
    let record = await engine.get(id, 'p');
    // The key of the question is a digest, which takes real time.
    while (record.asks.length === 0) {
      await turns(2);
      clock.advance(100);
      record = await engine.get(id, 'p');
    }
    await engine.answer(record, new Map([[record.asks[0]?.key ?? '', { answer: {} }]]));
    await turns(5);
    expect([(await engine.get(id, 'p')).status, steps]).toEqual(['completed', 1]);
  });

  it('tells of the end of a task whose write was stored, though its answer was lost', async () => {
    const clock = new FakeClock();
    const faulty = createFaultyStore(clock);
    const told: string[] = [];
    const onChanged = ({ status }: { readonly status: string }): void => void told.push(status);
    const engine = start(clock, { store: faulty.store, run: () => Promise.resolve(DONE), onChanged });
    faulty.after = failing(1, isEnd);
    await engine.create({ principal: 'p', generation: 'g' });
    for (let i = 0; i < 5; i++) {
      await turns(2);
      clock.advance(100);
    }
    expect(told).toEqual(['completed']);
  });

  it('runs no task that it took back, though the store did not delete it at once', async () => {
    const clock = new FakeClock();
    const faulty = createFaultyStore(clock);
    let runs = 0;
    const engine = start(clock, { store: faulty.store, run: () => Promise.resolve((runs++, DONE)) });
    faulty.before = failing(3, (member) => member === 'delete');
    const run = await engine.adopt({ principal: 'p', generation: 'g', resumable: true });
    const discarded = engine.discard(run);
    for (let i = 0; i < 10; i++) {
      await turns(2);
      clock.advance(3_000);
    }
    await discarded;
    expect([runs, await faulty.store.get(run.id)]).toEqual([0, undefined]);
  });

  it('renews its leases while the queue and the message bus do not answer', async () => {
    const clock = new FakeClock();
    const faulty = createFaultyStore(clock);
    let renewals = 0;
    faulty.before = (member) => void (member === 'renew' && renewals++);
    const engine = createEngine({ clock, leaseMs: 9_000, store: faulty.store });
    const never = new Promise<never>(() => undefined);
    engine.start({ publish: () => never, subscribe: () => never, hasMessageBus: true });
    for (let i = 0; i < 5; i++) {
      await turns(2);
      clock.advance(3_000);
    }
    expect(renewals).toBeGreaterThanOrEqual(5);
  });

  it('logs that the end of a task that had waited for its answer could not be stored, and no rejection goes uncaught', async () => {
    const clock = new FakeClock();
    const faulty = createFaultyStore(clock);
    const logged: string[] = [];
    const logger: Logger = { log: (_level, message) => void logged.push(message) };
    const run: TaskEngineInit['run'] = (_record, asking) => asking.ask({ method: 'elicitation/create' }).then(() => DONE);
    const engine = start(clock, { store: faulty.store, logger, run });
    const { id } = await engine.create({ principal: 'p', generation: 'g' });
    const failures = (): number => logged.filter((message) => message === 'The final state of a task could not be stored').length;
    const uncaught = await uncaughtIn(async () => {
      faulty.before = failing(Infinity, isEnd);
      // The question takes real time, because its key is a digest. Ten more steps show that the failure is logged once.
      for (let after = 0; after < 10; after += failures()) {
        const open = (await faulty.store.get(id))?.asks[0];
        if (open) await engine.answer(await engine.get(id, 'p'), new Map([[open.key, { answer: {} }]]));
        await turns(2);
        clock.advance(4_000);
      }
    });
    expect(uncaught).toEqual([]);
    expect(failures()).toBe(1);
  });

  it('has no task of a call that it refused because the queue failed', async () => {
    const clock = new FakeClock();
    const { store } = createFaultyStore(clock);
    const queue = new MemoryTaskQueue({ clock });
    const engine = createEngine({ clock, store, queue, run: () => Promise.resolve(DONE) });
    await queue.close();
    await expect(engine.create({ principal: 'p', generation: 'g' })).rejects.toThrow('The MemoryTaskQueue is closed');
    expect((await store.list('p', { limit: 10 })).tasks).toEqual([]);
  });

  it('tells a run that its task was cancelled while the store was slow to say that its lease is taken', async () => {
    const clock = new FakeClock();
    const slow = createFaultyStore(clock);
    const gate = createGate();
    const signals: AbortSignal[] = [];
    const engine = start(clock, { store: slow.store, run: (_record, run) => (signals.push(run.signal), new Promise(() => undefined)) });
    slow.after = (member, [, , changes]) => (member === 'update' && 'lease' in (changes as object) ? gate.opened : undefined);
    const { id } = await engine.create({ principal: 'p', generation: 'g' });
    await turns(2);
    await engine.cancel(await engine.get(id, 'p'));
    gate.open();
    await turns(3);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('runs a task once that its queue hands out twice at the same moment', async () => {
    const clock = new FakeClock();
    const { store } = createFaultyStore(clock);
    const queue = new MemoryTaskQueue({ clock });
    let runs = 0;
    const gate = createGate();
    const run = async (): Promise<TaskOutcome> => {
      runs++;
      await gate.opened;
      return DONE;
    };
    const work: TaskQueue['work'] = (handler) =>
      queue.work(async (taskId, signal) => void (await Promise.all([handler(taskId, signal), handler(taskId, signal)])));
    const engine = createEngine({
      clock,
      store,
      queue: { enqueue: (taskId) => queue.enqueue(taskId), work, close: () => queue.close() },
      run,
    });
    const { id } = await engine.create({ principal: 'p', generation: 'g' });
    engine.start();
    await turns(5);
    expect([(await store.get(id))?.status, runs]).toEqual(['working', 1]);
    gate.open();
    await turns(5);
    expect([(await store.get(id))?.status, runs]).toEqual(['completed', 1]);
  });
});

describe('a call that is promoted while the store fails', () => {
  function createSlow(): FaultyStore & {
    readonly server: McpServer;
    readonly gate: ReturnType<typeof createGate>;
    readonly aborts: unknown[];
  } {
    const faulty = createFaultyStore();
    const gate = createGate();
    const aborts: unknown[] = [];
    const server = new McpServer(
      { name: 's', version: '1' },
      { extensions: [createTasks({ store: faulty.store, maxPollsPerSecond: Infinity })] },
    );
    server.registerTool('slow', { execution: { taskSupport: 'optional' }, promoteAfterMs: 5, resumable: true }, async (ctx) => {
      await ctx.once('step', () => 1);
      ctx.signal.addEventListener('abort', () => aborts.push(ctx.signal.reason));
      await Promise.race([gate.opened, new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))]);
      return 'slow';
    });
    return Object.assign(faulty, { server, gate, aborts });
  }

  it('ends with its result once the store takes it, and no rejection goes uncaught', async () => {
    const world = createSlow();
    const peer = await RawPeer.open(world.server, { version: MODERN });
    const { taskId } = await peer.start('slow');
    const uncaught = await uncaughtIn(async () => {
      world.before = failing(1, isEnd);
      world.gate.open();
      const task = await peer.until(taskId, ({ status }) => status !== 'working');
      expect(task.status).toBe('completed');
    });
    expect(uncaught).toEqual([]);
  });

  it('leaves no task that goes on where its steps cannot be kept', async () => {
    const world = createSlow();
    const peer = await RawPeer.open(world.server, { version: MODERN });
    world.before = failing(1, (member) => member === 'putStep');
    expect((await peer.request('tools/call', { name: 'slow', arguments: {} })).error?.code).toBe(-32603);
    await turns(3);
    expect((await world.store.list('local', { limit: 10 })).tasks).toEqual([]);
    expect(world.aborts).toHaveLength(1);
  });

  it('is an ordinary one where the task that is not needed cannot be taken back', async () => {
    const world = createSlow();
    const peer = await RawPeer.open(world.server, { version: MODERN });
    world.before = async (member, args): Promise<void> => {
      if (member === 'create') world.gate.open();
      if (member === 'create') await turns(2);
      failing(1, (name) => name === 'update')(member, args);
    };
    expect(await peer.call('tools/call', { name: 'slow', arguments: {} })).toMatchObject({ content: [{ text: 'slow' }] });
  });

  it('leaves no task where its caller leaves before the id was told', async () => {
    const world = createSlow();
    const peer = await RawPeer.open(world.server, { version: MODERN });
    const kept = createGate();
    const keeping = createGate();
    world.before = async (member): Promise<void> => {
      if (member !== 'putStep') return;
      keeping.open();
      await kept.opened;
    };
    void peer.request('tools/call', { name: 'slow', arguments: {} }, 77);
    await keeping.opened;
    peer.notify('notifications/cancelled', { requestId: 77 });
    await turns(2);
    kept.open();
    await turns(5);
    expect((await world.store.list('local', { limit: 10 })).tasks).toEqual([]);
    expect(world.aborts).toHaveLength(1);
  });
});
