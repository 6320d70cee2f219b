/** What a client of the extension sends, and what it makes of what it gets. */

import { McpClient } from '@mortise/client';
import { connectInMemory } from '@mortise/client/in-memory';
import { McpServer } from '@mortise/server';
import { MemoryTaskHandleStore, taskClient, type TaskClientOptions } from '@mortise/tasks/client';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { discovery, EXTENSION, type Reply, type Script, ScriptedServer, settle } from './scripted-server.ts';

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

function task(status: string, more: object = {}): Record<string, unknown> {
  return {
    taskId: 'T1',
    status,
    createdAt: '2026-01-01T00:00:00.000Z',
    lastUpdatedAt: '2026-01-01T00:00:00.000Z',
    ttlMs: 60_000,
    pollIntervalMs: 500,
    ...more,
  };
}

const created = (more: object = {}): Reply => ({ resultType: 'task', ...task('working', more) }) as Reply;
const now = (status: string, more: object = {}): Reply => ({ resultType: 'complete', ...task(status, more) }) as Reply;
const result = { content: [{ type: 'text', text: 'done' }] };
const form = (message: string): object => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties: { colour: { type: 'string' } } } },
});

type Elicit = (params: { readonly message: string }) => unknown;

async function connect(script: Script, { elicitation, ...options }: TaskClientOptions & { readonly elicitation?: Elicit } = {}) {
  const clock = new FakeClock();
  const tasks = taskClient({ clock, ...options });
  const server = new ScriptedServer({ 'server/discover': () => discovery, ...script });
  const given = elicitation && { elicitation: elicitation as never };
  const client = await McpClient.connect(server.transport, { name: 'c', version: '1' }, { era: 'modern', extensions: [tasks], ...given });
  onTestFinished(() => client.close());
  return { client, tasks, server, clock };
}

const MAX_POLLS = 200;

/** Lets time pass poll by poll until something holds, and says what does not hold in time. */
async function pass(clock: FakeClock, isOver: () => boolean): Promise<void> {
  for (let turn = 0; !isOver(); turn++) {
    if (turn === MAX_POLLS) expect.fail(`after ${MAX_POLLS} polls it is not so that ${isOver.toString()}`);
    clock.advance(500);
    await settle();
  }
}

// What a client loads when it is first asked something would take more turns than any bound.
beforeAll(async () => {
  const server = new McpServer({ name: 's', version: '1' });
  server.registerTool('ask', {}, async (ctx) => {
    const { action } = await ctx.elicit({ message: 'Who?', requestedSchema: { type: 'object', properties: {} } });
    return action;
  });
  const client = await connectInMemory(server, { era: 'modern', elicitation: () => ({ action: 'accept', content: {} }) });
  expect((await client.callTool('ask')).content).toMatchObject([{ text: 'accept' }]);
  await client.close();
});

it.each([
  ['asks again where the server is overloaded', 429, 2],
  ['gives up where the server refuses', -32000, 1],
])('%s', async (_what, code, polls) => {
  const replies: Reply[] = [{ error: { code, message: 'not now' } }];
  const { client, server, clock } = await connect({
    'tools/call': () => created(),
    'tasks/get': () => replies.shift() ?? now('completed', { result }),
  });
  let outcome: unknown;
  void client.callTool('slow').then(
    (value) => (outcome = value),
    (error: unknown) => (outcome = error),
  );
  await clock.untilScheduled();
  await pass(clock, () => outcome !== undefined);
  expect(outcome).toMatchObject(code === 429 ? result : { code: 'ERR_REMOTE', rpcCode: code });
  expect(server.sent('tasks/get')).toHaveLength(polls);
});

