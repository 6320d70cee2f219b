/** The client's half against the real server's half, in both generations. */

import { connectInMemory } from '@mortise/client/in-memory';
import { RemoteError } from '@mortise/jsonrpc-core';
import type { CallToolResult } from '@mortise/protocol';
import { McpServer } from '@mortise/server';
import { MemoryTaskHandleStore, taskClient, type TaskClientOptions, TaskInputError, type TaskHandle } from '@mortise/tasks/client';
import { createTasks } from '@mortise/tasks/server';
import { describe, expect, it, onTestFinished } from 'vitest';

const ERAS = ['modern', 'legacy'] as const;

function gate(): { readonly promise: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

/** A server whose tools wait for the test. */
function makeServer() {
  const go = gate();
  const begun = gate();
  const seen: { aborted?: unknown; runs: number } = { runs: 0 };
  const server = new McpServer(
    { name: 'tasks', version: '1.0.0' },
    { extensions: [createTasks({ pollIntervalMs: 10, maxPollsPerSecond: 1000 })] },
  );
  server.registerTool('report', { execution: { taskSupport: 'required' } }, async (ctx) => {
    seen.runs += 1;
    await ctx.status('gathering');
    begun.open();
    ctx.signal.addEventListener('abort', () => {
      seen.aborted = ctx.signal.reason;
    });
    await go.promise;
    return 'the report';
  });
  server.registerTool('ask', { execution: { taskSupport: 'required' } }, async (ctx) => {
    const answer = await ctx.elicit({
      message: 'Which colour?',
      requestedSchema: { type: 'object', properties: { colour: { type: 'string' } } },
    });
    return JSON.stringify(answer);
  });
  server.registerTool('fail', { execution: { taskSupport: 'required' } }, async () => {
    throw new Error('the disk is full');
  });
  server.registerTool('either', { execution: { taskSupport: 'optional' } }, async (ctx) => `as a task: ${ctx.isTask}`);
  server.registerTool('quick', {}, async () => 'at once');
  return { server, go, begun, seen };
}

async function connect(
  era: (typeof ERAS)[number],
  server: McpServer,
  options: TaskClientOptions = {},
  elicitation: (params: { readonly message: string }) => Promise<{ action: 'accept'; content: { colour: string } }> = async () => ({
    action: 'accept',
    content: { colour: 'red' },
  }),
) {
  const tasks = taskClient(options);
  const client = await connectInMemory(server, { era, extensions: [tasks], elicitation: elicitation as never });
  onTestFinished(() => client.close());
  return { client, tasks };
}

const textOf = ({ content }: CallToolResult): unknown => (content[0] as { readonly text?: unknown } | undefined)?.text;

describe.each(ERAS)('a %s client', (era) => {
  it('[TASKX-044][TASK25-009] drives a tool that becomes a task to its result by itself', async () => {
    const { server, go } = makeServer();
    const told: (string | undefined)[] = [];
    const { client, tasks } = await connect(era, server, { onTask: ({ id }) => void told.push(id) });
    const call = client.callTool('report');
    go.open();
    expect(textOf(await call)).toBe('the report');
    expect(told).toHaveLength(1);
    expect(await tasks.pending()).toEqual([]);
  });

  const fails = (): never => {
    throw new Error('at once');
  };
  it.each([
    ['rejects', () => Promise.reject(new Error('late'))],
    ['throws', fails],
  ])('[ROBUSTNESS-5] is not harmed by an onTask that %s', async (_, onTask) => {
    const { server, go } = makeServer();
    const { client } = await connect(era, server, { onTask });
    const call = client.callTool('report');
    go.open();
    expect(textOf(await call)).toBe('the report');
  });

  it('[TASKX-004] gives the result of a tool that is no task as ever', async () => {
    const { server } = makeServer();
    const { client, tasks } = await connect(era, server);
    expect(textOf(await client.callTool('quick'))).toBe('at once');
    if (era === 'legacy') return;
    const handle = await tasks.start('quick');
    expect([handle.id, handle.state?.status, textOf(await handle.result())]).toEqual([undefined, 'completed', 'at once']);
  });

  it('answers what a task asks, once, by the program’s own handlers', async () => {
    const { server } = makeServer();
    const asked: string[] = [];
    const { client } = await connect(era, server, {}, async ({ message }) => {
      asked.push(message);
      return { action: 'accept', content: { colour: 'blue' } };
    });
    expect(textOf(await client.callTool('ask'))).toContain('blue');
    expect(asked).toEqual(['Which colour?']);
  });

  it('tells how a task goes on, and its end', async () => {
    const { server, go, begun } = makeServer();
    const { tasks } = await connect(era, server);
    const handle = await tasks.start('report');
    await begun.promise;
    expect(await handle.status()).toMatchObject({ status: 'working' });
    const statuses: string[] = [];
    for await (const { status } of handle.updates()) {
      if (statuses.at(-1) !== status) statuses.push(status);
      go.open();
    }
    expect(statuses).toEqual(['working', 'completed']);
    expect(textOf(await handle.result())).toBe('the report');
  });

  it('keeps the ids of its tasks, and goes on with them after it was started again', async () => {
    const { server, go, begun } = makeServer();
    const store = new MemoryTaskHandleStore();
    const handles = { store, server: 'in memory' };
    const first = await connect(era, server, { handles });
    const { id } = await first.tasks.start('report');
    await begun.promise;
    await first.client.close();
    const { tasks } = await connect(era, server, { handles });
    const [pending] = await tasks.pending();
    expect(pending?.id).toBe(id);
    go.open();
    expect(textOf((await pending?.result()) as CallToolResult)).toBe('the report');
    expect(await tasks.pending()).toEqual([]);
  });

  it('[TASKX-025][TASK25-034] cancels a task by its id, never by a cancellation of the request', async () => {
    const { server, begun, seen } = makeServer();
    const { tasks } = await connect(era, server);
    const handle = await tasks.start('report');
    await begun.promise;
    const result = handle.result();
    await handle.cancel();
    await expect(result).rejects.toMatchObject({ name: 'TaskError', code: 'ERR_TASK_CANCELLED' });
    await expect.poll(() => seen.aborted).toMatchObject({ name: 'TaskError', code: 'ERR_TASK_CANCELLED' });
  });

  it('cancels the task of a call that is aborted', async () => {
    const { server, begun, seen } = makeServer();
    const known = gate();
    const { client } = await connect(era, server, { onTask: known.open });
    const controller = new AbortController();
    const call = client.callTool('report', {}, { signal: controller.signal });
    await Promise.all([begun.promise, known.promise]);
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await expect.poll(() => seen.aborted).toMatchObject({ name: 'TaskError', code: 'ERR_TASK_CANCELLED' });
  });

  it('gives the result of a tool that failed as it does without a task', async () => {
    const { server } = makeServer();
    const { client } = await connect(era, server);
    expect(await client.callTool('fail')).toMatchObject({ isError: true });
  });

  it('says when a task is not there', async () => {
    const { server } = makeServer();
    const { tasks } = await connect(era, server);
    const handle: TaskHandle = tasks.resumeTask('0123456789');
    const message = expect.stringContaining('made room for newer tasks, or belongs to another caller') as string;
    await expect(handle.status()).rejects.toMatchObject({ name: 'TaskError', code: 'ERR_TASK_NOT_FOUND', message, cause: { message } });
    await expect(tasks.resumeTask('0123456789').result()).rejects.toMatchObject({ name: 'TaskError', code: 'ERR_TASK_NOT_FOUND' });
  });
});

describe('a modern client', () => {
  it('tells a caller when a question is not answered, and cancels the task that nobody holds', async () => {
    const { server } = makeServer();
    const { client, tasks } = await connect('modern', server, {}, async () => {
      throw new Error('the user is out');
    });
    await expect(client.callTool('ask')).rejects.toMatchObject({ code: 'ERR_TASK_INPUT', method: 'elicitation/create' });
    expect(await tasks.pending()).toEqual([]);
  });

  it('asks again where a handle is waited for again', async () => {
    const { server } = makeServer();
    let isIn = false;
    const { tasks } = await connect('modern', server, {}, async () => {
      if (!isIn) throw new Error('the user is out');
      return { action: 'accept', content: { colour: 'green' } };
    });
    const handle = await tasks.start('ask');
    await expect(handle.result()).rejects.toBeInstanceOf(TaskInputError);
    isIn = true;
    expect(textOf(await handle.result())).toContain('green');
  });
});

describe('a legacy client', () => {
  it('[TASK25-008] calls no tool as a task that may not be one', async () => {
    const { server } = makeServer();
    const { tasks } = await connect('legacy', server);
    await expect(tasks.start('quick')).rejects.toMatchObject({ code: 'ERR_TASK_UNAVAILABLE' });
  });

  it('calls tools that may be tasks as tasks only where the program prefers it', async () => {
    const { server } = makeServer();
    const plain = await connect('legacy', server);
    await plain.client.listTools();
    expect(textOf(await plain.client.callTool('either'))).toBe('as a task: false');
    const eager = await connect('legacy', server, { prefersTasks: true });
    await eager.client.listTools();
    expect(textOf(await eager.client.callTool('either'))).toBe('as a task: true');
  });

  it('reads the list of tools once, where it prefers tasks and the program has not read the list', async () => {
    const { server } = makeServer();
    let lists = 0;
    server.use('tools/list', (_call, next) => {
      lists += 1;
      return next();
    });
    const { client } = await connect('legacy', server, { prefersTasks: true });
    for (let calls = 0; calls < 2; calls++) expect(textOf(await client.callTool('either'))).toBe('as a task: true');
    expect(textOf(await client.callTool('quick'))).toBe('at once');
    expect(lists).toBe(1);
    const plain = await connect('legacy', server);
    expect(textOf(await plain.client.callTool('either'))).toBe('as a task: false');
    expect(lists).toBe(1);
  });

  it('passes the error of the call on as it was', async () => {
    const { server } = makeServer();
    const { client } = await connect('legacy', server);
    await expect(client.callTool('unknown')).rejects.toBeInstanceOf(RemoteError);
  });
});
