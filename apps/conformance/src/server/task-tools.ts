/** Tools that run as tasks: quick and slow ones, ones that fail in either way, ones that ask. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import { type McpServer, ToolError } from '@mortise/server';
import type { Tasks } from '@mortise/tasks/server';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const optional = { taskSupport: 'optional' } as const;

export function addTaskTools(server: McpServer, tasks: Tasks): void {
  server.registerTool('greet', { description: 'Greets, at once', inputSchema: { name: z.string() } }, ({ name }) => `Hello, ${name}!`);

  server.registerTool(
    'slow_compute',
    {
      description: 'Computes for some seconds',
      inputSchema: { seconds: z.number().default(1), label: z.string().default('') },
      execution: optional,
    },
    async ({ seconds, label }, ctx) => {
      await sleep(seconds * 1000, undefined, { signal: ctx.signal });
      return `${label} computed in ${seconds} s`;
    },
  );

  server.registerTool(
    'failing_job',
    { description: 'Fails as a tool fails, after a second', execution: { taskSupport: 'required' } },
    async () => {
      await sleep(1000);
      throw new ToolError('The job failed');
    },
  );

  server.registerTool('protocol_error_job', { description: 'Fails as the protocol fails', execution: optional }, () => {
    throw new ProtocolError(INTERNAL_ERROR, 'The job broke');
  });

  server.registerTool(
    'confirm_delete',
    { description: 'Asks before it deletes', inputSchema: { filename: z.string() }, execution: optional },
    async ({ filename }, ctx) => {
      const { action, content } = await ctx.elicit({
        message: `Delete ${filename}?`,
        requestedSchema: { confirm: z.boolean().describe('Whether to delete it') },
      });
      return action === 'accept' && content.confirm ? `Deleted ${filename}` : `Kept ${filename}`;
    },
  );

  server.registerTool('multi_input', { description: 'Asks two things at once', execution: optional }, async (ctx) => {
    const answers = await Promise.all(
      ['What is your name?', 'And the other name?'].map((message) => ctx.elicit({ message, requestedSchema: { name: z.string() } })),
    );
    return JSON.stringify(answers.map(({ content }) => content ?? null));
  });

  server.registerTool(
    'test_tool_with_task',
    { description: 'Asks for a name, then answers by a task', execution: optional, taskDriver: 'hand' },
    async (ctx) => {
      const { content } = await ctx.elicit({ message: 'What is your name?', requestedSchema: { name: z.string() } }, { key: 'name' });
      const text = `Hello, ${content?.name ?? 'nobody'}!`;
      if (!ctx.canCreateTask) return text;
      const task = await ctx.createTask({ statusMessage: 'Greeting' });
      setTimeout(() => void tasks.complete(task.taskId, text), 100);
      return task;
    },
  );
}