it('[TASKX-001] declares the extension on the call and on every request about its task', async () => {
  const { client, server, clock } = await connect({ 'tools/call': () => created(), 'tasks/get': () => now('completed', { result }) });
  const call = client.callTool('slow');
  await clock.untilScheduled();
  clock.advance(500);
  await call;
  for (const method of ['tools/call', 'tasks/get']) {
    const [params] = server.sent(method);
    expect(params?._meta[CAPABILITIES]).toHaveProperty('extensions', { [EXTENSION]: {} });
  }
});

it('[TASKX-005] takes a task that answers anything but the call of a tool for an invalid response', async () => {
  const { client, server } = await connect({ 'resources/read': () => created() });
  await expect(client.readResource('file:///a')).rejects.toMatchObject({ code: 'ERR_INVALID_RESPONSE' });
  expect(server.sent('tasks/get')).toEqual([]);
});

it('[TASKX-015] asks at the interval that the server tells, as it changes', async () => {
  const intervals = [2000, 500];
  const { client, server, clock } = await connect({
    'tools/call': () => created(),
    'tasks/get': () => (intervals.length > 0 ? now('working', { pollIntervalMs: intervals.shift() }) : now('completed', { result })),
  });
  const call = client.callTool('slow');
  await clock.untilScheduled();
  for (const [index, intervalMs] of [500, 2000, 500].entries()) {
    clock.advance(intervalMs - 1);
    await settle();
    expect(server.sent('tasks/get')).toHaveLength(index);
    clock.advance(1);
    await server.untilSent('tasks/get', index + 1);
    await settle();
  }
  expect(await call).toMatchObject(result);
});

it('[TASKX-016] has kept the id of a task before it asks for it, and forgets it with its result', async () => {
  const store = new MemoryTaskHandleStore();
  const kept: unknown[] = [];
  const { client, clock } = await connect(
    {
      'tools/call': () => created(),
      'tasks/get': async () => (kept.push(...(await store.list('https://here/mcp'))), now('completed', { result })),
    },
    { handles: { store, server: 'https://here/mcp' } },
  );
  const call = client.callTool('slow');
  await clock.untilScheduled();
  clock.advance(500);
  await call;
  expect(kept).toEqual([{ server: 'https://here/mcp', taskId: 'T1', method: 'tools/call', createdAtMs: clock.now() - 500 }]);
  expect(await store.list('https://here/mcp')).toEqual([]);
});

it.each([{ content: [null] }, { content: [{ type: 'text', text: 5 }] }, { content: [], isError: 'x' }])(
  '[ROBUSTNESS-19] takes %j for no result of a tool',
  async (malformed) => {
    const { client, clock } = await connect({ 'tools/call': () => created(), 'tasks/get': () => now('completed', { result: malformed }) });
    const call = expect(client.callTool('slow')).rejects.toMatchObject({ code: 'ERR_INVALID_RESPONSE' });
    await clock.untilScheduled();
    clock.advance(500);
    await call;
  },
);

it('[TASKX-018][TASKX-020] answers each question by tasks/update, once, however often it is shown, and goes on asking', async () => {
  const asked: string[] = [];
  const answered = new Map<string, unknown>();
  let polls = 0;
  const inputRequests = { a: form('A?'), b: form('B?') };
  const { client, server, clock } = await connect(
    {
      'tools/call': () => created(),
      // The state that is visible lags behind the answers.
      'tasks/get': () => (answered.size === 2 && ++polls > 3 ? now('completed', { result }) : now('input_required', { inputRequests })),
      'tasks/update': ({ inputResponses }) => {
        for (const [key, answer] of Object.entries(inputResponses as object)) answered.set(key, answer);
        return { resultType: 'complete' };
      },
    },
    { elicitation: ({ message }) => (asked.push(message), { action: 'accept', content: { colour: message } }) },
  );
  let isOver = false;
  const call = client.callTool('slow').finally(() => {
    isOver = true;
  });
  await pass(clock, () => isOver);
  expect(await call).toMatchObject(result);
  expect(asked.toSorted()).toEqual(['A?', 'B?']);
  expect(Object.fromEntries(answered)).toEqual({
    a: { action: 'accept', content: { colour: 'A?' } },
    b: { action: 'accept', content: { colour: 'B?' } },
  });
  expect(server.sent('tasks/update')).toHaveLength(2);
});

