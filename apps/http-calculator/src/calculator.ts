/** The calculator, with no word about how it is reached. `server.ts` serves it over HTTP. */

import { McpServer, ResourceTemplate } from '@mortise/server';
import { z } from 'zod';

/** Builds the server. One is enough for all clients: it holds nothing that belongs to one of them. */
export function createCalculator(): McpServer {
  const server = new McpServer({ name: 'http-calculator', version: '1.0.0', title: 'Calculator over HTTP' });

  server.registerTool(
    'add',
    {
      title: 'Addition',
      description: 'Adds two numbers',
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { result: z.number() },
    },
    ({ a, b }) => ({ structuredContent: { result: a + b } }),
  );

  server.registerTool(
    'sum_slowly',
    { description: 'Adds numbers one by one and tells how far it is', inputSchema: { numbers: z.array(z.number()) } },
    async ({ numbers }, ctx) => {
      let sum = 0;
      for (const [index, number] of numbers.entries()) {
        sum += number;
        await ctx.progress({ progress: index + 1, total: numbers.length, message: `${sum} so far` });
      }
      return String(sum);
    },
  );

  server.registerResource(
    'greeting',
    new ResourceTemplate('greeting://{name}', { list: undefined }),
    { title: 'Greeting', description: 'Greets whoever is named in the address' },
    (_uri, { name }) => `Hello, ${String(name)}!`,
  );

  return server;
}
