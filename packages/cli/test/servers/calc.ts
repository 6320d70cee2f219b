import { McpServer } from '@mortise/server';
import { z } from 'zod';
export const server = new McpServer({ name: 'calc', version: '1.0.0' }, { instructions: 'Adds.' });
server.registerTool(
  'add',
  { description: 'Add two numbers', inputSchema: { a: z.number(), b: z.number() } },
  ({ a, b }: { a: number; b: number }) => ({ structuredContent: { sum: a + b } }),
);
server.registerTool('ask', {}, async (ctx) => JSON.stringify(await ctx.elicit({ message: 'Who?', requestedSchema: { name: z.string() } })));
server.registerTool('count', { inputSchema: { n: z.number() } }, async ({ n }: { n: number }, ctx) => {
  for (let i = 0; i < n; i++) {
    await ctx.progress(i, n, 'working');
    await new Promise((r) => setTimeout(r, 50));
  }
  return 'done';
});
server.registerResource('hello', 'hello://world', { description: 'Says hello' }, () => 'Hello.\u001b[31mred');
