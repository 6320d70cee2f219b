import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { measureCalls } from '../measure/in-memory-run.mjs';

const server = new McpServer({ name: 'bench', version: '1.0.0' });
server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } }, ({ a, b }) => ({
  content: [],
  structuredContent: { sum: a + b },
}));
const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
const client = new Client({ name: 'bench', version: '1.0.0' });
await Promise.all([server.connect(serverSide), client.connect(clientSide)]);
await measureCalls((a, b) => client.callTool({ name: 'add', arguments: { a, b } }));
