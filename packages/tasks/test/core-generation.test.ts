import { describe, expect, it } from 'vitest';
import { McpServer } from '@mortise/server';
import { MemoryTaskStore } from '@mortise/tasks';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { CORE, MODERN, RawPeer, RELATED, turn } from './support/raw-peer.ts';
import { createTaskServer } from './support/task-server.ts';

const text = (result: { content: { text: string }[] }): string | undefined => result.content[0]?.text;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('what is declared', () => {
  it('[TASK25-001][TASK25-002] declares tasks with empty objects at initialization', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server);
    expect(peer.received[0]?.result.capabilities.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
    expect(peer.received[0]?.result.capabilities.extensions).toBeUndefined();
  });

  it('[TASK25-038] neither declares nor serves tasks.list where callers cannot be told apart, and gives ids of 128 random bits or more', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, { principal: 'anonymous' });
    expect(peer.received[0]?.result.capabilities.tasks).toEqual({ cancel: {}, requests: { tools: { call: {} } } });
    expect(await peer.refusal('tasks/list')).toBe(-32601);
    const ids = new Set<string>();
    for (let i = 0; i < 50; i++) ids.add((await peer.start('quick')).taskId as string);
    expect(ids.size).toBe(50);
    // 6 bits a character.
    for (const id of ids) expect(id).toMatch(/^[\w-]{22,}$/);
  });

  it('shows tools what they support, in this revision alone', async () => {
    const { server } = createTaskServer();
    const tools = async (version: string) => (await (await RawPeer.open(server, { version })).call('tools/list')).tools;
    const named = (list: { name: string; execution?: unknown }[], name: string) => list.find((tool) => tool.name === name)?.execution;
    expect(named(await tools(CORE), 'required')).toEqual({ taskSupport: 'required' });
    expect(named(await tools(CORE), 'plain')).toBeUndefined();
    expect(named(await tools(MODERN), 'required')).toBeUndefined();
    expect(named(await tools('2025-06-18'), 'required')).toBeUndefined();
  });

  it('has no tasks in older revisions', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, { version: '2025-06-18' });
    expect(peer.received[0]?.result.capabilities.tasks).toBeUndefined();
    expect(await peer.refusal('tasks/get', { taskId: 'x' })).toBe(-32601);
    expect(text(await peer.call('tools/call', { name: 'quick', task: {} }))).toBe('quick false');
    expect(await peer.refusal('tools/call', { name: 'required' })).toBe(-32601);
  });
});

