/** What the stores of an engine for several machines promise beside the kits, for the tests of each engine. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { BusMessage, ClusterStores } from '@mortise/protocol/contracts';
import { inputRequired, McpServer } from '@mortise/server';
import { createTasks } from '@mortise/tasks/server';
import { expect } from 'vitest';
import { LegacyClient } from '../../packages/transport-http/test/support/legacy-client.ts';
import { modern, modernTool } from '../../packages/transport-http/test/support/modern.ts';
import { serve } from '../../packages/transport-http/test/support/serve.ts';

const HOUR_MS = 3_600_000;
const session = { id: 's', principal: 'ada', state: { layout: 1 } };
const task = {
  id: 't',
  principal: 'ada',
  generation: 'g',
  status: 'working',
  driver: 'engine',
  resumable: true,
  asks: [],
  createdAtMs: 1,
  updatedAtMs: 1,
  ttlMs: HOUR_MS,
} as const;

/** Checks that a cluster with other stores in the same engine sees nothing of what these stores have, and that it has the same names to itself. */
export async function expectSeparate(one: ClusterStores, other: ClusterStores): Promise<void> {
  const heard: BusMessage[] = [];
  await other.bus.subscribe('a', (message) => void heard.push(message));
  await one.sessions.put(session, 0, HOUR_MS);
  await one.states.put('s', 'x', HOUR_MS);
  await one.replays.claim('s', HOUR_MS);
  const claim = await one.events.claim?.('s', 'a');
  await one.taskHandles.add({ server: 's', taskId: 't', method: 'tools/call', createdAtMs: 1 });
  await one.tasks.create({ ...task, owner: 'me' }, { leaseMs: 0 });
  await one.tasks.putStep('t', 'k', 1);
  await one.bus.publish({ topic: 'a', payload: 1 });
  expect(await other.sessions.get('s', HOUR_MS)).toBeUndefined();
  expect(await other.states.get('s')).toBeUndefined();
  expect(await other.replays.claim('s', HOUR_MS)).toBe(true);
  expect(await other.events.replay('s', claim?.eventId ?? '')).toBeUndefined();
  expect(await other.taskHandles.list('s')).toEqual([]);
  expect(await other.tasks.get('t')).toBeUndefined();
  expect((await other.tasks.list('ada', { limit: 10 })).tasks).toEqual([]);
  expect(await other.tasks.getStep('t', 'k')).toBeUndefined();
  expect(await other.tasks.claim('t', 'me', HOUR_MS)).toBeUndefined();
  expect(await other.tasks.claimOrphans(HOUR_MS, 10)).toEqual([]);
  expect(await other.tasks.renew('me', HOUR_MS)).toEqual([]);
  expect((await other.tasks.create(task, { leaseMs: HOUR_MS, maxOpen: 1 }))?.version).toBe(1);
  for (const store of [other.sessions, other.states, other.events, other.tasks]) await store.delete('s');
  expect((await one.sessions.get('s', HOUR_MS))?.principal).toBe('ada');
  expect((await one.tasks.claimOrphans(HOUR_MS, 10)).map(({ id }) => id)).toEqual(['t']);
  // What is published later arrives: the first message would have come before it.
  const arrived = new Promise<BusMessage>(
    (resolve) => void other.bus.subscribe('a', resolve).then(() => other.bus.publish({ topic: 'a', payload: 2 })),
  );
  expect((await arrived).payload).toBe(2);
  expect(heard.map(({ payload }) => payload)).toEqual([2]);
}

/** Checks that ids that only UTF-16 can tell apart are different ids, and are given back as they are. */
export async function expectOwnIds({ tasks, sessions, states, bus }: ClusterStores): Promise<void> {
  const ids = ['a\uD800', 'a\uDFFF', 'a\uFFFD', '\uE000"a\\ud800"', '\uE000'];
  for (const id of ids) {
    expect(await tasks.create({ ...task, id, principal: id, owner: id }, { leaseMs: HOUR_MS })).toBeDefined();
    expect(await sessions.put({ ...session, id, principal: id }, 0, HOUR_MS)).toEqual({ isWritten: true });
    await states.put(id, id, HOUR_MS);
  }
  for (const id of ids) {
    const owned = { id, principal: id, owner: id };
    expect((await tasks.list(id, { limit: 10 })).tasks).toEqual([{ ...task, ...owned, version: 1 }]);
    expect(await tasks.renew(id, HOUR_MS)).toEqual([{ id, version: 1 }]);
    expect(await sessions.get(id, HOUR_MS)).toMatchObject({ id, principal: id });
    expect(await states.get(id)).toBe(id);
    const heard = new Promise<BusMessage>((resolve) => void bus.subscribe(id, resolve).then(() => bus.publish({ topic: id, payload: id })));
    expect(await heard).toEqual({ topic: id, payload: id });
  }
}

