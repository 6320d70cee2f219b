import { describe, expect, it, vi } from 'vitest';
import { McpServer } from '@mortise/server';
import { MemoryTaskStore } from '@mortise/tasks';
import { createTasks } from '@mortise/tasks/server';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { CORE, EXTENSION, MODERN, RawPeer, RELATED, TAKES_TASKS, turn } from './support/raw-peer.ts';
import { createTaskServer } from './support/task-server.ts';

const modern = { version: MODERN };
const REQUIRED = { requiredCapabilities: { extensions: { [EXTENSION]: {} } } };
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ended = ({ status }: { status: string }): boolean => !['working', 'input_required'].includes(status);

describe('what is declared', () => {
  it('[TASKX-002][TASKX-040] advertises the extension, and nothing of the core’s generation', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    const { capabilities } = await peer.call('server/discover');
    expect(capabilities.extensions).toEqual({ [EXTENSION]: {} });
    expect(capabilities.tasks).toBeUndefined();
    const old = await RawPeer.open(server, { ...modern, capabilities: { tasks: { requests: { tools: { call: {} } } } } });
    expect((await old.call('tools/call', { name: 'quick' })).resultType).toBe('complete');
    expect(await old.refusal('tasks/get', { taskId: 'x' })).toBe(-32021);
  });

  it('[TASKX-041] enables nothing on a connection of 2025-11-25', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, { version: CORE, capabilities: TAKES_TASKS });
    expect(await peer.call('tools/call', { name: 'quick' })).toEqual({ content: [{ type: 'text', text: 'quick false' }] });
    expect(await peer.refusal('tasks/update', { taskId: 'x', inputResponses: {} })).toBe(-32601);
    const { taskId } = await (await RawPeer.open(server, modern)).start('quick');
    expect(await peer.refusal('tasks/get', { taskId })).toBe(-32602);
  });
});

describe('a call', () => {
  it('[TASKX-003] is answered by a task only if this very request says that the client takes them', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    expect((await peer.start('quick')).resultType).toBe('task');
    const undeclared = { _meta: { 'io.modelcontextprotocol/clientCapabilities': {} } };
    expect(await peer.call('tools/call', { name: 'quick', ...undeclared })).toMatchObject({
      resultType: 'complete',
      content: [{ text: 'quick false' }],
    });
    expect((await peer.start('quick')).resultType).toBe('task');
  });

  it('[TASKX-006] of a tool that runs as a task only is answered with -32021 where the client takes none', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, { ...modern, capabilities: {} });
    expect((await peer.request('tools/call', { name: 'required' })).error).toMatchObject({ code: -32021, data: REQUIRED });
  });

  it('[TASKX-007][TASKX-008][TASKX-009] is answered by a task that is told flat, with its kind and its time', async () => {
    const { server, gate } = createTaskServer({ maxTtlMs: 60_000, pollIntervalMs: 250 });
    const peer = await RawPeer.open(server, modern);
    const { _meta, ...told } = await peer.start('wait');
    expect(told).toEqual({
      resultType: 'task',
      taskId: expect.any(String),
      status: 'working',
      createdAt: expect.stringMatching(ISO),
      lastUpdatedAt: expect.stringMatching(ISO),
      ttlMs: 60_000,
      pollIntervalMs: 250,
    });
    for (const name of ['plain', 'forbidden']) expect((await peer.call('tools/call', { name })).resultType).toBe('complete');
    gate.open();
  });

  it('[TASKX-010] is answered once the store has the task, and not before', async () => {
    const store = new MemoryTaskStore();
    const create = store.create.bind(store);
    let keep = (): void => undefined;
    store.create = async (record, terms) => {
      await new Promise<void>((resolve) => (keep = resolve));
      return create(record, terms);
    };
    const { server } = createTaskServer({ store });
    const peer = await RawPeer.open(server, modern);
    let isAnswered = false;
    const started = peer.start('quick').finally(() => (isAnswered = true));
    await turn();
    await turn();
    expect(isAnswered).toBe(false);
    keep();
    const { taskId } = await started;
    expect((await peer.call('tasks/get', { taskId })).taskId).toBe(taskId);
  });

  it('whose client left before the answer leaves no task that goes on', async () => {
    const store = new MemoryTaskStore();
    const create = store.create.bind(store);
    let keep = (): void => undefined;
    let id = '';
    store.create = async (record, terms) => {
      id = record.id;
      await new Promise<void>((resolve) => (keep = resolve));
      return create(record, terms);
    };
    const { server } = createTaskServer({ store });
    const peer = await RawPeer.open(server, modern);
    void peer.request('tools/call', { name: 'wait' }, 'gone');
    await turn();
    peer.notify('notifications/cancelled', { requestId: 'gone' });
    await turn();
    keep();
    await turn();
    expect((await store.get(id))?.status).toBe('cancelled');
  });

  it('[TASKX-039] is not changed by a task parameter', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    expect((await peer.call('tools/call', { name: 'plain', task: { ttl: 5 } })).resultType).toBe('complete');
    expect((await peer.call('tools/call', { name: 'quick', task: 'what' })).resultType).toBe('task');
  });
});

