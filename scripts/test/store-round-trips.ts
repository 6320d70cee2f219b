/** How many commands an operation sends to an engine: what `docs/round-trips.md` says, measured. */

import type { ClusterStores } from '@mortise/protocol/contracts';
import { readFile } from 'node:fs/promises';
import { McpServer } from '@mortise/server';
import { createTasks } from '@mortise/tasks/server';
import { expect, vi } from 'vitest';
import { LegacyClient } from '../../packages/transport-http/test/support/legacy-client.ts';
import { modern, modernTool } from '../../packages/transport-http/test/support/modern.ts';
import { gate } from '../../packages/transport-http/test/support/scripted-endpoint.ts';
import { serve, type Serving } from '../../packages/transport-http/test/support/serve.ts';

const HOUR_MS = 3_600_000;
/** A renewal, a look for orphans, and the message that the lists of tools may be new. */
const AT_START = 3;
const TASKS = { _meta: { 'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } } } };

/** Counts what each request of a client, and each method of a store, sends. @param count How many commands have been sent so far. */
export async function countRoundTrips(stores: ClusterStores, count: () => number): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {};
  const measure = async <T>(what: string, fn: () => Promise<T>): Promise<T> => {
    const before = count();
    const value = await fn();
    found[what] = count() - before;
    return value;
  };
  await countRequests(stores, count, measure);
  await countMethods(stores, measure);
  return found;
}

type Measure = <T>(what: string, fn: () => Promise<T>) => Promise<T>;

async function countRequests(stores: ClusterStores, count: () => number, measure: Measure): Promise<void> {
  const go = gate();
  const nodes: { readonly server: McpServer; readonly serving: Serving }[] = [];
  /** Starts a machine. Resolves when it has sent what it sends at its start. */
  const start = async (withEvents: boolean): Promise<number> => {
    const [before, extensions] = [count(), [createTasks({ store: stores.tasks, leaseMs: HOUR_MS })]];
    const server = new McpServer({ name: 'node', version: '1' }, { messageBus: stores.bus, extensions });
    server.registerTool('add', {}, () => 'sum');
    server.registerTool('report', { execution: { taskSupport: 'required' } }, async () => {
      await go.promise;
      return 'report';
    });
    const options = { messageBus: stores.bus, sessionStore: stores.sessions, ...(withEvents && { eventStore: stores.events }) };
    const serving = await serve('node', server, options);
    nodes.push({ server, serving });
    await vi.waitFor(() => expect(count() - before).toBe(AT_START), 60_000);
    return serving.port;
  };
  try {
    const port = await measure('start a server with tasks', () => start(false));
    const resumable = await start(true);
    const client = await measure('open a session: `initialize`, `initialized`', () => LegacyClient.open(port));
    await measure('call a tool in a session', async () => (await client.tool('add')).response());
    // Opens the session there.
    await (await client.at(resumable).tool('add')).response();
    await measure('call a tool in a session, with a resumable answer', async () => (await client.at(resumable).tool('add')).response());
    await measure('call a tool without a session (2026-07-28)', async () => (await modernTool(port, 'add')).response());
    const params = { name: 'report', arguments: {}, ...TASKS };
    const created = await measure('call a tool that becomes a task', async () => (await modern(port, 'tools/call', params)).response());
    const { taskId } = (created as { readonly result: { readonly taskId: string } }).result;
    const poll = async (at: number): Promise<void> => {
      const answer = await modern(at, 'tasks/get', { taskId, ...TASKS }, { 'mcp-name': taskId });
      expect(await answer.response()).toMatchObject({ result: { taskId, status: 'working' } });
    };
    await measure('poll the task where it runs', () => poll(port));
    await measure('poll the task elsewhere', () => poll(resumable));
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    await stores.bus.subscribe(`task:${taskId}`, end);
    await measure('the task ends', async () => {
      go.open();
      await ended;
    });
  } finally {
    await Promise.all(nodes.map(({ serving }) => serving.close()));
    await Promise.all(nodes.map(({ server }) => server.close()));
  }
}

async function countMethods(
  { bus, events, replays, sessions, states, taskHandles, tasks }: ClusterStores,
  measure: Measure,
): Promise<void> {
  const session = { id: 's', principal: 'p', state: { layout: 1 } };
  await measure('`sessions.put`', () => sessions.put(session, 0, HOUR_MS));
  await measure('`sessions.put`, too late', () => sessions.put(session, 0, HOUR_MS));
  await measure('`sessions.get`', () => sessions.get('s', HOUR_MS));
  await measure('`sessions.delete`', () => sessions.delete('s'));
  const claimed = await measure('`events.claim`', async () => events.claim?.('s', 'a'));
  await measure('`events.append`', () => events.append('s', 'a', undefined, claimed));
  await measure('`events.replay`', () => events.replay('s', claimed?.eventId ?? ''));
  await measure('`events.delete`', () => events.delete('s'));
  await measure('`states.put`', () => states.put('s', 'x', HOUR_MS));
  await measure('`states.get`', () => states.get('s'));
  await measure('`replays.claim`', () => replays.claim('s', HOUR_MS));
  await measure('`taskHandles.add`', () => taskHandles.add({ server: 's', taskId: 't', method: 'tools/call', createdAtMs: 1 }));
  await measure('`taskHandles.list`', () => taskHandles.list('s'));
  const record = { id: 't', principal: 'p', generation: 'g', status: 'working', driver: 'engine', resumable: true, asks: [] } as const;
  const times = { createdAtMs: 1, updatedAtMs: 1, ttlMs: HOUR_MS };
  await measure('`tasks.create`', () => tasks.create({ ...record, ...times }, { leaseMs: HOUR_MS, maxOpen: 10 }));
  await measure('`tasks.claim`', () => tasks.claim('t', 'me', HOUR_MS));
  await measure('`tasks.get`', () => tasks.get('t'));
  await measure('`tasks.list`', () => tasks.list('p', { limit: 10 }));
  await measure('`tasks.putStep`', () => tasks.putStep('t', 'k', 1));
  await measure('`tasks.getStep`', () => tasks.getStep('t', 'k'));
  await measure('`tasks.renew`', () => tasks.renew('me', HOUR_MS));
  await measure('`tasks.claimOrphans`', () => tasks.claimOrphans(HOUR_MS, 10));
  await measure('`tasks.update`, to its end', () => tasks.update('t', 2, { status: 'completed' }));
  await measure('`tasks.delete`', () => tasks.delete('t'));
  await measure('`bus.publish`', () => bus.publish({ topic: 'a' }));
}

/** Compares what was counted with a column of the table in `docs/round-trips.md`. */
export async function expectRoundTrips(engine: 'Redis' | 'PostgreSQL', found: Readonly<Record<string, number>>): Promise<void> {
  const page = await readFile(new URL('../../docs/round-trips.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| (.+) \| (\d+) \| (\d+) \|$/gm)];
  const written = rows.map(([, what, redis, postgres]) => [what, Number(engine === 'Redis' ? redis : postgres)] as const);
  expect(found).toEqual(Object.fromEntries(written));
}
