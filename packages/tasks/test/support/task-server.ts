/** A server whose tools the tests of tasks call. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import { McpServer, ToolError } from '@mortise/server';
import { createTasks, type Tasks, type TasksOptions } from '@mortise/tasks/server';
import { z } from 'zod';

const optional = { taskSupport: 'optional' } as const;
const required = { taskSupport: 'required' } as const;

/** Something that a test ends when it wants to. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

export interface TaskServer {
  readonly server: McpServer;
  readonly tasks: Tasks;
  /** What `wait` waits for. */
  readonly gate: Gate;
  /** Why the signal of `wait` aborted. */
  readonly aborts: unknown[];
}

/** @param options Polls are not limited unless it says so: tests ask often. */
export function createTaskServer(options: TasksOptions = {}): TaskServer {
  const tasks = createTasks({ maxPollsPerSecond: Infinity, ...options });
  const server = new McpServer({ name: 'tasks', version: '1.0.0' }, { extensions: [tasks], capabilities: { logging: {} } });
  const gate = createGate();
  const aborts: unknown[] = [];

  server.registerTool('plain', {}, () => 'plain');
  server.registerTool('forbidden', { execution: { taskSupport: 'forbidden' } }, () => 'forbidden');
  server.registerTool('quick', { execution: optional, immediateResponse: 'It has begun' }, (ctx) => `quick ${ctx.isTask}`);
  server.registerTool('required', { execution: required }, () => 'required');
  server.registerTool('wait', { execution: optional }, async (ctx) => {
    ctx.signal.addEventListener('abort', () => aborts.push(ctx.signal.reason));
    await Promise.race([gate.opened, new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))]);
    return 'waited';
  });
  server.registerTool('fails', { execution: optional }, () => {
    throw new ToolError('It did not work');
  });
  server.registerTool('breaks', { execution: optional }, () => {
    throw new ProtocolError(77, 'It broke', { why: 'because' });
  });
  server.registerTool('asks', { execution: optional }, async (ctx) => {
    const answer = await ctx.elicit({ message: 'Who?', requestedSchema: { name: z.string() } });
    return `${answer.action} ${answer.action === 'accept' ? answer.content.name : ''}`;
  });
  server.registerTool('asks-twice', { execution: optional }, async (ctx) => {
    const ask = (message: string) => ctx.elicit({ message, requestedSchema: { name: z.string() } });
    const both = await Promise.all([ask('One?'), ask('Two?')]);
    const again = await ask('One?');
    return [...both, again].map(({ content }) => content?.name).join(' ');
  });
  server.registerTool('reports', { execution: optional }, async (ctx) => {
    await ctx.progress({ progress: 1, total: 2, message: 'half' });
    await ctx.status('Half of it');
    await gate.opened;
    await ctx.log.info('The other half is done');
    await ctx.progress({ progress: 2, total: 2, message: 'whole' });
    return 'reported';
  });
  return { server, tasks, gate, aborts };
}