it('[TASKX-022] sends no answer to a question that is no longer outstanding', async () => {
  let answer: (value: unknown) => void = () => undefined;
  let isWithdrawn = false;
  let aborted: unknown;
  let isDone = false;
  const { client, server, clock } = await connect(
    {
      'tools/call': () => created(),
      'tasks/get': () => {
        if (isDone) return now('completed', { result });
        return isWithdrawn ? now('working') : now('input_required', { inputRequests: { a: form('A?') } });
      },
      'tasks/update': () => ({ resultType: 'complete' }),
    },
    {
      elicitation: ((_: unknown, { signal }: { signal: AbortSignal }) => {
        signal.addEventListener('abort', () => (aborted = signal.reason));
        return new Promise((resolve) => (answer = resolve));
      }) as Elicit,
    },
  );
  let isOver = false;
  const call = client.callTool('slow').finally(() => {
    isOver = true;
  });
  await pass(clock, () => server.sent('tasks/get').length > 1);
  isWithdrawn = true;
  await pass(clock, () => aborted !== undefined);
  answer({ action: 'accept', content: { colour: 'late' } });
  isDone = true;
  await pass(clock, () => isOver);
  expect(await call).toMatchObject(result);
  expect(server.sent('tasks/update')).toEqual([]);
});

it('[TASKX-019] treats what a task asks as it treats what a server asks without one', async () => {
  const questions = {
    unanswerable: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
    'of no handler': {
      method: 'elicitation/create',
      params: { mode: 'url', message: 'Look', url: 'http://127.0.0.1/', elicitationId: '1' },
    },
    'not for servers': { method: 'tasks/list', params: {} },
    'no request': 'x',
  };
  for (const question of Object.values(questions)) {
    const { client, server, clock } = await connect(
      {
        'tools/call': () => created({ pollIntervalMs: 1 }),
        'tasks/get': () => now('input_required', { inputRequests: { a: question } }),
        'tasks/cancel': () => ({ resultType: 'complete' }),
      },
      { elicitation: () => ({ action: 'accept', content: {} }) },
    );
    let isOver = false;
    const call = client.callTool('slow').finally(() => {
      isOver = true;
    });
    call.catch(() => undefined);
    await pass(clock, () => isOver);
    await expect(call).rejects.toMatchObject({ code: 'ERR_TASK_INPUT' });
    expect(server.sent('tasks/update')).toEqual([]);
    expect(server.sent('tasks/cancel')).toHaveLength(1);
  }
});

it('[TASKX-043] keeps the keys of a call and the keys of its task apart', async () => {
  const asked: string[] = [];
  let calls = 0;
  let isAnswered = false;
  const { client, clock } = await connect(
    {
      'tools/call': () => (++calls === 1 ? { resultType: 'input_required', inputRequests: { a: form('before') } as never } : created()),
      'tasks/get': () => (isAnswered ? now('completed', { result }) : now('input_required', { inputRequests: { a: form('within') } })),
      'tasks/update': () => ((isAnswered = true), { resultType: 'complete' }),
    },
    { elicitation: ({ message }) => (asked.push(message), { action: 'accept', content: {} }) },
  );
  let isOver = false;
  const call = client.callTool('slow').finally(() => {
    isOver = true;
  });
  await pass(clock, () => isOver);
  await call;
  expect(asked).toEqual(['before', 'within']);
});

