/** Streams of a legacy session over two machines, with an event store that knows the owner of a stream: one is slow, cut off, or dies. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MemoryMessageBus } from '@mortise/protocol';
import type { BusMessage, MessageBus } from '@mortise/protocol/contracts';
import { MemoryEventStore, MemorySessionStore } from '@mortise/protocol/edge';
import { McpServer } from '@mortise/server';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { LegacyClient } from '../support/legacy-client.ts';
import { newId } from '../support/send.ts';
import { type Gate, gate, until } from '../support/scripted-endpoint.ts';
import { serve, type Serving } from '../support/serve.ts';

/** How often the machine that resumes a stream asks the others whether they serve it, and how long it waits for each answer. */
const [ASKS, ASK_MS] = [3, 1000];

/** A bus of one machine that can be cut off from the others. */
class CuttableBus implements MessageBus {
  readonly #shared: MessageBus;
  readonly #gaps = new Set<() => void>();
  isCut = false;

  constructor(shared: MessageBus) {
    this.#shared = shared;
  }

  publish(message: BusMessage): Promise<void> {
    return this.isCut ? Promise.reject(new Error('no bus')) : this.#shared.publish(message);
  }

  subscribe(topic: string, onMessage: (message: BusMessage) => void, onGap?: () => void): Promise<() => void> {
    if (onGap) this.#gaps.add(onGap);
    return this.#shared.subscribe(topic, (message) => void (this.isCut || onMessage(message)));
  }

