/** Streams of a legacy session over two machines, with an event store that knows the owner of a stream: one is slow, cut off, or dies. */

import { afterEach, beforeEach, expect, it } from 'vitest';
import { MemoryMessageBus } from '@mortise/protocol';
import type { BusMessage, MessageBus } from '@mortise/protocol/contracts';
import { MemoryEventStore, MemorySessionStore } from '@mortise/protocol/edge';
import { McpServer } from '@mortise/server';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { LegacyClient } from '../support/legacy-client.ts';
import { type Gate, gate, until } from '../support/scripted-endpoint.ts';
import { serve, type Serving } from '../support/serve.ts';

const SECOND_1 = 1000;

/** A bus of one machine that can be cut off from the others. */
class CuttableBus implements MessageBus {
  readonly #shared: MessageBus;
  isCut = false;

  constructor(shared: MessageBus) {
    this.#shared = shared;
  }

  publish(message: BusMessage): Promise<void> {
    return this.isCut ? Promise.reject(new Error('no bus')) : this.#shared.publish(message);
  }

  subscribe(topic: string, onMessage: (message: BusMessage) => void): Promise<() => void> {
    return this.#shared.subscribe(topic, (message) => void (this.isCut || onMessage(message)));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

let shared: MemoryMessageBus;
let stores: { readonly sessionStore: MemorySessionStore; readonly eventStore: MemoryEventStore };
let clock: FakeClock;
let go: Gate;
let servings: Serving[];
beforeEach(() => {
  stores = { sessionStore: new MemorySessionStore(), eventStore: new MemoryEventStore() };
  [shared, clock, go, servings] = [new MemoryMessageBus(), new FakeClock(), gate(), []];
});
afterEach(async () => {
  go.open();
  await Promise.all(servings.map((serving) => serving.close()));
});

async function startNode() {
  const bus = new CuttableBus(shared);
  const server = new McpServer({ name: 'node', version: '1' }, { messageBus: bus });
  server.registerTool('wait', {}, async (ctx) => {
    await ctx.progress?.(1);
    await go.promise;
    return 'waited';
  });
  const serving = await serve('node', server, { ...stores, messageBus: bus, clock });
  servings.push(serving);
  return { bus, server, serving };
}

/** Two machines, and one client at each of them: it is the same session. */
async function startTwo() {
  const [a, b] = [await startNode(), await startNode()];
  const here = await LegacyClient.open(a.serving.port);
  return { a, b, here, there: here.at(b.serving.port) };
}

/** Calls a tool that waits, and leaves when its stream has begun. @returns The id of its first event. */
async function callAndLeave(client: LegacyClient): Promise<string> {
  const call = await client.tool('wait', {}, 'w');
  const lastEventId = (await call.event())?.id ?? '';
  call.leave();
  return lastEventId;
}

async function untilFinished(sessionId: string, lastEventId: string): Promise<void> {
  while ((await stores.eventStore.replay(sessionId, lastEventId))?.isFinished !== true)
    await new Promise((resolve) => setImmediate(resolve));
}

it('[HTTP-036] gives a client that resumes at another machine the answer of the one that runs its call', async () => {
  const { here, there } = await startTwo();
  const lastEventId = await callAndLeave(here);
  // The clock stands still: the machine that runs the call says that it does.
  const meanwhile = await (await there.get({ 'last-event-id': lastEventId })).events();
  expect(meanwhile.filter(({ data }) => data !== '')).toEqual([]);
  go.open();
  await untilFinished(here.sessionId, lastEventId);
  const resumed = await there.get({ 'last-event-id': lastEventId });
  expect(await resumed.response()).toMatchObject({ id: 'w', result: { content: [{ text: 'waited' }] } });
});

/** Resumes a call's stream. @returns The messages that come before the connection ends. */
async function resume(client: LegacyClient, lastEventId: string): Promise<readonly string[]> {
  const events = await (await client.get({ 'last-event-id': lastEventId })).events();
  return events.map(({ data }) => data).filter((data) => data !== '');
}

it('[HTTP-036] takes no running call for lost, though its client resumes it twice at once', async () => {
  const { here, there } = await startTwo();
  const lastEventId = await callAndLeave(here);
  const resumed = await Promise.all([resume(there, lastEventId), resume(there, lastEventId)]);
  expect(resumed).toEqual([[], []]);
});

it('[ROBUSTNESS-20] takes no running call for lost where the message bus fails: the client comes back later', async () => {
  const { b, here, there } = await startTwo();
  const lastEventId = await callAndLeave(here);
  await there.tool('wait', {}, 'other').then((call) => call.leave());
  b.bus.isCut = true;
  expect(await resume(there, lastEventId)).toEqual([]);
});

it('[ROBUSTNESS-20] takes no running call for lost where the bus loses the first question', async () => {
  const { a, here, there } = await startTwo();
  const lastEventId = await callAndLeave(here);
  a.bus.isCut = true;
  const resuming = resume(there, lastEventId);
  await until(() => clock.delaysMs.includes(SECOND_1));
  a.bus.isCut = false;
  clock.advance(SECOND_1);
  expect(await resuming).toEqual([]);
});

it('[HTTP-036] sends the next message on a stream of which the event store has forgotten all, because it stores so little', async () => {
  stores = { ...stores, eventStore: new MemoryEventStore({ maxBytes: 1 }) };
  const { server, serving } = await startNode();
  const [one, other] = [await LegacyClient.open(serving.port), await LegacyClient.open(serving.port)];
  const stream = await one.get();
  const first = await stream.event();
  await callAndLeave(other);
  expect(await stores.eventStore.replay(one.sessionId, first?.id ?? '')).toBeUndefined();
  server.registerTool('next', {}, () => 'x');
  expect((await stream.event())?.data).toContain('list_changed');
});

it('[ROBUSTNESS-20] ends the call of a machine that is gone with an error that names it, once, also if that machine comes back', async () => {
  const { a, here, there } = await startTwo();
  const lastEventId = await callAndLeave(here);
  a.bus.isCut = true;
  const resuming = there.get({ 'last-event-id': lastEventId });
  for (let seconds = 0; seconds < 5; seconds++) {
    await until(() => clock.delaysMs.includes(SECOND_1));
    clock.advance(SECOND_1);
  }
  const response = await (await resuming).response();
  const { about } = (await stores.eventStore.replay(here.sessionId, lastEventId)) ?? {};
  expect(response).toMatchObject({ id: 'w', error: { code: -32603, message: expect.stringContaining(String(about?.['node'])) as string } });
  // The machine answers after all, too late.
  go.open();
  await a.serving.close();
  const stored = await stores.eventStore.replay(here.sessionId, lastEventId);
  expect(stored?.events.filter(({ message }) => message !== undefined)).toHaveLength(1);
  expect(stored?.isFinished).toBe(true);
});

it('[HTTP-024] sends nothing twice on a GET stream that its client has resumed at another machine, where the bus lost word of it', async () => {
  const { a, b, here, there } = await startTwo();
  const first = await here.get();
  const lastEventId = (await first.event())?.id ?? '';
  b.bus.isCut = true;
  const second = await there.get({ 'last-event-id': lastEventId });
  b.bus.isCut = false;
  for (const name of ['one', 'two']) {
    a.server.registerTool(name, {}, () => name);
    let told = await second.event();
    while (told?.data === '') told = await second.event();
    expect(told?.data).toContain('list_changed');
  }
  expect((await first.events()).filter(({ data }) => data !== '')).toEqual([]);
  const stored = await stores.eventStore.replay(here.sessionId, lastEventId);
  expect(stored?.events.filter(({ message }) => message !== undefined)).toHaveLength(2);
});

it('[ROBUSTNESS-20] ends the call of a process that died where there is no message bus: the next process is alone', async () => {
  const server = new McpServer({ name: 'alone', version: '1' });
  server.registerTool('wait', {}, () => go.promise.then(() => 'waited'));
  const start = async (): Promise<Serving> => {
    const serving = await serve('node', server, { ...stores, clock });
    servings.push(serving);
    return serving;
  };
  const here = await LegacyClient.open((await start()).port);
  const lastEventId = await callAndLeave(here);
  const there = here.at((await start()).port);
  const response = await (await there.get({ 'last-event-id': lastEventId })).response();
  expect(response).toMatchObject({ id: 'w', error: { message: expect.stringContaining('is gone') as string } });
});
