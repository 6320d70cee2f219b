/** What a client of the core's first generation sends, and what it makes of what it gets; and what it does as the receiver of tasks. */

import { McpClient } from '@mortise/client';
import type { Progress } from '@mortise/protocol/model';
import { taskClient, type TaskClientOptions, type TaskHandle } from '@mortise/tasks/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { CORE, initialized, RELATED, type Reply, type Script, ScriptedServer, settle } from './scripted-server.ts';

const IMMEDIATE = 'io.modelcontextprotocol/model-immediate-response';
const result = { content: [{ type: 'text', text: 'done' }] };
const tools = [
  { name: 'must', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } },
  { name: 'may', inputSchema: { type: 'object' }, execution: { taskSupport: 'optional' } },
  { name: 'plain', inputSchema: { type: 'object' } },
];

function task(status: string, more: object = {}): Record<string, unknown> {
  return {
    taskId: 'T1',
    status,
    createdAt: '2026-01-01T00:00:00.000Z',
    lastUpdatedAt: '2026-01-01T00:00:00.000Z',
    ttl: 60_000,
    pollInterval: 500,
    ...more,
  };
}

const now = (status: string, more: object = {}): Reply => task(status, more) as Reply;
const callOf = (params: { task?: unknown }): Reply =>
  params.task === undefined ? (result as Reply) : ({ task: task('working') } as Reply);

interface Answers {
  readonly elicitation?: (params: { readonly message: string }) => unknown;
  readonly sampling?: () => unknown;
}

async function connect(script: Script, answers: Answers = {}, options: TaskClientOptions = {}) {
  const clock = new FakeClock();
  const tasks = taskClient({ clock, ...options });
  const server = new ScriptedServer({
    initialize: () => initialized,
    'tools/list': () => ({ tools }) as never,
    'tools/call': callOf,
    ...script,
  });
  const client = await McpClient.connect(
    server.transport,
    { name: 'c', version: '1' },
    { protocolVersion: CORE, extensions: [tasks], ...(answers as object) },
  );
  onTestFinished(() => client.close());
  return { client, tasks, server, clock };
}