describe('tasks/get', () => {
  it('[TASKX-012][TASKX-013][TASKX-014] gives each state with what belongs to it', async () => {
    const { server, gate } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('wait');
    expect(await peer.call('tasks/get', { taskId })).toMatchObject({ resultType: 'complete', status: 'working' });
    gate.open();
    const done = await peer.until(taskId, ended);
    expect(done).toMatchObject({ resultType: 'complete', status: 'completed', result: { content: [{ text: 'waited' }] } });
    expect(done.result._meta?.[RELATED]).toBeUndefined();
    const asking = await peer.start('asks');
    const waiting = await peer.until(asking.taskId, ({ status }) => status !== 'working');
    expect(waiting.status).toBe('input_required');
    expect(Object.values(waiting.inputRequests)).toMatchObject([{ method: 'elicitation/create', params: { message: 'Who?' } }]);
    await peer.call('tasks/cancel', { taskId: asking.taskId });
    const cancelled = await peer.call('tasks/get', { taskId: asking.taskId });
    expect(cancelled).toMatchObject({ resultType: 'complete', status: 'cancelled' });
    for (const member of ['result', 'error', 'inputRequests']) expect(cancelled).not.toHaveProperty(member);
  });

  it('[TASKX-033] ends as completed where the tool says that it failed', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('fails');
    expect(await peer.until(taskId, ended)).toMatchObject({ status: 'completed', result: { isError: true } });
  });

  it('[TASKX-034] ends as failed on a JSON-RPC error alone, which it holds', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('breaks');
    const task = await peer.until(taskId, ended);
    expect(task).toMatchObject({
      status: 'failed',
      statusMessage: 'It broke',
      error: { code: 77, message: 'It broke', data: { why: 'because' } },
    });
    expect(task).not.toHaveProperty('result');
  });

  it('[TASKX-017] no longer finds a task whose time is over', async () => {
    const clock = new FakeClock();
    const { server, gate } = createTaskServer({ maxTtlMs: 1_000, clock });
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('wait');
    clock.advance(1_001);
    expect(await peer.refusal('tasks/get', { taskId })).toBe(-32602);
    gate.open();
  });

  it('tells what progress says as the status message, at a bearable rate', async () => {
    const { server, gate } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('reports');
    await peer.until(taskId, ({ statusMessage }) => statusMessage !== undefined);
    gate.open();
    expect((await peer.until(taskId, ended)).result.content).toMatchObject([{ text: 'reported' }]);
    expect(peer.of('notifications/progress')).toEqual([]);
  });
});

