import { connectInMemory } from '@mortise/client/in-memory';
import { McpServer } from '@mortise/server';
import { z } from 'zod';
import { measureCalls } from '../measure/in-memory-run.mjs';

const server = new McpServer({ name: 'bench', version: '1.0.0' });
server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } }, ({ a, b }) => ({
  content: [],
  structuredContent: { sum: a + b },
}));
const client = await connectInMemory(server, { era: process.argv[2] ?? 'modern' });
await measureCalls((a, b) => client.callTool('add', { a, b }));
await client.close();
