/** The server whose figures over HTTP `npm run robustness` takes. Its options come as JSON, its address goes out as a line. */

import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { McpServer } from '@mortise/server';
import { MemoryEventStore } from '@mortise/protocol/edge';
import { serveHttp } from '@mortise/transport-http/node';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const { withEvents, ...options } = JSON.parse(process.argv[2] ?? '{}');

const server = new McpServer({ name: 'measured', version: '1.0.0' }, { capabilities: { logging: {} }, progress: { minIntervalMs: 0 } });
let waiting = 0;
let aborted = 0;

server.registerTool('echo', { inputSchema: { type: 'object' } }, ({ text }) => text);
server.registerTool('wait', {}, async (ctx) => {
  waiting += 1;
  await ctx.progress({ progress: 1 });
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, 1_000);
    ctx.signal.addEventListener('abort', () => {
      aborted += 1;
      clearTimeout(timer);
      resolve();
    });
  });
  waiting -= 1;
  return 'waited';
});
server.registerTool('talk', { inputSchema: { type: 'object' } }, async ({ count }, ctx) => {
  const message = 'x'.repeat(64 * 1024);
  for (let step = 1; step <= count; step += 1) await ctx.log.info(message);
  return 'said';
});
server.registerTool('change', { inputSchema: { type: 'object' } }, async ({ count }) => {
  for (let step = 0; step < count; step += 1) {
    server.sendResourceUpdated({ uri: `test://${step}/${'x'.repeat(4_000)}` });
    if (step % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return 'changed';
});

const { url, handler } = await serveHttp(server, {
  port: 0,
  ...options,
  ...(withEvents && { eventStore: new MemoryEventStore() }),
});

/** What this process holds, after a collection of garbage where `collects` is set. */
server.registerTool('held', { inputSchema: { type: 'object' } }, async ({ collects }) => {
  for (let round = 0; collects && round < 3; round += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, rss, external, arrayBuffers } = process.memoryUsage();
  return JSON.stringify({
    heapUsed,
    rss,
    external,
    arrayBuffers,
    waiting,
    aborted,
    counts: handler.counts,
    descriptors: process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0,
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
  });
});

process.stdout.write(`${url}\n`);