  /** Carries messages again, and reports that some were lost. */
  mend(): void {
    this.isCut = false;
    for (const onGap of this.#gaps) onGap();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const URI = 'test://r';

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
  server.registerResource('r', URI, {}, () => 'r');
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

/** Lets the time pass in which other machines may say that they serve a stream. */
async function passAsks(): Promise<void> {
  for (let n = 0; n < ASKS; n++) {
    await until(() => clock.delaysMs.includes(ASK_MS));
    clock.advance(ASK_MS);
  }
}

/** Lets the time pass after which a machine reads again what another stores on a stream. */
async function passFollow(): Promise<void> {
  await until(() => clock.delaysMs.includes(1000));
  clock.advance(1000);
}

/** Lets seconds pass until a promise settles. */
async function passUntil<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  void promise.finally(() => (isSettled = true));
  while (!isSettled) {
    clock.advance(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return promise;
}

async function untilFinished(sessionId: string, lastEventId: string): Promise<void> {
  while ((await stores.eventStore.replay(sessionId, lastEventId))?.isFinished !== true)
    await new Promise((resolve) => setImmediate(resolve));
}

it('[HTTP-036] gives a client that resumes at another machine the answer of the one that runs its call', async () => {
  const { here, there } = await startTwo();
  const lastEventId = await callAndLeave(here);
  // The clock stands still: the machine that runs the call says that it does.
  const resumed = await there.get({ 'last-event-id': lastEventId });
  await passFollow();
  go.open();
  await untilFinished(here.sessionId, lastEventId);
  await passFollow();
  expect(await resumed.response()).toMatchObject({ id: 'w', result: { content: [{ text: 'waited' }] } });
  expect((await resumed.events()).filter(({ data }) => data !== '')).toEqual([]);
});

it('[ROBUSTNESS-20] ends the call of a machine that dies after its client has resumed the stream elsewhere', async () => {
  const { a, here, there } = await startTwo();
  const lastEventId = await callAndLeave(here);
  const resumed = await there.get({ 'last-event-id': lastEventId });
  a.bus.isCut = true;
  const response = await passUntil(resumed.response());
  expect(response).toMatchObject({ id: 'w', error: { message: expect.stringContaining('does not answer') as string } });
});

it('[ROBUSTNESS-20] ends the call of a machine that is gone with an error that names it, once, also if that machine comes back', async () => {
  const { a, here, there } = await startTwo();
  const lastEventId = await callAndLeave(here);
  a.bus.isCut = true;
  const resumed = await there.get({ 'last-event-id': lastEventId });
  const response = await passUntil(resumed.response());
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
  expect(response).toMatchObject({ id: 'w', error: { message: expect.stringContaining('does not answer') as string } });
});

it('[ROBUSTNESS-20] takes no machine for gone whose word was lost', async () => {
  const { a, here, there } = await startTwo();
  const lastEventId = await callAndLeave(here);
  // The first word of the machine that resumes is lost.
  a.bus.isCut = true;
  const resuming = there.get({ 'last-event-id': lastEventId });
  await until(() => clock.delaysMs.includes(ASK_MS));
  a.bus.isCut = false;
  clock.advance(ASK_MS);
  const resumed = await resuming;
  go.open();
  await untilFinished(here.sessionId, lastEventId);
  expect(await passUntil(resumed.response())).toMatchObject({ id: 'w', result: {} });
});

it('[HTTP-024][ROBUSTNESS-7] sends the stream of a call at another machine on one connection, the newest', async () => {
  const { here, there } = await startTwo();
  const lastEventId = await callAndLeave(here);
  const [older, newer] = [await there.get({ 'last-event-id': lastEventId }), await there.get({ 'last-event-id': lastEventId })];
  expect((await older.events().catch(() => [])).filter(({ data }) => data !== '')).toEqual([]);
  go.open();
  await untilFinished(here.sessionId, lastEventId);
  expect(await passUntil(newer.response())).toMatchObject({ id: 'w', result: {} });
  expect(servings.map(({ handler }) => handler.counts.streams)).toEqual([0, 0]);
});

it('[HTTP-024] sends the stream of a call only at its own machine when the client comes back to it from another', async () => {
  const { here, there } = await startTwo();
  const lastEventId = await callAndLeave(here);
  const left = await there.get({ 'last-event-id': lastEventId });
  // The client does not close this connection: it stays half open.
  const back = await here.get({ 'last-event-id': lastEventId });
  expect((await left.events().catch(() => [])).filter(({ data }) => data !== '')).toEqual([]);
  go.open();
  expect(await back.response()).toMatchObject({ id: 'w', result: { content: [{ text: 'waited' }] } });
});

it('[HTTP-036] lets the client go on at the machine of its call while another still sends the stream, which the bus has not told', async () => {
  const { a, b, here, there } = await startTwo();
  const lastEventId = await callAndLeave(here);
  await there.get({ 'last-event-id': lastEventId });
  b.bus.isCut = true;
  const back = await here.get({ 'last-event-id': lastEventId });
  b.bus.isCut = false;
  // The other machine asks who runs the call.
  const asks = vi.spyOn(b.bus, 'publish');
  await passUntil(until(() => asks.mock.calls.length > 1));
  expect(a.serving.handler.counts.streams).toBe(1);
  go.open();
  expect(await back.response()).toMatchObject({ id: 'w', result: { content: [{ text: 'waited' }] } });
});

it('[ROBUSTNESS-20] takes no machine for gone that it could not ask', async () => {
  const { b, here, there } = await startTwo();
  const lastEventId = await callAndLeave(here);
  await (await there.tool('none')).response();
  b.bus.isCut = true;
  const resumed = await there.get({ 'last-event-id': lastEventId });
  await passFollow();
  go.open();
  await untilFinished(here.sessionId, lastEventId);
  await passFollow();
  expect(await resumed.response()).toMatchObject({ id: 'w', result: {} });
});

it('[HTTP-024] stores nothing on a stream that it could not claim', async () => {
  const { serving } = await startNode();
  const here = await LegacyClient.open(serving.port);
  const claim = stores.eventStore.claim.bind(stores.eventStore);
  stores.eventStore.claim = () => Promise.reject(new Error('no store'));
  const stored: unknown[] = [];
  const append = stores.eventStore.append.bind(stores.eventStore);
  stores.eventStore.append = ((...args: Parameters<typeof append>) => (stored.push(args), append(...args))) as typeof append;
  const call = await here.tool('wait');
  go.open();
  expect(await call.response()).toMatchObject({ result: { content: [{ text: 'waited' }] } });
  expect(stored).toEqual([]);
  stores.eventStore.claim = claim;
});

it('[HTTP-036] sends the answer of a call that says nothing for longer than the event store keeps events', async () => {
  stores = { ...stores, eventStore: new MemoryEventStore({ clock }) };
  const { here, there } = await startTwo();
  const resumed = await there.get({ 'last-event-id': await callAndLeave(here) });
  const answered = resumed.response();
  for (let seconds = 0; seconds < 400; seconds++) {
    await until(() => clock.delaysMs.includes(1000));
    clock.advance(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  go.open();
  expect(await passUntil(answered)).toMatchObject({ id: 'w', result: { content: [{ text: 'waited' }] } });
});

it('[HTTP-036] leaves a GET stream to the machine at which its client has resumed it last', async () => {
  const [a, b, c] = [await startNode(), await startNode(), await startNode()];
  const client = await LegacyClient.open(a.serving.port);
  const lastEventId = (await (await client.get()).event())?.id ?? '';
  a.bus.isCut = true;
  await client.at(b.serving.port).get({ 'last-event-id': lastEventId });
  const newest = await client.at(c.serving.port).get({ 'last-event-id': lastEventId });
  await passAsks();
  const counts = [b, c].map(({ serving }) => serving.handler.counts.streams);
  expect(counts).toEqual([0, 1]);
  c.server.registerTool('more', {}, () => 'more');
  expect(await newest.nextMessage()).toMatchObject({ method: 'notifications/tools/list_changed' });
});

it('[HTTP-036] stores the messages of a stream whose claim failed once', async () => {
  const { server, serving } = await startNode();
  const here = await LegacyClient.open(serving.port);
  const claim = stores.eventStore.claim.bind(stores.eventStore);
  stores.eventStore.claim = () => {
    stores.eventStore.claim = claim;
    return Promise.reject(new Error('no store'));
  };
  const stream = await here.get();
  await until(() => stores.eventStore.claim === claim);
  clock.advance(2000);
  server.registerTool('more', {}, () => 'more');
  const told = await stream.event();
  expect(told?.data).toContain('list_changed');
  expect((await stores.eventStore.replay(here.sessionId, told?.id ?? ''))?.events).toEqual([]);
});

it.each(['before', 'after'])(
  '[HTTP-036][ROBUSTNESS-20] loses and doubles nothing on a stream whose store failed %s a write',
  async (when) => {
    const { server, serving } = await startNode();
    server.registerTool('count', {}, async (ctx) => {
      await go.promise;
      for (const n of [1, 2, 3]) await ctx.progress?.(n);
      return 'counted';
    });
    const here = await LegacyClient.open(serving.port);
    const append = stores.eventStore.append.bind(stores.eventStore);
    let failures = 2;
    stores.eventStore.append = async (...args: Parameters<typeof append>) => {
      const isFailing = failures-- > 0;
      const id = when === 'after' || !isFailing ? await append(...args) : undefined;
      if (isFailing) throw new Error('no store');
      return id;
    };
    const params = { name: 'count', arguments: {}, _meta: { progressToken: 'p' } };
    const call = await here.post({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params });
    const lastEventId = (await call.event())?.id ?? '';
    call.leave();
    await until(() => serving.handler.counts.streams === 0);
    go.open();
    for (let times = 0; times < 2; times++) {
      await until(() => clock.delaysMs.includes(500));
      clock.advance(500);
    }
    await untilFinished(here.sessionId, lastEventId);
    const events = await (await here.get({ 'last-event-id': lastEventId })).events();
    const messages = events.filter(({ data }) => data !== '').map(({ data }) => JSON.parse(data) as Record<string, unknown>);
    expect(messages.map(({ method, id }) => method ?? id)).toEqual([...Array<string>(3).fill('notifications/progress'), 'c']);
  },
);

it.each([
  ['tells a client that resumes its GET stream to read again what it follows, if the machine that served the stream is gone', true],
  ['tells a client nothing new that resumes its GET stream, if the machine that served the stream lives', false],
])('[HTTP-036] %s', async (_, isGone) => {
  const { a, here, there } = await startTwo();
  await (await here.post({ jsonrpc: '2.0', id: newId(), method: 'resources/subscribe', params: { uri: URI } })).text();
  const lastEventId = (await (await here.get()).event())?.id ?? '';
  a.bus.isCut = isGone;
  const resumed = await there.get({ 'last-event-id': lastEventId });
  if (isGone) await passAsks();
  else await a.server.sendResourceUpdated({ uri: URI });
  const updated = { method: 'notifications/resources/updated', params: { uri: URI } };
  let told = await resumed.nextMessage();
  while (isGone && told?.['method'] !== updated.method) told = await resumed.nextMessage();
  expect(told).toMatchObject(updated);
  if (isGone) return;
  clock.advance(60_000);
  a.server.registerTool('more', {}, () => 'more');
  expect(await resumed.nextMessage()).toMatchObject({ method: 'notifications/tools/list_changed' });
});

it('tells a client of changes that it follows by another machine, though its session could not be read after a gap of the bus', async () => {
  const { a, b, here, there } = await startTwo();
  const stream = await here.get();
  a.bus.isCut = true;
  await (await there.post({ jsonrpc: '2.0', id: newId(), method: 'resources/subscribe', params: { uri: URI } })).text();
  const get = vi.spyOn(stores.sessionStore, 'get').mockRejectedValueOnce(new Error('no store'));
  a.bus.mend();
  await until(() => get.mock.calls.length === 1 && clock.delaysMs.includes(1000));
  clock.advance(1000);
  await until(() => get.mock.calls.length === 2);
  await new Promise((resolve) => setImmediate(resolve));
  await b.server.sendResourceUpdated({ uri: URI });
  const updated = { method: 'notifications/resources/updated', params: { uri: URI } };
  let told = await stream.nextMessage();
  while (told?.['method'] !== updated.method) told = await stream.nextMessage();
  expect(told).toMatchObject(updated);
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