describe('a call', () => {
  it('[TASK25-006][TASK25-012][TASK25-014] with task {} is answered at once by a task that works, nested in the result', async () => {
    const { server, gate } = createTaskServer();
    const peer = await RawPeer.open(server);
    const result = await peer.call('tools/call', { name: 'wait', task: {} });
    expect(Object.keys(result)).toEqual(['task']);
    expect(result.task).toMatchObject({ status: 'working', taskId: expect.any(String) });
    gate.open();
  });

  it('[TASK25-008] of a tool that does not run as a task is refused with -32601 when it asks for one', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server);
    expect(await peer.refusal('tools/call', { name: 'plain', task: {} })).toBe(-32601);
    expect(await peer.refusal('tools/call', { name: 'forbidden', task: {} })).toBe(-32601);
    expect(text(await peer.call('tools/call', { name: 'quick' }))).toBe('quick false');
    expect(await peer.start('quick')).toMatchObject({ status: expect.any(String) });
  });

  it('[TOOL-016] is judged by what its tool says: forbidden where it says nothing, optional, or required', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server);
    const takes = async (name: string): Promise<[boolean, boolean]> => [
      (await peer.request('tools/call', { name })).error === undefined,
      (await peer.request('tools/call', { name, task: {} })).error === undefined,
    ];
    expect(await takes('plain')).toEqual([true, false]);
    expect(await takes('forbidden')).toEqual([true, false]);
    expect(await takes('quick')).toEqual([true, true]);
    expect(await takes('required')).toEqual([false, true]);
  });

  it('[CANCEL-005] that became a task is cancelled by tasks/cancel alone, not by notifications/cancelled', async () => {
    const { server, gate, aborts } = createTaskServer();
    const peer = await RawPeer.open(server);
    const { result } = await peer.request('tools/call', { name: 'wait', task: {} }, 'the call');
    peer.notify('notifications/cancelled', { requestId: 'the call' });
    await turn();
    expect((await peer.call('tasks/get', { taskId: result.task.taskId })).status).toBe('working');
    expect(aborts).toEqual([]);
    expect((await peer.call('tasks/cancel', { taskId: result.task.taskId })).status).toBe('cancelled');
    gate.open();
  });

  it('[TASK25-009][TASK25-011] of a tool that runs as a task only is refused with -32601 when it does not ask for one', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server);
    expect(await peer.refusal('tools/call', { name: 'required' })).toBe(-32601);
    const { taskId } = await peer.start('required');
    expect(text(await peer.call('tasks/result', { taskId }))).toBe('required');
  });

  it('[TASK25-010] is an ordinary one where the server has no tasks, whatever its task says', async () => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('t', {}, () => 'done');
    const peer = await RawPeer.open(server);
    expect(peer.received[0]?.result.capabilities.tasks).toBeUndefined();
    expect(text(await peer.call('tools/call', { name: 't', task: { ttl: 5 } }))).toBe('done');
  });

  it('[TASK25-040] is answered with what the host may tell its model meanwhile', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server);
    const result = await peer.call('tools/call', { name: 'quick', task: {} });
    expect(result._meta).toEqual({ 'io.modelcontextprotocol/model-immediate-response': 'It has begun' });
  });

  it.each([[null], [5], [{ ttl: 'long' }], [{ ttl: -1 }]])('with task %j is refused with -32602', async (task) => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server);
    expect(await peer.refusal('tools/call', { name: 'quick', task })).toBe(-32602);
  });
});

