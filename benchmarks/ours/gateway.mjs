// A client over HTTP that calls a server directly, or through a gateway; all of it in one process, so that its CPU time is all that a call costs.
//
//   node gateway.mjs <count> direct|near|http legacy|modern     near: the server is in the gateway's process; http: behind HTTP
import { McpClient } from '@mortise/client';
import { inMemoryTransport } from '@mortise/client/in-memory';
import { createGateway } from '@mortise/host/gateway';
import { McpServer } from '@mortise/server';
import { httpTransport } from '@mortise/transport-http/client';
import { nodeHttpSender, serveHttp } from '@mortise/transport-http/node';
import { z } from 'zod';
import { runClient } from '../measure/client-run.mjs';

const [way = 'direct', era = 'modern'] = process.argv.slice(3);
const server = new McpServer({ name: 'bench', version: '1.0.0' });
const schemas = { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } };
server.registerTool('add', { description: 'Adds two numbers', ...schemas }, ({ a, b }) => ({ structuredContent: { sum: a + b } }));

const http = (url) => httpTransport(url, { sender: nodeHttpSender() });
const serving = await serveHttp(server, { port: 0, drainMs: 1 });
const transport = way === 'near' ? inMemoryTransport(server) : http(serving.url);
const gateway = createGateway({ servers: { bench: { transport, keepsNames: true, client: { era } } } });
const front = await serveHttp(gateway, { port: 0, drainMs: 1 });
const client = await McpClient.connect(http(way === 'direct' ? serving.url : front.url), { name: 'bench', version: '1.0.0' }, { era });
await runClient((a, b) => client.callTool('add', { a, b }));
await client.close();
await front.close();
await gateway.close();
await serving.close();