describe('tasks/update', () => {
  it('[TASKX-023][TASKX-024] takes answers one by one, passes over what was not asked, and says nothing more', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('asks-twice');
    const { inputRequests } = await peer.until(taskId, ({ status }) => status === 'input_required');
    const [one = '', two = ''] = Object.keys(inputRequests);
    const answer = (name: string) => ({ action: 'accept', content: { name } });
    const { _meta, ...acknowledged } = await peer.call('tasks/update', {
      taskId,
      inputResponses: { [one]: answer('a'), unknown: answer('x') },
    });
    expect(acknowledged).toEqual({ resultType: 'complete' });
    const half = await peer.call('tasks/get', { taskId });
    expect(half.status).toBe('input_required');
    expect(Object.keys(half.inputRequests)).toEqual([two]);
    await peer.call('tasks/update', { taskId, inputResponses: { [one]: answer('changed'), [two]: answer('b') } });
    const again = await peer.until(taskId, ({ inputRequests }) => inputRequests && !(two in inputRequests));
    const [third = ''] = Object.keys(again.inputRequests);
    await peer.call('tasks/update', { taskId, inputResponses: { [third]: answer('c') } });
    expect((await peer.until(taskId, ended)).result.content).toMatchObject([{ text: 'a b c' }]);
  });

  it('[TASKX-021] never sees a key for two questions, though they are the same', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('asks-twice');
    const seen: string[] = [];
    for (;;) {
      const task = await peer.until(taskId, ({ status }) => status !== 'working');
      if (ended(task)) break;
      const keys = Object.keys(task.inputRequests);
      seen.push(...keys);
      await peer.call('tasks/update', {
        taskId,
        inputResponses: Object.fromEntries(keys.map((key) => [key, { action: 'accept', content: { name: 'n' } }])),
      });
    }
    expect(seen).toHaveLength(3);
    expect(new Set(seen).size).toBe(3);
  });

  it('refuses an answer that does not fit its question, and takes none of the others', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('asks');
    const { inputRequests } = await peer.until(taskId, ({ status }) => status === 'input_required');
    const [key = ''] = Object.keys(inputRequests);
    for (const inputResponses of [{ [key]: { action: 'perhaps' } }, { [key]: 'yes' }, 'all', undefined])
      expect(await peer.refusal('tasks/update', inputResponses === undefined ? { taskId } : { taskId, inputResponses })).toBe(-32602);
    expect((await peer.call('tasks/get', { taskId })).status).toBe('input_required');
  });
});

describe('tasks/cancel', () => {
  it('[TASKX-026] is acknowledged by an empty result, also when the task had ended', async () => {
    const { server, gate } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('wait');
    for (let i = 0; i < 2; i++) {
      const { _meta, ...acknowledged } = await peer.call('tasks/cancel', { taskId });
      expect(acknowledged).toEqual({ resultType: 'complete' });
    }
    expect((await peer.call('tasks/get', { taskId })).status).toBe('cancelled');
    gate.open();
  });
});

