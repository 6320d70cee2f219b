/** The one server, which knows nothing of how it is reached. */

import { McpServer } from '@mortise/server';
import { z } from 'zod';

export function createCalculator(): McpServer {
  const server = new McpServer({ name: 'calculator', version: '1.0.0' });
  const numbers = { a: z.number(), b: z.number() };
  server.registerTool('add', { inputSchema: numbers, outputSchema: { sum: z.number() } }, ({ a, b }) => ({
    structuredContent: { sum: a + b },
  }));
  server.registerTool('count', { inputSchema: { to: z.number().int().max(100) } }, async ({ to }, ctx) => {
    for (let step = 1; step <= to; step++) await ctx.progress(step, to);
    return `counted to ${to}`;
  });
  server.registerResource('about', 'calculator://about', {}, () => 'Adds two numbers.');
  return server;
}
