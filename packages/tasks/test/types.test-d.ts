import { expectTypeOf, it } from 'vitest';
import type { Tool } from '@mortise/protocol/model';
import { McpServer } from '@mortise/server';
import type { CreatedTask } from '@mortise/tasks/server';

const server = new McpServer({ name: 's', version: '1' });

it('gives tools and handlers what tasks add', () => {
  server.registerTool('t', { execution: { taskSupport: 'optional' }, promoteAfterMs: 1_000, resumable: true }, async (ctx) => {
    expectTypeOf(ctx.isTask).toEqualTypeOf<boolean>();
    expectTypeOf(ctx.status).toEqualTypeOf<(message: string) => Promise<void>>();
    expectTypeOf(ctx.createTask()).toEqualTypeOf<Promise<CreatedTask>>();
    return 'done';
  });
  server.registerTool('by-hand', { execution: { taskSupport: 'required' }, taskDriver: 'hand' }, (ctx) => ctx.createTask({ ttlMs: 5_000 }));
  const listed: Tool = { name: 't', inputSchema: { type: 'object' }, execution: {} };
  server.registerTool(listed.name, listed, () => ({ content: [] }));
  // @ts-expect-error There is no such support.
  server.registerTool('bad', { execution: { taskSupport: 'sometimes' } }, () => 'x');
  // @ts-expect-error Time has its unit in its name.
  server.registerTool('bad', { execution: { taskSupport: 'optional' }, promoteAfter: 5 }, () => 'x');
});