describe('what is refused', () => {
  it('[TASKX-027] is an id that nobody knows with -32602, and a fault of the store with -32603', async () => {
    const store = new MemoryTaskStore();
    const { server } = createTaskServer({ store });
    const peer = await RawPeer.open(server, modern);
    for (const taskId of ['none', '', 'x'.repeat(10_000), 5, null] as const) {
      expect(await peer.refusal('tasks/get', { taskId })).toBe(-32602);
      expect(await peer.refusal('tasks/update', { taskId, inputResponses: {} })).toBe(-32602);
      expect(await peer.refusal('tasks/cancel', { taskId })).toBe(-32602);
    }
    store.get = () => Promise.reject(new Error('the disk is full'));
    expect(await peer.refusal('tasks/get', { taskId: 'any' })).toBe(-32603);
  });

  it('[TASKX-028] is a request about tasks that does not declare the extension, with -32021', async () => {
    const { server, gate } = createTaskServer();
    const { taskId } = await (await RawPeer.open(server, modern)).start('wait');
    const peer = await RawPeer.open(server, { ...modern, capabilities: { elicitation: {} } });
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      expect((await peer.request(method, { taskId, inputResponses: {} })).error).toMatchObject({ code: -32021, data: REQUIRED });
    expect((await peer.request('subscriptions/listen', { notifications: { taskIds: [taskId] } })).error).toMatchObject({
      code: -32021,
      data: REQUIRED,
    });
    gate.open();
  });

  it('[TASKX-038] is tasks/result and tasks/list, which do not exist', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('quick');
    expect(await peer.refusal('tasks/result', { taskId })).toBe(-32601);
    expect(await peer.refusal('tasks/list')).toBe(-32601);
  });

  it('[TASKX-036][TASKX-037] is every request of another principal about a task, whose id nobody can guess', async () => {
    const { server, gate } = createTaskServer();
    const ann = await RawPeer.open(server, { ...modern, principal: 'ann' });
    const eve = await RawPeer.open(server, { ...modern, principal: 'eve' });
    const { taskId } = await ann.start('asks');
    expect(taskId).toMatch(/^[\w-]{22,}$/);
    const { inputRequests } = await ann.until(taskId, ({ status }) => status === 'input_required');
    const answers = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { action: 'accept', content: { name: 'Eve' } }]));
    expect(await eve.refusal('tasks/get', { taskId })).toBe(-32602);
    expect(await eve.refusal('tasks/update', { taskId, inputResponses: answers })).toBe(-32602);
    expect(await eve.refusal('tasks/cancel', { taskId })).toBe(-32602);
    void eve.request('subscriptions/listen', { notifications: { taskIds: [taskId] } });
    expect((await eve.nextOf('notifications/subscriptions/acknowledged')).params.notifications.taskIds).toEqual([]);
    expect((await ann.call('tasks/get', { taskId })).status).toBe('input_required');
    gate.open();
  });
});

describe('subscriptions/listen', () => {
  it('[TASKX-029][TASKX-030] tells a task that was asked for as tasks/get would, with the subscription that it is for', async () => {
    const { server, gate } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('wait');
    void peer.request('subscriptions/listen', { notifications: { taskIds: [taskId, 'unknown'] } }, 'sub');
    expect((await peer.nextOf('notifications/subscriptions/acknowledged')).params.notifications).toEqual({ taskIds: [taskId] });
    gate.open();
    const { params } = await peer.nextOf('notifications/tasks', ({ status }) => status === 'completed');
    const { _meta, ...told } = params;
    const { _meta: _own, resultType, ...got } = await peer.call('tasks/get', { taskId });
    expect(told).toEqual(got);
    expect(_meta).toEqual({ 'io.modelcontextprotocol/subscriptionId': 'sub' });
  });

  it('tells each state in its order, questions included, and a task that ended before it was asked for', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('asks');
    void peer.request('subscriptions/listen', { notifications: { taskIds: [taskId] } }, 'sub');
    const { params } = await peer.nextOf('notifications/tasks', ({ status }) => status === 'input_required');
    const [key = ''] = Object.keys(params.inputRequests);
    await peer.call('tasks/update', { taskId, inputResponses: { [key]: { action: 'accept', content: { name: 'Ann' } } } });
    await peer.nextOf('notifications/tasks', ({ status }) => status === 'completed');
    const states = peer.of('notifications/tasks').map((message) => message.params.status);
    const changes = states.filter((state, index) => state !== states[index - 1]);
    // How it stood is told first.
    expect(changes.slice(changes.indexOf('input_required'))).toEqual(['input_required', 'working', 'completed']);
    const late = await RawPeer.open(server, modern);
    void late.request('subscriptions/listen', { notifications: { taskIds: [taskId] } }, 'late');
    expect((await late.nextOf('notifications/tasks')).params).toMatchObject({ taskId, status: 'completed' });
  });

  it('[TASKX-031] carries neither progress nor log messages of a task', async () => {
    const { server, gate } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    const _meta = { progressToken: 'p1', 'io.modelcontextprotocol/logLevel': 'debug' };
    const { taskId } = await peer.call('tools/call', { name: 'reports', _meta });
    void peer.request('subscriptions/listen', { notifications: { taskIds: [taskId] }, _meta }, 'sub');
    await peer.nextOf('notifications/subscriptions/acknowledged');
    gate.open();
    await peer.nextOf('notifications/tasks', ({ status }) => status === 'completed');
    expect(peer.of('notifications/progress')).toEqual([]);
    expect(peer.of('notifications/message')).toEqual([]);
  });

  it('tells changes that another process made in the store', async () => {
    const store = new MemoryTaskStore();
    const { server, gate } = createTaskServer({ store, pollIntervalMs: 1 });
    const peer = await RawPeer.open(server, modern);
    const { taskId } = await peer.start('wait');
    void peer.request('subscriptions/listen', { notifications: { taskIds: [taskId] } }, 'sub');
    await peer.nextOf('notifications/tasks', ({ status }) => status === 'working');
    const other = createTaskServer({ store });
    await other.tasks.setStatus(taskId, 'told elsewhere');
    expect((await peer.nextOf('notifications/tasks', ({ statusMessage }) => statusMessage !== undefined)).params.statusMessage).toBe(
      'told elsewhere',
    );
    gate.open();
  });
});

