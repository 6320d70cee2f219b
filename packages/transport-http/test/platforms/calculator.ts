/** The server that every platform serves. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { McpServer } from '@mortise/server';

export function createCalculator(): McpServer {
  const server = new McpServer({ name: 'calculator', version: '1.0.0' });
  const number = { type: 'number' };
  const inputSchema = { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] } as const;
  server.registerTool('add', { inputSchema }, async (args: JsonObject, ctx) => {
    await ctx.progress(1, 2);
    return String(Number(args['a']) + Number(args['b']));
  });
  return server;
}
