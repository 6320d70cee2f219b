import { McpServer } from '@mortise/server';
import { serveHttp } from '@mortise/transport-http/node';
import { z } from 'zod';

const server = new McpServer({ name: 'one-tool', version: '1.0.0' });
server.registerTool('add', { description: 'Adds', inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => String(a + b));
const { url } = await serveHttp(server, { port: 0, sessions: false });
console.log(String(url));