describe('a subscription that the server refuses', () => {
  it('leaves nothing that looks for changes of its tasks in the store', async () => {
    const store = new MemoryTaskStore();
    const elsewhere = createTaskServer({ store });
    const { taskId } = await (await RawPeer.open(elsewhere.server, modern)).start('wait');
    const clock = new FakeClock(Date.now());
    const tasks = createTasks({ store, clock, pollIntervalMs: 1_000 });
    const server = new McpServer({ name: 's', version: '1' }, { extensions: [tasks], maxSubscriptions: 0 });
    server.registerResource('one', 'test://one', {}, () => 'x');
    const peer = await RawPeer.open(server, modern);
    const notifications = { taskIds: [taskId], resourceSubscriptions: ['test://one'] };
    expect((await peer.request('subscriptions/listen', { notifications })).error?.code).toBe(-32602);
    clock.advance(0);
    await turn();
    const reads = vi.spyOn(store, 'get');
    for (let n = 0; n < 5; n++) {
      clock.advance(1_000);
      await turn();
    }
    expect(reads).not.toHaveBeenCalledWith(taskId);
    elsewhere.gate.open();
  });
});

describe('beside the other generation', () => {
  it('[TASKX-042] tasks of the core’s generation are still got and cancelled, without the declaration too', async () => {
    const { server, gate } = createTaskServer();
    const { taskId } = await (await RawPeer.open(server)).start('wait');
    const failed = await (await RawPeer.open(server)).start('fails');
    const peer = await RawPeer.open(server, { ...modern, capabilities: {} });
    expect(await peer.call('tasks/get', { taskId })).toMatchObject({ taskId, status: 'working' });
    expect(await peer.until(failed.taskId, ended)).toMatchObject({ status: 'completed', result: { isError: true } });
    await peer.call('tasks/cancel', { taskId });
    expect((await peer.call('tasks/get', { taskId })).status).toBe('cancelled');
    gate.open();
  });

  it('[TASKX-035] nothing but tasks uses the names that are theirs', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, modern);
    for (const method of ['tasks/other', 'tasks/', 'tasks/result']) expect(await peer.refusal(method)).toBe(-32601);
    const results = [await peer.call('server/discover'), await peer.call('tools/list'), await peer.call('tools/call', { name: 'plain' })];
    for (const { resultType } of results) expect(resultType).not.toBe('task');
  });
});
