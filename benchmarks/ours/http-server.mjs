import { createServer } from 'node:http';
import { McpServer } from '@mortise/server';
import { createHttpHandler } from '@mortise/transport-http/server';
import { z } from 'zod';
import { throughFetch, throughHono } from '../measure/through-fetch.mjs';

const { face = 'node', sessions = false } = JSON.parse(process.argv[2] ?? '{}');

const server = new McpServer({ name: 'bench', version: '1.0.0' });
server.registerTool(
  'add',
  { description: 'Adds two numbers', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
  ({ a, b }) => ({ structuredContent: { sum: a + b } }),
);
server.registerTool('measure', { description: 'Tells the length of a text', inputSchema: { text: z.string() } }, ({ text }) =>
  String(text.length),
);
server.registerTool('progress', { description: 'Reports steps', inputSchema: { count: z.number() } }, async ({ count }, ctx) => {
  // A whole message goes out as it is, as the peers' do: ctx.progress would thin out the steps.
  const { progressToken } = ctx.meta;
  for (let progress = 1; progress <= count; progress++)
    await ctx.notify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress } });
  return 'done';
});

const handler = createHttpHandler(server, { path: '/mcp', sessions, maxSessionsPerKey: 10_000, maxBodyBytes: 32 * 1024 * 1024 });
const fetchHandler = (request) => handler.fetch(request, { isLoopback: true });
const listeners = { node: () => handler.node, web: () => throughFetch(fetchHandler), hono: () => throughHono(fetchHandler) };
const http = createServer(listeners[face]());
http.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