describe('a task', () => {
  it('[TASK25-013][TASK25-016][TASK25-019] is told flat, with a string as its id and moments in ISO 8601', async () => {
    const { server, gate } = createTaskServer();
    const peer = await RawPeer.open(server);
    const { taskId } = await peer.start('wait');
    const other = await peer.start('wait');
    expect(typeof taskId).toBe('string');
    expect(other.taskId).not.toBe(taskId);
    const told = await peer.call('tasks/get', { taskId });
    expect(told).toMatchObject({
      taskId,
      status: 'working',
      createdAt: expect.stringMatching(ISO),
      lastUpdatedAt: expect.stringMatching(ISO),
    });
    expect(await peer.call('tasks/cancel', { taskId })).toMatchObject({
      taskId,
      status: 'cancelled',
      createdAt: expect.stringMatching(ISO),
    });
    gate.open();
  });

  it('[TASK25-017] has the time that its caller wishes, cut to the maximum, and is gone after it', async () => {
    const clock = new FakeClock();
    const { server, gate } = createTaskServer({ maxTtlMs: 5_000, clock, pollIntervalMs: 1 });
    const peer = await RawPeer.open(server);
    expect((await peer.start('wait', {}, { ttl: 60_000 })).ttl).toBe(5_000);
    const { taskId, ttl } = await peer.start('wait', {}, { ttl: 700 });
    expect(ttl).toBe(700);
    const codes: unknown[] = [];
    void peer.refusal('tasks/result', { taskId }).then((code) => codes.push(code));
    await turn();
    expect(codes).toEqual([]);
    clock.advance(701);
    // The store is looked at again now and then.
    for (; codes.length === 0; clock.advance(1)) await turn();
    expect(codes).toEqual([-32602]);
    expect(await peer.refusal('tasks/get', { taskId })).toBe(-32602);
    gate.open();
  });

  it('[TASK25-015][TASK25-033] that was cancelled stays so, though its work goes on, and its work is told to stop', async () => {
    const { server, gate, aborts } = createTaskServer();
    const peer = await RawPeer.open(server);
    const { taskId } = await peer.start('wait');
    await turn();
    expect((await peer.call('tasks/cancel', { taskId })).status).toBe('cancelled');
    expect(aborts).toMatchObject([{ code: 'ERR_TASK_CANCELLED' }]);
    gate.open();
    await turn();
    expect((await peer.call('tasks/get', { taskId })).status).toBe('cancelled');
  });

  it('[TASK25-032] that has ended is not cancelled: -32602', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server);
    const { taskId } = await peer.start('quick');
    await peer.call('tasks/result', { taskId });
    expect(await peer.refusal('tasks/cancel', { taskId })).toBe(-32602);
  });

  it('[TASK25-020][TASK25-021][TASK25-022] gives what the call would have given, once it has ended, and says whose it is', async () => {
    const { server, gate } = createTaskServer();
    const peer = await RawPeer.open(server);
    const { taskId } = await peer.start('wait');
    let isAnswered = false;
    const result = peer.call('tasks/result', { taskId }).finally(() => (isAnswered = true));
    await turn();
    expect(isAnswered).toBe(false);
    gate.open();
    expect(await result).toEqual({ content: [{ type: 'text', text: 'waited' }], _meta: { [RELATED]: { taskId } } });
    const broken = await peer.start('breaks');
    expect((await peer.request('tasks/result', { taskId: broken.taskId })).error).toEqual({
      code: 77,
      message: 'It broke',
      data: { why: 'because' },
    });
  });

  it('[TASK25-036] fails on a JSON-RPC error and on a result that says that the tool failed, and says why', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server);
    for (const [name, why] of [
      ['fails', 'It did not work'],
      ['breaks', 'It broke'],
    ] as const) {
      const { taskId } = await peer.start(name);
      expect(await peer.until(taskId, ({ status }) => status !== 'working')).toMatchObject({ status: 'failed', statusMessage: why });
    }
    const { taskId } = await peer.start('fails');
    expect(await peer.call('tasks/result', { taskId })).toMatchObject({ isError: true, content: [{ text: 'It did not work' }] });
  });

  it('answers those who wait for a cancelled task with -32603 and its state', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server);
    const { taskId } = await peer.start('wait');
    const waiting = peer.request('tasks/result', { taskId });
    await turn();
    await peer.call('tasks/cancel', { taskId });
    expect((await waiting).error).toMatchObject({ code: -32603, data: { taskId, status: 'cancelled' } });
    expect((await peer.request('tasks/result', { taskId })).error).toMatchObject({ code: -32603, data: { taskId, status: 'cancelled' } });
  });
});

