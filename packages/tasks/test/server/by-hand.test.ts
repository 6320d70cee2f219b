import { describe, expect, it } from 'vitest';
import { McpServer } from '@mortise/server';
import { MemoryTaskStore } from '@mortise/tasks';
import { createTaskControl, createTasks, type Tasks } from '@mortise/tasks/server';
import { z } from 'zod';
import { CORE, MODERN, RawPeer } from '../support/raw-peer.ts';

interface Hand {
  readonly server: McpServer;
  readonly store: MemoryTaskStore;
  readonly tasks: Tasks;
}

function createHandServer(): Hand {
  const store = new MemoryTaskStore();
  const tasks = createTasks({ store, maxPollsPerSecond: Infinity, pollIntervalMs: 1 });
  const server = new McpServer({ name: 's', version: '1' }, { extensions: [tasks] });
  const config = { execution: { taskSupport: 'optional' }, taskDriver: 'hand', inputSchema: { job: z.string() } } as const;
  server.registerTool('submit', config, async ({ job }, ctx) => {
    if (!ctx.canCreateTask) return `${job} at once`;
    return ctx.createTask({ statusMessage: 'Submitted', data: { job }, ttlMs: 5_000 });
  });
  server.registerTool('careless', { inputSchema: { job: z.string() } }, (_args, ctx) => ctx.createTask());
  return { server, store, tasks };
}

const args = { arguments: { job: 'j1' } };

describe('a task that is driven by hand', () => {
  it.each([CORE, MODERN])('in %s is created by its handler and ended from anywhere that has the store', async (version) => {
    const { server, store } = createHandServer();
    const peer = await RawPeer.open(server, { version });
    const told = await peer.start('submit', { job: 'j1' });
    expect(told).toMatchObject({ status: 'working', statusMessage: 'Submitted', [version === CORE ? 'ttl' : 'ttlMs']: 5_000 });
    const elsewhere = createTaskControl(store);
    expect((await elsewhere.get(told.taskId))?.data).toEqual({ job: 'j1' });
    expect(await elsewhere.setStatus(told.taskId, 'Half')).toBe(true);
    expect((await peer.call('tasks/get', { taskId: told.taskId })).statusMessage).toBe('Half');
    expect(await elsewhere.complete(told.taskId, 'all of it')).toBe(true);
    expect(await elsewhere.complete(told.taskId, 'again')).toBe(false);
    expect(await elsewhere.fail(told.taskId, { message: 'too late' })).toBe(false);
    if (version === CORE)
      expect((await peer.call('tasks/result', { taskId: told.taskId })).content).toEqual([{ type: 'text', text: 'all of it' }]);
    else expect((await peer.call('tasks/get', { taskId: told.taskId })).result).toEqual({ content: [{ type: 'text', text: 'all of it' }] });
  });

  it('releases those who wait for it when another process ends it', async () => {
    const { server, store } = createHandServer();
    const peer = await RawPeer.open(server);
    const { taskId } = await peer.start('submit', { job: 'j1' });
    const waiting = peer.request('tasks/result', { taskId });
    await createTaskControl(store).fail(taskId, { message: 'The job system is down', code: 99 });
    expect((await waiting).error).toEqual({ code: 99, message: 'The job system is down' });
  });

  it('is cancelled by its client as any other, and the program finds it so', async () => {
    const { server, tasks } = createHandServer();
    const peer = await RawPeer.open(server, { version: MODERN });
    const { taskId } = await peer.start('submit', { job: 'j1' });
    await peer.call('tasks/cancel', { taskId });
    expect((await tasks.get(taskId))?.status).toBe('cancelled');
    expect(await tasks.complete(taskId, 'done all the same')).toBe(false);
  });

  it('is not taken up as an orphan: no process of ours runs it', async () => {
    const { server, store } = createHandServer();
    const peer = await RawPeer.open(server, { version: MODERN });
    await peer.start('submit', { job: 'j1' });
    const [task] = (await store.list('local', { limit: 1 })).tasks;
    expect([task?.driver, await store.claim(task?.id ?? '', 'me', 1_000)]).toEqual(['hand', undefined]);
  });

  it('is not created for a client that takes none, and the handler knows', async () => {
    const { server, store } = createHandServer();
    for (const options of [{ version: CORE }, { version: MODERN, capabilities: {} }, { version: '2025-06-18' }]) {
      const peer = await RawPeer.open(server, options);
      expect((await peer.call('tools/call', { name: 'submit', ...args })).content).toMatchObject([{ text: 'j1 at once' }]);
    }
    const peer = await RawPeer.open(server, { version: MODERN });
    expect((await peer.call('tools/call', { name: 'careless', ...args })).isError).toBe(true);
    expect((await store.list('local', { limit: 5 })).tasks).toEqual([]);
  });
});

describe('ctx.createTask', () => {
  it.each([{ ttlMs: NaN }, { ttlMs: -1 }, { ttl: 5 }])('refuses options that are none: %j', async (options) => {
    const { server } = createHandServer();
    server.registerTool('wrong', { execution: { taskSupport: 'optional' }, taskDriver: 'hand' }, (ctx) =>
      ctx.createTask(options).catch((error: unknown) => String(error)),
    );
    const peer = await RawPeer.open(server, { version: MODERN });
    const { content } = await peer.call('tools/call', { name: 'wrong', arguments: {} });
    expect(content[0].text).toMatch(/^TypeError: ctx\.createTask options: ("ttlMs" must be a number, 0 or more|unknown option "ttl")/);
  });
});

describe('an extension of tasks', () => {
  it('belongs to one server', () => {
    const tasks = createTasks();
    const info = { name: 's', version: '1' };
    expect(new McpServer(info, { extensions: [tasks] })).toBeDefined();
    expect(() => new McpServer(info, { extensions: [tasks] })).toThrow(expect.objectContaining({ code: 'ERR_TASK_UNAVAILABLE' }));
  });

  it('checks the scopes of a tool before it makes a task of it', async () => {
    const tasks = createTasks();
    const server = new McpServer({ name: 's', version: '1' }, { extensions: [tasks] });
    server.registerTool('admin', { execution: { taskSupport: 'optional' }, scopes: ['admin'] }, () => 'secret');
    server.registerTool(
      'hidden',
      { execution: { taskSupport: 'optional' }, visible: ({ principal }) => principal === 'ann' },
      () => 'hers',
    );
    const eve = await RawPeer.open(server, { version: MODERN, principal: 'eve' });
    expect(await eve.refusal('tools/call', { name: 'admin' })).toBe(403);
    expect(await eve.refusal('tools/call', { name: 'hidden' })).toBe(-32602);
    const ann = await RawPeer.open(server, { version: MODERN, principal: 'ann' });
    const { taskId } = await ann.start('hidden');
    expect((await ann.until(taskId, ({ status }) => status !== 'working')).result.content).toMatchObject([{ text: 'hers' }]);
  });
});
