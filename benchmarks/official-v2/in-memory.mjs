import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { measureCalls } from '../measure/in-memory-run.mjs';

const server = new McpServer({ name: 'bench', version: '1.0.0' });
server.registerTool(
  'add',
  { inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema: z.object({ sum: z.number() }) },
  ({ a, b }) => ({ content: [], structuredContent: { sum: a + b } }),
);
const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
const client = new Client({ name: 'bench', version: '1.0.0' });
await Promise.all([server.connect(serverSide), client.connect(clientSide)]);
await measureCalls((a, b) => client.callTool({ name: 'add', arguments: { a, b } }));