describe('messages about a task', () => {
  it('[TASK25-023][TASK25-026] ask the user with the task that they belong to, while it needs input', async () => {
    const { server } = createTaskServer();
    const asked: unknown[] = [];
    const peer = await RawPeer.open(server, {
      onRequest: (message) => {
        asked.push(message);
        return { action: 'accept', content: { name: 'Ann' } };
      },
    });
    const { taskId } = await peer.start('asks');
    expect((await peer.until(taskId, ({ status }) => status !== 'working')).status).toBe('input_required');
    expect(asked).toEqual([]);
    expect(text(await peer.call('tasks/result', { taskId }))).toBe('accept Ann');
    expect(asked).toMatchObject([{ method: 'elicitation/create', params: { message: 'Who?', _meta: { [RELATED]: { taskId } } } }]);
    const states = peer.of('notifications/tasks/status').map(({ params }) => params.status);
    expect(states).toEqual(['input_required', 'working', 'completed']);
  });

  it('ask again through the next one who waits, where the first one left', async () => {
    const { server } = createTaskServer();
    let answers = 0;
    const peer = await RawPeer.open(server, {
      onRequest: () => (answers++ === 0 ? undefined : { action: 'accept', content: { name: 'Bob' } }),
    });
    const { taskId } = await peer.start('asks');
    void peer.request('tasks/result', { taskId }, 'first');
    await peer.nextOf('elicitation/create');
    peer.notify('notifications/cancelled', { requestId: 'first' });
    await peer.nextOf('notifications/cancelled');
    expect((await peer.call('tasks/get', { taskId })).status).toBe('input_required');
    expect(text(await peer.call('tasks/result', { taskId }))).toBe('accept Bob');
  });

  it('ask another one who waits already, when the one who was asked leaves', async () => {
    const { server } = createTaskServer();
    let answers = 0;
    const peer = await RawPeer.open(server, {
      onRequest: () => (answers++ === 0 ? undefined : { action: 'accept', content: { name: 'Cid' } }),
    });
    const { taskId } = await peer.start('asks');
    void peer.request('tasks/result', { taskId }, 'first');
    await peer.nextOf('elicitation/create');
    const second = peer.call('tasks/result', { taskId });
    await peer.call('tasks/get', { taskId });
    peer.notify('notifications/cancelled', { requestId: 'first' });
    expect(text(await second)).toBe('accept Cid');
  });

  it('tell a handler that the user’s client refused', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, { onRequest: () => ({ error: { code: -32601, message: 'no' } }) });
    const { taskId } = await peer.start('asks');
    expect((await peer.call('tasks/result', { taskId })).isError).toBe(true);
  });

  it('[TASK25-024] do not name it where it stands in the message already', async () => {
    const { server, gate } = createTaskServer();
    const peer = await RawPeer.open(server);
    const { taskId } = await peer.start('wait');
    for (const result of [
      await peer.call('tasks/get', { taskId }),
      await peer.call('tasks/list'),
      await peer.call('tasks/cancel', { taskId }),
    ])
      expect(result._meta?.[RELATED]).toBeUndefined();
    expect((await peer.nextOf('notifications/tasks/status')).params._meta).toBeUndefined();
    gate.open();
  });

  it('[TASK25-025] are about the id in params, whatever the metadata says', async () => {
    const { server, gate } = createTaskServer();
    const peer = await RawPeer.open(server);
    const one = await peer.start('wait');
    const other = await peer.start('quick');
    const told = await peer.call('tasks/get', { taskId: one.taskId, _meta: { [RELATED]: { taskId: other.taskId } } });
    expect(told.taskId).toBe(one.taskId);
    gate.open();
  });

  it('[TASK25-029] tell each change of state with the whole task', async () => {
    const { server, gate } = createTaskServer();
    const peer = await RawPeer.open(server);
    const { taskId } = await peer.start('wait');
    gate.open();
    const { params } = await peer.nextOf('notifications/tasks/status');
    expect(params).toEqual({ ...(await peer.call('tasks/get', { taskId })) });
    expect(params).toMatchObject({ taskId, status: 'completed', ttl: expect.any(Number), pollInterval: expect.any(Number) });
  });

  it('[TASK25-030] carry progress under the token of the call, after it was answered and until the task ends', async () => {
    const { server, gate } = createTaskServer();
    const peer = await RawPeer.open(server);
    const { task } = await peer.call('tools/call', { name: 'reports', task: {}, _meta: { progressToken: 'p1' } });
    const first = await peer.nextOf('notifications/progress');
    expect(first.params).toEqual({
      progressToken: 'p1',
      progress: 1,
      total: 2,
      message: 'half',
      _meta: { [RELATED]: { taskId: task.taskId } },
    });
    expect((await peer.until(task.taskId, ({ statusMessage }) => statusMessage !== undefined)).statusMessage).toBe('Half of it');
    gate.open();
    await peer.call('tasks/result', { taskId: task.taskId });
    const order = peer.received.map(({ method, params }) => (method === 'notifications/progress' ? params.progress : params?.status));
    expect(order.indexOf(2)).toBeGreaterThan(0);
    expect(order.indexOf(2)).toBeLessThan(order.indexOf('completed'));
    expect(peer.of('notifications/progress')).toHaveLength(2);
  });
});

