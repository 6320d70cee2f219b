/** Engines of several processes over one store: what they tell each other on a message bus, and what they find without it. */

import { afterEach, expect, it } from 'vitest';
import { MemoryMessageBus } from '@mortise/protocol';
import type { MessageBus } from '@mortise/protocol/contracts';
import { MemoryTaskStore } from '@mortise/tasks';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { LossyBus } from '@mortise/transport-testkit/wrap';
import type { TaskEngine, TaskEngineInit } from '../../src/engine/task-engine.ts';
import { createEngine } from '../support/create-engine.ts';
import { toFaultyStore } from '../support/faulty-store.ts';

/** Lets what is on its way arrive. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const LEASE_MS = 30_000;
const TASK = { principal: 'p', generation: 'g', resumable: true };

const engines: TaskEngine[] = [];
afterEach(() => Promise.all(engines.splice(0).map((engine) => engine.close())));

function start(store: MemoryTaskStore, clock: FakeClock, bus: MessageBus, run: TaskEngineInit['run']): TaskEngine {
  const engine = createEngine({ store, clock, run, leaseMs: LEASE_MS, limits: { maxTasksPerPrincipal: Infinity } });
  engine.start({ publish: (event) => bus.publish(event), subscribe: bus.subscribe.bind(bus), hasMessageBus: true });
  engines.push(engine);
  return engine;
}

/** Runs tasks that ask one question, and end with its answer. */
const ask: TaskEngineInit['run'] = async (_record, run) => ({
  status: 'completed',
  result: { answer: await run.ask({ method: 'elicitation/create', params: { message: 'Go on?' } }) },
});

/** Waits until a condition holds. No time passes on the clock of the engines. */
async function until({ clock }: { readonly clock: FakeClock }, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (let turns = 0; turns < 10_000 && !(await holds()); turns++) {
    clock.advance(0);
    await turn();
  }
  expect(await holds()).toBe(true);
}

async function answer(engine: TaskEngine, id: string): Promise<void> {
  const task = await engine.get(id, 'p');
  await engine.answer(task, new Map([[task.asks[0]?.key ?? '', { answer: { action: 'accept' } }]]));
}

function createWorld() {
  const [clock, backend] = [new FakeClock(), new MemoryMessageBus()];
  const buses = [new LossyBus(backend), new LossyBus(backend)] as const;
  return { clock, buses, store: new MemoryTaskStore({ now: () => clock.now() }) };
}

it('passes an answer, and a cancel, that another process stores to the run at once', async () => {
  const world = createWorld();
  const { clock, store, buses } = world;
  const here = start(store, clock, buses[0], ask);
  const there = start(store, clock, buses[1], ask);
  const [asked, cancelled] = [await here.create(TASK), await here.create(TASK)];
  for (const { id } of [asked, cancelled]) await until(world, async () => (await store.get(id))?.status === 'input_required');
  await answer(there, asked.id);
  await until(world, async () => (await store.get(asked.id))?.status === 'completed');
  let ended: unknown;
  here.watch(cancelled.id, 0, (record) => (ended = record?.status));
  await there.cancel(await there.get(cancelled.id, 'p'));
  await until(world, () => ended === 'cancelled');
});

it('finds an answer after a gap of the message bus, without waiting for a renewal', async () => {
  const world = createWorld();
  const { clock, store, buses } = world;
  const here = start(store, clock, buses[0], ask);
  const there = start(store, clock, buses[1], ask);
  const { id } = await here.create(TASK);
  await until(world, async () => (await store.get(id))?.status === 'input_required');
  buses[0].cut();
  await answer(there, id);
  await turn();
  expect((await store.get(id))?.status).toBe('working');
  buses[0].mend();
  await until(world, async () => (await store.get(id))?.status === 'completed');
});

it('finds an answer with the next renewal where the message bus has lost it unseen', async () => {
  const world = createWorld();
  const { clock, store, buses } = world;
  const here = start(store, clock, buses[0], ask);
  const there = start(store, clock, Object.assign(buses[1], { publish: async () => undefined }), ask);
  const { id } = await here.create(TASK);
  await until(world, async () => (await store.get(id))?.status === 'input_required');
  await answer(there, id);
  clock.advance(LEASE_MS / 3);
  await until(world, async () => (await store.get(id))?.status === 'completed');
});

it('takes up 1,000 tasks of a process that died within two leases, each once', async () => {
  const { clock, store, buses } = createWorld();
  const mortal = toFaultyStore(store);
  const dead = start(mortal.store, clock, buses[0], () => new Promise(() => undefined));
  engines.length = 0;
  const ids = await Promise.all(Array.from({ length: 1000 }, async () => (await dead.create(TASK)).id));
  await turn();
  mortal.before = () => new Promise(() => undefined);
  const runs = new Map<string, number>();
  const calls: string[] = [];
  const counted = toFaultyStore(store);
  counted.before = (member) => void calls.push(member);
  start(counted.store, clock, buses[1], async ({ id }) => {
    runs.set(id, (runs.get(id) ?? 0) + 1);
    return { status: 'completed', result: {} };
  });
  for (let passed = 0; passed < 2 * LEASE_MS; passed += LEASE_MS / 6) {
    clock.advance(LEASE_MS / 6);
    for (let n = 0; n < 20; n++) await turn();
  }
  expect([runs.size, new Set(runs.values())]).toEqual([1000, new Set([1])]);
  for (const id of ids) expect((await store.get(id))?.status).toBe('completed');
  // A task costs one call to begin and one to end.
  expect([calls.filter((name) => name === 'claim').length, calls.filter((name) => name === 'update').length]).toEqual([1000, 1000]);
});
