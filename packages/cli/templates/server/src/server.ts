import { McpServer } from '@mortise/server';
import { z } from 'zod';

export const server = new McpServer({ name: '{{name}}', version: '0.1.0' });

server.registerTool(
  'add',
  {
    description: 'Add two numbers',
    inputSchema: { a: z.number(), b: z.number() },
    outputSchema: { sum: z.number() },
  },
  ({ a, b }) => ({ structuredContent: { sum: a + b } }),
);