describe('as the requestor', () => {
  it('[TOOL-016] calls a tool as its list says: never, if it is wished, or always as a task', async () => {
    const odd = { name: 'odd', inputSchema: { type: 'object' }, execution: { taskSupport: 'sometimes' } };
    const never = { name: 'never', inputSchema: { type: 'object' }, execution: { taskSupport: 'forbidden' } };
    const { client, tasks, server, clock } = await connect({
      'tools/list': () => ({ tools: [...tools, odd, never] }) as never,
      'tasks/get': () => now('completed'),
      'tasks/result': () => result as Reply,
    });
    await client.listTools();
    const sentAsTask = (): boolean => server.sent('tools/call').at(-1)?.task !== undefined;
    const called: [string, boolean][] = [];
    for (const name of ['plain', 'never', 'odd', 'may', 'must']) {
      const call = client.callTool(name);
      if (name === 'must') {
        await clock.untilScheduled();
        clock.advance(500);
      }
      expect(await call).toMatchObject(result);
      called.push([name, sentAsTask()]);
    }
    expect(called).toEqual([
      ['plain', false],
      ['never', false],
      ['odd', false],
      ['may', false],
      ['must', true],
    ]);
    for (const name of ['plain', 'never', 'odd']) await expect(tasks.start(name)).rejects.toThrow(name);
    for (const name of ['may', 'must']) {
      await tasks.start(name);
      expect(server.sent('tools/call').at(-1)).toMatchObject({ name, task: {} });
    }
  });

  it('[TASK25-018][TASK25-027] asks at the interval that the server tells, and for the result as soon as input is required', async () => {
    const states = [now('working', { pollInterval: 2000 }), now('input_required')];
    let finish: (reply: Reply) => void = () => undefined;
    const { client, server, clock } = await connect({
      'tasks/get': () => states.shift() ?? now('input_required'),
      'tasks/result': () => new Promise((resolve) => (finish = resolve)),
    });
    await client.listTools();
    const call = client.callTool('must');
    await clock.untilScheduled();
    clock.advance(499);
    await settle();
    expect(server.sent('tasks/get')).toHaveLength(0);
    clock.advance(1);
    await server.untilSent('tasks/get', 1);
    await settle();
    clock.advance(1999);
    await settle();
    expect(server.sent('tasks/get')).toHaveLength(1);
    expect(server.sent('tasks/result')).toHaveLength(0);
    clock.advance(1);
    expect(await server.untilSent('tasks/result')).toMatchObject({ taskId: 'T1' });
    finish(result as Reply);
    expect(await call).toMatchObject(result);
    expect(server.sent('tasks/result')).toHaveLength(1);
  });

  it('[TASK25-007] never calls a tool as a task where the server takes no calls as tasks', async () => {
    for (const tasks of [undefined, { list: {}, cancel: {} }, { requests: { tools: {} } }]) {
      const capabilities = { tools: {}, ...(tasks && { tasks }) };
      const { client, server } = await connect({ initialize: () => ({ ...initialized, capabilities }) as never });
      await client.listTools();
      expect(await client.callTool('must')).toMatchObject(result);
      expect(server.sent('tools/call').map((params) => params.task)).toEqual([undefined]);
    }
  });

  it('finds out that a tool must be a task when its list was not read', async () => {
    const { client, server, clock } = await connect({
      'tools/call': (params) => (params.task ? callOf(params) : { error: { code: -32601, message: 'only as a task' } }),
      'tasks/get': () => now('completed'),
      'tasks/result': () => result as Reply,
    });
    const call = client.callTool('must');
    await clock.untilScheduled();
    clock.advance(500);
    expect(await call).toMatchObject(result);
    expect(server.sent('tools/list')).toHaveLength(1);
  });

  it('takes what the server tells by itself, and goes on asking', async () => {
    const { tasks, server, clock } = await connect({ 'tasks/get': () => now('working'), 'tasks/result': () => result as Reply });
    const handle = await tasks.start('may');
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { status, statusMessage } of handle.updates()) seen.push(`${status} ${statusMessage ?? ''}`.trim());
    })();
    await server.notify(
      'notifications/tasks/status',
      now('working', { statusMessage: 'half', lastUpdatedAt: '2026-01-01T00:00:01.000Z' }) as never,
    );
    await settle();
    clock.advance(500);
    await server.untilSent('tasks/get');
    await server.notify('notifications/tasks/status', now('completed', { lastUpdatedAt: '2026-01-01T00:00:02.000Z' }) as never);
    await reading;
    expect(seen).toEqual(['working', 'working half', 'completed']);
  });

  it.each([
    ['completed', result as Reply],
    ['failed', { error: { code: -32603, message: 'broken' } }],
  ])('tells the last state where the end was told by the result alone: %s', async (end, reply) => {
    let status = 'input_required';
    let finish: (reply: Reply) => void = () => undefined;
    const { tasks, server, clock } = await connect({
      'tasks/get': () => now(status),
      'tasks/result': () => new Promise((resolve) => (finish = resolve)),
    });
    const handle = await tasks.start('may');
    const seen: string[] = [];
    const reading = (async () => {
      for await (const state of handle.updates()) seen.push(state.status);
    })();
    await clock.untilScheduled();
    clock.advance(500);
    await server.untilSent('tasks/result');
    status = end;
    finish(reply);
    await reading;
    expect(seen).toEqual(['working', 'input_required', end]);
  });

  it('asks again for the result when the machine that held the wait has died', async () => {
    const waits: Reply[] = [{ error: { code: -32603, message: 'The machine that ran this call does not answer' } }, result as Reply];
    const { client, server, clock } = await connect({
      'tasks/get': () => now('input_required'),
      'tasks/result': () => waits.shift(),
    });
    await client.listTools();
    const call = client.callTool('must');
    for (let waited = 0; waited < 2; waited++) {
      await clock.untilScheduled();
      clock.advance(500);
      await server.untilSent('tasks/result', waited + 1);
    }
    expect(await call).toMatchObject(result);
  });

  it('is told progress for as long as the task lives', async () => {
    const { client, server, clock } = await connect({ 'tasks/get': () => now('completed'), 'tasks/result': () => result as Reply });
    await client.listTools();
    const told: Progress[] = [];
    const call = client.callTool('must', {}, { onProgress: (progress) => told.push(progress) });
    const { _meta } = await server.untilSent('tools/call');
    await clock.untilScheduled();
    await server.notify('notifications/progress', { progressToken: _meta.progressToken, progress: 1, total: 2 });
    await settle();
    clock.advance(500);
    await call;
    await server.notify('notifications/progress', { progressToken: _meta.progressToken, progress: 2, total: 2 });
    await settle();
    expect(told).toEqual([{ progress: 1, total: 2 }]);
  });

  it('gives what the server wants a model to be told meanwhile, where it says something', async () => {
    const told: unknown[] = [];
    for (const _meta of [{ [IMMEDIATE]: 'I am at it' }, undefined]) {
      const { tasks } = await connect({ 'tools/call': () => ({ task: task('working'), ...(_meta && { _meta }) }) as never });
      told.push((await tasks.start('must')).immediateResponse);
    }
    expect(told).toEqual(['I am at it', undefined]);
  });

  it('cancels by the id of the task, also where it was not known yet when the caller left', async () => {
    let create: (reply: Reply) => void = () => undefined;
    const { client, server } = await connect({
      'tools/call': () => new Promise((resolve) => (create = resolve)),
      'tasks/cancel': () => now('cancelled'),
    });
    await client.listTools();
    const controller = new AbortController();
    const call = client.callTool('must', {}, { signal: controller.signal });
    await server.untilSent('tools/call');
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    create({ task: task('working') } as never);
    expect(await server.untilSent('tasks/cancel')).toMatchObject({ taskId: 'T1' });
    expect(server.sent('notifications/cancelled')).toEqual([]);
  });

  it('keeps the result for whoever asks after the loop over its updates', async () => {
    const { tasks, clock } = await connect({ 'tasks/get': () => now('completed'), 'tasks/result': () => result as Reply });
    const handle: TaskHandle = await tasks.start('must');
    const reading = (async () => {
      for await (const { status } of handle.updates()) if (status === 'completed') return;
    })();
    await clock.untilScheduled();
    clock.advance(500);
    await reading;
    expect((await tasks.pending()).map(({ id }) => id)).toEqual(['T1']);
    expect(await handle.result()).toMatchObject(result);
    expect(await tasks.pending()).toEqual([]);
  });
});

