import { McpServer } from '@mortise/server';
import { serveStdio } from '@mortise/transport-stdio/server';
import { z } from 'zod';

const server = new McpServer({ name: 'one-tool', version: '1.0.0' });
server.registerTool('add', { description: 'Adds', inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => String(a + b));
await serveStdio(server);
