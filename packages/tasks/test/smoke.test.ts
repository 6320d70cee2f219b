import { expect, it } from 'vitest';
import { McpServer } from '@mortise/server';
import { connectInMemory } from '@mortise/client/in-memory';
import { createTasks } from '@mortise/tasks/server';

it('runs', async () => {
  const server = new McpServer({ name: 's', version: '1' }, { extensions: [createTasks()] });
  server.registerTool('t', { execution: { taskSupport: 'optional' } }, async (ctx) => {
    await ctx.status('x');
    return `hi ${ctx.isTask}`;
  });
  const client = await connectInMemory(server, { era: 'legacy' });
  expect(client).toBeDefined();
});