it('ends with what a notification tells, without asking', async () => {
  const { client, server, clock } = await connect({
    'tools/call': () => created({ pollIntervalMs: 500 }),
    'tasks/get': () => now('working', { pollIntervalMs: 500 }),
    'subscriptions/listen': () => undefined,
  });
  const call = client.callTool('slow');
  await clock.untilScheduled();
  clock.advance(500);
  const { notifications, _meta } = await server.untilSent('subscriptions/listen');
  expect(notifications).toEqual({ taskIds: ['T1'] });
  expect(_meta[CAPABILITIES]).toHaveProperty('extensions', { [EXTENSION]: {} });
  const tagged = { _meta: { [SUBSCRIPTION]: server.lastId } };
  await server.notify('notifications/subscriptions/acknowledged', { notifications: { taskIds: ['T1'] }, ...tagged } as never);
  await settle();
  const polls = server.sent('tasks/get').length;
  await server.notify('notifications/tasks', {
    ...task('completed', { result, lastUpdatedAt: '2026-01-01T00:00:01.000Z' }),
    ...tagged,
  } as never);
  expect(await call).toMatchObject(result);
  expect(server.sent('tasks/get')).toHaveLength(polls);
});

it('reports an old -32003 that names capabilities as a missing capability', async () => {
  const data = { requiredCapabilities: { extensions: { [EXTENSION]: {} } } };
  const { client } = await connect({ 'tools/call': () => ({ error: { code: -32003, message: 'Missing', data } }) });
  await expect(client.callTool('slow')).rejects.toMatchObject({ code: 'ERR_MISSING_CAPABILITY', missing: [EXTENSION] });
});

it('passes on how a task failed, and refuses what is no task', async () => {
  const script = (reply: Reply): Script => ({ 'tools/call': () => created({ pollIntervalMs: 1 }), 'tasks/get': () => reply });
  const outcomes = [
    [
      now('failed', { error: { code: -32050, message: 'broken', data: { a: 1 } } }),
      { code: 'ERR_REMOTE', rpcCode: -32050, data: { a: 1 } },
    ],
    [now('cancelled', { statusMessage: 'by the operator' }), { code: 'ERR_TASK_CANCELLED', message: 'by the operator' }],
    [now('completed'), { code: 'ERR_INVALID_RESPONSE' }],
    [now('finished'), { code: 'ERR_INVALID_RESPONSE' }],
    [now('working', { taskId: 'T2' }), { code: 'ERR_INVALID_RESPONSE' }],
    [{ error: { code: -32602, message: 'gone' } }, { code: 'ERR_TASK_NOT_FOUND' }],
  ] as const;
  for (const [reply, expected] of outcomes) {
    const { client, clock } = await connect(script(reply));
    let isOver = false;
    const call = client.callTool('slow').finally(() => {
      isOver = true;
    });
    call.catch(() => undefined);
    await pass(clock, () => isOver);
    await expect(call).rejects.toMatchObject(expected);
  }
});

it('lets go of a task when its client is closed, however long the pause', async () => {
  const { client, clock, server } = await connect({
    'tools/call': () => created(),
    'tasks/get': () => now('working'),
    'subscriptions/listen': () => undefined,
  });
  const call = client.callTool('slow');
  call.catch(() => undefined);
  await clock.untilScheduled();
  clock.advance(500);
  await server.untilSent('subscriptions/listen');
  await server.notify('notifications/subscriptions/acknowledged', {
    notifications: { taskIds: ['T1'] },
    _meta: { [SUBSCRIPTION]: server.lastId },
  });
  await settle();
  await client.close();
  await expect(call).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
});

it('[ROBUSTNESS-10] does not ask without a pause, though the server names none', async () => {
  const { client, server, clock } = await connect({
    'tools/call': () => created({ pollIntervalMs: 0 }),
    'tasks/get': () => now('working', { pollIntervalMs: 0 }),
  });
  const call = client.callTool('slow');
  call.catch(() => undefined);
  for (let passed = 0; passed < 500; passed += 10) {
    clock.advance(10);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(server.sent('tasks/get').length).toBeGreaterThan(0);
  expect(server.sent('tasks/get').length).toBeLessThanOrEqual(10);
});