describe('as the receiver', () => {
  const accept = { elicitation: () => ({ action: 'accept', content: { colour: 'red' } }) };
  const ask = { mode: 'form', message: 'Colour?', requestedSchema: { type: 'object', properties: { colour: { type: 'string' } } } };

  it('declares no extension: tasks are part of this revision', async () => {
    const { server } = await connect({});
    expect(server.sent('initialize')[0]?.['capabilities']).not.toHaveProperty('extensions');
  });

  it('[TASK25-003][TASK25-005] declares tasks for what it answers, and nothing without', async () => {
    const declared: unknown[] = [];
    const initialize: Script['initialize'] = ({ capabilities }) => (declared.push(capabilities.tasks), initialized);
    await connect({ initialize }, { ...accept, sampling: () => ({}) });
    await connect({ initialize }, accept);
    await connect({ initialize });
    expect(declared).toEqual([
      { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
      { list: {}, cancel: {}, requests: { elicitation: { create: {} } } },
      undefined,
    ]);
  });

  it('[TASK25-004] answers a question as a task, and comes back with the answer', async () => {
    let answer: ((value: unknown) => void) | undefined;
    const { server } = await connect({}, { elicitation: () => new Promise((resolve) => (answer = resolve)) });
    const created = await server.ask('elicitation/create', { ...ask, task: { ttl: 1000 } });
    expect(created.result).toEqual({
      task: {
        taskId: expect.any(String),
        status: 'working',
        createdAt: expect.any(String),
        lastUpdatedAt: expect.any(String),
        ttl: 1000,
        pollInterval: 1000,
      },
    });
    const { taskId } = created.result.task;
    expect(taskId.length).toBeGreaterThanOrEqual(22);
    expect((await server.ask('tasks/get', { taskId })).result).toMatchObject({ taskId, status: 'working' });
    const payload = server.ask('tasks/result', { taskId });
    await expect.poll(() => answer).toBeDefined();
    answer?.({ action: 'accept', content: { colour: 'red' } });
    expect((await payload).result).toEqual({ action: 'accept', content: { colour: 'red' }, _meta: { [RELATED]: { taskId } } });
    expect((await server.ask('tasks/get', { taskId })).result).toMatchObject({ status: 'completed' });
    expect((await server.ask('tasks/list', {})).result.tasks).toMatchObject([{ taskId, status: 'completed' }]);
    expect((await server.ask('tasks/cancel', { taskId })).error).toMatchObject({ code: -32602 });
  });

  it('answers a question without `task` at once', async () => {
    const { server } = await connect({}, accept);
    expect((await server.ask('elicitation/create', ask)).result).toEqual({ action: 'accept', content: { colour: 'red' } });
  });

  it('cancels what it was asked as a task, and lets go of those who wait', async () => {
    let signal: AbortSignal | undefined;
    const elicitation = (_: unknown, context: { signal: AbortSignal }): Promise<never> => (
      (signal = context.signal),
      new Promise(() => undefined)
    );
    const { server } = await connect({}, { elicitation: elicitation as never });
    const { taskId } = (await server.ask('elicitation/create', { ...ask, task: {} })).result.task;
    const payload = server.ask('tasks/result', { taskId });
    await expect.poll(() => signal).toBeDefined();
    expect((await server.ask('tasks/cancel', { taskId })).result).toMatchObject({ taskId, status: 'cancelled' });
    expect((await payload).error).toMatchObject({ code: -32603, data: { taskId, status: 'cancelled' } });
    expect(signal?.aborted).toBe(true);
    expect((await server.ask('tasks/get', { taskId: 'x' })).error).toMatchObject({ code: -32602 });
    expect((await server.ask('tasks/list', { cursor: 'x' })).error).toMatchObject({ code: -32602 });
  });

  it('fails a task whose handler refuses, with that error', async () => {
    const { server } = await connect({}, { elicitation: () => Promise.reject(new Error('secret')) });
    const { taskId } = (await server.ask('elicitation/create', { ...ask, task: {} })).result.task;
    const { error } = await server.ask('tasks/result', { taskId });
    expect(error).toMatchObject({ code: -32603 });
    expect(JSON.stringify(error)).not.toContain('secret');
    expect((await server.ask('tasks/get', { taskId })).result).toMatchObject({ status: 'failed' });
  });
});
