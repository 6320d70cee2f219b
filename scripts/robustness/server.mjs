/** The server whose figures `npm run robustness` takes: it answers, waits, talks much, and says how much memory it holds. */

import { McpServer } from '@mortise/server';
import { serveStdio } from '@mortise/transport-stdio/server';

const server = new McpServer({ name: 'measured', version: '1.0.0' });

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
server.registerTool('echo', { inputSchema: text }, ({ text: given }) => given);
server.registerTool('large', {}, () => 'x'.repeat(64 * 1024));
server.registerTool('heap', {}, () => {
  globalThis.gc?.();
  globalThis.gc?.();
  return JSON.stringify(process.memoryUsage());
});
server.registerTool(
  'wait',
  {},
  (ctx) =>
    new Promise((resolve) => {
      ctx.signal.addEventListener('abort', () => resolve('aborted'), { once: true });
    }),
);

await serveStdio(server);
