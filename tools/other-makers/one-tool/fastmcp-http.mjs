import { createServer } from 'node:net';
import { FastMCP } from 'fastmcp';
import { z } from 'zod';

const server = new FastMCP({ name: 'one-tool', version: '1.0.0' });
const parameters = z.object({ a: z.number(), b: z.number() });
server.addTool({ name: 'add', description: 'Adds', parameters, execute: async ({ a, b }) => String(a + b) });
// It takes the number of a port, and does not tell which one it got for 0.
const probe = createServer();
const port = await new Promise((resolve) => probe.listen(0, '127.0.0.1', () => resolve(probe.address().port)));
await new Promise((resolve) => probe.close(resolve));
const log = console.log;
console.log = console.info = console.error;
await server.start({ transportType: 'httpStream', httpStream: { port, host: '127.0.0.1', stateless: true, enableJsonResponse: true } });
log(`http://127.0.0.1:${port}/mcp`);
