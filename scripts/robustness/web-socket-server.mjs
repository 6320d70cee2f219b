/** The WebSocket server whose figures `npm run robustness` takes. Prints its address; says what it holds on SIGUSR2. */

import { writeSync } from 'node:fs';
import { McpServer } from '@mortise/server';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';

const server = new McpServer({ name: 'measured', version: '1.0.0' });
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
server.registerTool('echo', { inputSchema: text }, ({ text: given }) => given);
server.registerTool('large', {}, () => 'x'.repeat(64 * 1024));

const serving = await serveWebSocket(server, { port: 0, maxConnectionsPerKey: 10_000 });
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  globalThis.gc?.();
  writeSync(2, `${JSON.stringify({ rss: process.memoryUsage.rss(), connections: serving.count })}\n`);
});
process.stdout.write(`${serving.url}\n`);
process.stdin.on('end', () => process.exit(0)).resume();
