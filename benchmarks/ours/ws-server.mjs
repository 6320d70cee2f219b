import { McpServer } from '@mortise/server';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';
import { z } from 'zod';

const server = new McpServer({ name: 'bench', version: '1.0.0' });
server.registerTool(
  'add',
  { description: 'Adds two numbers', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
  ({ a, b }) => ({ structuredContent: { sum: a + b } }),
);
const serving = await serveWebSocket(server, { port: 0 });
process.stdout.write(`${serving.url}\n`);
process.stdin.on('end', () => process.exit(0)).resume();