describe('a list', () => {
  it('[TASK25-031] holds every task of the caller, a page at a time', async () => {
    const { server, gate } = createTaskServer({ maxTasksPerPrincipal: 150 });
    const peer = await RawPeer.open(server);
    const started: string[] = [];
    for (let i = 0; i < 101; i++) started.push((await peer.start('wait')).taskId as string);
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await peer.call('tasks/list', cursor === undefined ? {} : { cursor });
      expect(page.tasks.length).toBeLessThanOrEqual(100);
      listed.push(...page.tasks.map(({ taskId }: { taskId: string }) => taskId));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(listed.toSorted()).toEqual(started.toSorted());
    gate.open();
  });

  it('[TASK25-035] refuses what is no id and no cursor with -32602, and tells a fault of the store as -32603', async () => {
    const store = new MemoryTaskStore();
    const { server } = createTaskServer({ store });
    const peer = await RawPeer.open(server);
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) expect(await peer.refusal(method, { taskId: 'none' })).toBe(-32602);
    expect(await peer.refusal('tasks/list', { cursor: 'made up' })).toBe(-32602);
    store.get = () => Promise.reject(new Error('the disk is full'));
    const { error } = await peer.request('tasks/get', { taskId: 'any' });
    expect(error?.code).toBe(-32603);
    expect(error?.message).not.toContain('disk');
  });
});

describe('another principal', () => {
  it('[TASK25-037] can neither see, wait for, list nor cancel a task', async () => {
    const { server, gate } = createTaskServer();
    const [ann, eve] = [await RawPeer.open(server, { principal: 'ann' }), await RawPeer.open(server, { principal: 'eve' })];
    const { taskId } = await ann.start('wait');
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) expect(await eve.refusal(method, { taskId })).toBe(-32602);
    expect((await eve.call('tasks/list')).tasks).toEqual([]);
    expect((await ann.call('tasks/list')).tasks).toMatchObject([{ taskId, status: 'working' }]);
    const unknown = await eve.request('tasks/get', { taskId: 'unknown' });
    expect((await eve.request('tasks/get', { taskId })).error).toEqual(unknown.error);
    gate.open();
  });
});

describe('limits', () => {
  it('[TASK25-039] bound the tasks of one caller, the time that they are kept, and polls; and are counted', async () => {
    const counted: string[] = [];
    const logged: string[] = [];
    const { server, gate } = createTaskServer({
      maxTasksPerPrincipal: 2,
      clock: new FakeClock(),
      maxPollsPerSecond: 1,
      meter: { count: (name) => void counted.push(name), record: () => undefined },
      logger: { log: (_level, message, data) => void logged.push(`${message} ${JSON.stringify(data)}`) },
    });
    const [ann, bob] = [await RawPeer.open(server, { principal: 'ann' }), await RawPeer.open(server, { principal: 'bob' })];
    const { taskId } = await ann.start('wait');
    await ann.start('wait');
    expect(await ann.refusal('tools/call', { name: 'wait', task: {} })).toBe(429);
    await bob.start('wait');
    for (let i = 0; i < 3; i++) await ann.call('tasks/get', { taskId });
    const refused = await ann.request('tasks/get', { taskId });
    expect(refused.error).toMatchObject({ code: 429, data: { retryAfterMs: expect.any(Number) } });
    expect(await bob.refusal('tasks/get', { taskId })).toBe(-32602);
    for (const name of ['created', 'refused', 'refused_polls', 'failed_lookups']) expect(counted).toContain(`mcp.tasks.${name}`);
    for (const word of ['created', 'does not exist', 'too many']) expect(logged.join('\n')).toContain(word);
    // Whoever reads the log cannot use the task.
    expect(logged.join('\n')).not.toContain(taskId);
    gate.open();
  });

  it('bound no polls where they have no end, also within one moment', async () => {
    const { server, gate } = createTaskServer({ clock: new FakeClock(), maxPollsPerSecond: Infinity });
    const peer = await RawPeer.open(server);
    const { taskId } = await peer.start('wait');
    for (let i = 0; i < 5; i++) expect(await peer.call('tasks/get', { taskId })).toMatchObject({ status: 'working' });
    gate.open();
  });
});

describe('an answer of the client that breaks the rules', () => {
  it('ends the question as it does in a plain call: the task does not wait for good', async () => {
    const { server } = createTaskServer();
    const peer = await RawPeer.open(server, { onRequest: () => ({ action: 'banana' }) });
    const { taskId } = await peer.start('asks');
    const { isError, content } = await peer.call('tasks/result', { taskId });
    expect([isError, content[0].text]).toEqual([true, expect.stringContaining('result.action must be one of')]);
  });
});
