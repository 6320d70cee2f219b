import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { throughFetch, throughHono } from '../measure/through-fetch.mjs';

const { face = 'node' } = JSON.parse(process.argv[2] ?? '{}');

function makeServer() {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ content: [{ type: 'text', text: JSON.stringify({ sum: a + b }) }], structuredContent: { sum: a + b } }),
  );
  server.registerTool(
    'measure',
    { description: 'Tells the length of a text', inputSchema: z.object({ text: z.string() }) },
    ({ text }) => ({
      content: [{ type: 'text', text: String(text.length) }],
    }),
  );
  server.registerTool(
    'progress',
    { description: 'Reports steps', inputSchema: z.object({ count: z.number() }) },
    async ({ count }, ctx) => {
      const { progressToken } = ctx.mcpReq._meta;
      for (let progress = 1; progress <= count; progress++) {
        await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress } });
      }
      return { content: [{ type: 'text', text: 'done' }] };
    },
  );
  return server;
}

const handler = createMcpHandler(makeServer);
const listeners = { node: () => toNodeHandler(handler), web: () => throughFetch(handler.fetch), hono: () => throughHono(handler.fetch) };
const http = createServer(listeners[face]());
http.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