/** Checks that no call takes longer than about `waitMs` (1,000 milliseconds here) while the engine hangs. @param hang Makes it hang. */
export async function expectNoLongWait(stores: ClusterStores, hang: () => void): Promise<void> {
  const unsubscribe = await stores.bus.subscribe('a', () => undefined);
  await stores.states.put('s', 'x', HOUR_MS);
  hang();
  const startMs = performance.now();
  const appends = Array.from({ length: 10 }, () => stores.events.append('s', 'a', undefined));
  const others = [stores.states.get('s'), stores.bus.publish({ topic: 'a' }), stores.bus.subscribe('b', () => undefined)];
  const [health, ...ends] = await Promise.all([stores.health(), ...[...appends, ...others].map((call) => call.catch(codeOf))]);
  const tookMs = performance.now() - startMs;
  expect(new Set(ends)).toEqual(new Set([expect.stringMatching(/^ERR_(?:REDIS|POSTGRES)_UNAVAILABLE$/)]));
  expect({ isUp: health.isUp, problems: health.problems.length }).toEqual({ isUp: false, problems: 2 });
  // Ten appends in turn would take ten times as long; the client library of Redis waits 15 seconds.
  expect(tookMs).toBeLessThan(8000);
  unsubscribe();
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}

const MEBIBYTE = 2 ** 20;
const large = (mebibytes: number) => ({ jsonrpc: '2.0', method: 'm', params: { text: 'x'.repeat(mebibytes * MEBIBYTE) } }) as const;

/** Checks that a stream has a bound in bytes, which spares its last event. */
export async function expectBoundedStreams({ events }: ClusterStores): Promise<void> {
  const start = await events.append('s', 'one answer', undefined);
  await events.append('s', 'one answer', large(20));
  expect((await events.replay('s', start ?? ''))?.events).toHaveLength(1);
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) ids.push((await events.append('s', 'many', large(3))) ?? '');
  expect(await events.replay('s', ids[0] ?? '')).toBeUndefined();
  expect((await events.replay('s', ids[5] ?? ''))?.events.map(({ id }) => id)).toEqual(ids.slice(6));
}

/** Checks that two machines refuse each other's callers whatever belongs to another principal: session, stream, task and state. */
export async function expectRefusals(stores: ClusterStores): Promise<void> {
  const tokenVerifier = { verify: async ({ token = '' }) => ({ principal: token, scopes: [] }) };
  const asPrincipal = (principal: string): { readonly authorization: string } => ({ authorization: `Bearer ${principal}` });
  const [ada, eve] = [asPrincipal('ada'), asPrincipal('eve')];
  const machines = await Promise.all([0, 1].map(() => startMachine()));
  async function startMachine() {
    const server = new McpServer(
      { name: 'node', version: '1' },
      {
        messageBus: stores.bus,
        clusterKey: new Uint8Array(32),
        requestState: { store: stores.states, replay: stores.replays },
        extensions: [createTasks({ store: stores.tasks })],
      },
    );
    const wait = (signal: AbortSignal): Promise<string> =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('ended'), { once: true }));
    server.registerTool('report', { execution: { taskSupport: 'required' } }, (ctx) => wait(ctx.signal));
    // Too long for the client: it gets a reference.
    server.registerTool('long', {}, (ctx) =>
      typeof ctx.requestState === 'string' ? 'continued' : inputRequired({ requestState: 'x'.repeat(300_000) }),
    );
    server.registerTool('add', {}, () => 'sum');
    const options = { messageBus: stores.bus, sessionStore: stores.sessions, eventStore: stores.events, tokenVerifier };
    return { server, serving: await serve('node', server, options) };
  }
  try {
    const [here = 0, there = 0] = machines.map(({ serving }) => serving.port);
    const client = await LegacyClient.open(here, undefined, ada);
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'add', arguments: {} } };
    const elsewhere = client.at(there);
    expect((await elsewhere.post(call, eve)).status).toBe(404);
    expect((await elsewhere.delete(eve)).status).toBe(404);
    const answer = await elsewhere.post(call, ada);
    const eventId = (await answer.event())?.id ?? '';
    expect(eventId).not.toBe('');
    expect(await answer.response()).toMatchObject({ result: { content: [{ text: 'sum' }] } });
    expect((await client.get({ ...eve, 'last-event-id': eventId })).status).toBe(404);
    expect((await client.get({ ...ada, 'last-event-id': eventId })).status).toBe(200);

    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const asTask: JsonObject = { _meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities } };
    const created = await (await modern(here, 'tools/call', { name: 'report', arguments: {}, ...asTask }, ada)).response();
    const { taskId } = created['result'] as { readonly taskId: string };
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/get'])
      for (const [principal, expected] of [
        [eve, { error: { code: -32602 } }],
        ...(method === 'tasks/get' ? [[ada, { result: { taskId, status: 'working' } }] as const] : []),
      ] as const) {
        const answered = await modern(there, method, { taskId, ...asTask }, { 'mcp-name': taskId, ...principal });
        expect(await answered.response()).toMatchObject(expected);
      }

    const asked = (await (await modernTool(here, 'long', {}, ada)).response())['result'] as JsonObject;
    const retry = { name: 'long', arguments: {}, requestState: String(asked['requestState']) };
    expect(retry.requestState.length).toBeLessThan(2000);
    expect(await (await modern(there, 'tools/call', retry, eve)).response()).toMatchObject({ error: { code: -32602 } });
    expect(await (await modern(there, 'tools/call', retry, ada)).response()).toMatchObject({
      result: { content: [{ text: 'continued' }] },
    });
    // Used once.
    expect(await (await modern(here, 'tools/call', retry, ada)).response()).toMatchObject({ error: { code: -32602 } });
  } finally {
    await Promise.all(machines.map(({ serving }) => serving.close()));
    await Promise.all(machines.map(({ server }) => server.close()));
  }
}
