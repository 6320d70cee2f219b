/** The server whose figures `npm run robustness` takes: `node --expose-gc measured-server.mjs TRANSPORT [OPTIONS as JSON]`. Prints its address, where it has one. */

import { readdirSync } from 'node:fs';
import { createServer } from 'node:http2';
import { MemoryEventStore } from '@mortise/protocol/edge';
import { McpServer } from '@mortise/server';
import { MemoryTaskQueue } from '@mortise/tasks';
import { createTasks } from '@mortise/tasks/server';
import { serveHttp } from '@mortise/transport-http/node';
import { createHttpHandler } from '@mortise/transport-http/server';
import { serveStdio } from '@mortise/transport-stdio/server';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';

const [transport, given = '{}'] = process.argv.slice(2);
const { withEvents, ...options } = JSON.parse(given);
const tasks = createTasks({ queue: new MemoryTaskQueue({ maxConcurrent: 10 }), maxPollsPerSecond: Infinity });
const capabilities = { logging: {}, resources: { subscribe: true } };
const server = new McpServer({ name: 'measured', version: '1.0.0' }, { capabilities, extensions: [tasks] });
const inputSchema = { type: 'object' };
const held = { waiting: 0, aborted: 0, counts: () => undefined };

server.registerTool('echo', { inputSchema }, ({ text }) => text);
server.registerTool('keep', { inputSchema, execution: { taskSupport: 'required' } }, ({ text }) => text);
server.registerTool('ask', { execution: { taskSupport: 'required' } }, async (ctx) => {
  const { action } = await ctx.elicit({ message: 'Go on?', requestedSchema: { type: 'object', properties: {} } });
  return action;
});
server.registerTool('large', {}, () => 'x'.repeat(64 * 1024));
server.registerTool('wait', { inputSchema }, async ({ ms }, ctx) => {
  held.waiting += 1;
  await ctx.progress({ progress: 1 });
  await new Promise((resolve) => {
    const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
    ctx.signal.addEventListener('abort', () => {
      held.aborted += 1;
      clearTimeout(timer);
      resolve();
    });
  });
  held.waiting -= 1;
  return 'waited';
});
server.registerTool('talk', { inputSchema }, async ({ count }, ctx) => {
  for (let step = 1; step <= count; step += 1) await ctx.log.info('x'.repeat(64 * 1024));
  return 'said';
});
server.registerTool('change', { inputSchema }, async ({ count }) => {
  for (let step = 0; step < count; step += 1) {
    server.sendResourceUpdated({ uri: `test://${step % 1_000}/${'x'.repeat(200)}` });
    if (step % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return 'changed';
});
/** What this process holds, after a collection of garbage. */
server.registerTool('held', {}, async () => {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return JSON.stringify({
    ...process.memoryUsage(),
    ...held,
    counts: held.counts(),
    descriptors: readdirSync('/proc/self/fd').length,
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
  });
});

if (transport === 'stdio') await serveStdio(server);
else if (transport === 'http') {
  const { url, handler } = await serveHttp(server, { port: 0, ...options, ...(withEvents && { eventStore: new MemoryEventStore() }) });
  held.counts = () => handler.counts;
  console.log(url);
} else if (transport === 'http2') {
  const handler = createHttpHandler(server, options);
  held.counts = () => handler.counts;
  const listener = createServer((request, response) => void handler.node(request, response)).listen(0, '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${listener.address().port}`);
  });
} else {
  const serving = await serveWebSocket(server, { port: 0, maxConnectionsPerKey: 10_000, ...options });
  held.counts = () => serving.count;
  console.log(serving.url);
}
