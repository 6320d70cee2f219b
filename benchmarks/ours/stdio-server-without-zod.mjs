import { McpServer } from '@mortise/server';
import { serveStdio } from '@mortise/transport-stdio/server';

const server = new McpServer({ name: 'bench', version: '1.0.0' });
server.registerTool(
  'add',
  {
    description: 'Adds two numbers',
    inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  },
  ({ a, b }) => ({ structuredContent: { sum: a + b } }),
);
await serveStdio(server);
