// Tasks through a server in one process, on its store: creates and finishes them, or asks for one. Prints one line of JSON.
//
//   node tasks.mjs finish|poll memory|sqlite <tasks that stay open>
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInMemoryPair } from '@mortise/jsonrpc-core';
import { McpServer } from '@mortise/server';
import { MemoryTaskStore } from '@mortise/tasks';
import { createTasks } from '@mortise/tasks/server';

const [mode = 'finish', kind = 'memory', open = '0'] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'bench-tasks-'));
const { store, close } = await openStore();

async function openStore() {
  if (kind === 'memory') return { store: new MemoryTaskStore(), close: async () => undefined };
  const { createSqliteStores } = await import('@mortise/store-sqlite');
  const stores = await createSqliteStores({ path: join(folder, 'tasks.db') });
  return { store: stores.tasks, close: () => stores.close() };
}

let finished = 0;
let onFinished = () => undefined;
const unlimited = { maxPollsPerSecond: Infinity, maxTasksPerPrincipal: Infinity };
const server = new McpServer({ name: 'bench', version: '1.0.0' }, { extensions: [createTasks({ store, ...unlimited })] });
server.registerTool('work', { execution: { taskSupport: 'required' } }, () => {
  finished++;
  queueMicrotask(onFinished);
  return 'done';
});
server.registerTool(
  'wait',
  { execution: { taskSupport: 'required' } },
  (ctx) => new Promise((_, reject) => ctx.signal.addEventListener('abort', reject)),
);

const [near, far] = createInMemoryPair();
const waiting = new Map();
near.onmessage = (message) => {
  waiting.get(message.id)?.(message);
  waiting.delete(message.id);
};
await server.connect(far);
await near.start();
let nextId = 0;
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
};
async function call(method, params) {
  const id = ++nextId;
  const answer = new Promise((resolve) => waiting.set(id, resolve));
  await near.send({ jsonrpc: '2.0', id, method, params: { ...params, _meta } });
  const { result, error } = await answer;
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

async function inLanes(count, lanes, fn) {
  let started = 0;
  const lane = async () => {
    while (started++ < count) await fn();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

const start = (name) => call('tools/call', { name, arguments: {} });
await inLanes(Number(open), 64, () => start('wait'));
const { taskId } = await start('work');

async function finish(count) {
  const target = finished + count;
  const all = new Promise((resolve) => (onFinished = () => finished >= target && resolve()));
  await inLanes(count, 64, () => start('work'));
  if (finished < target) await all;
  // The last ones are written once their handlers have returned.
  while ((await store.count('local', ['working'])) > Number(open)) await new Promise((resolve) => setImmediate(resolve));
}
const poll = (count) => inLanes(count, 64, () => call('tasks/get', { taskId }));

const run = mode === 'poll' ? poll : finish;
const count = mode === 'poll' ? 20_000 : 4_000;
await run(count / 4);
const before = process.cpuUsage();
const startedAt = performance.now();
await run(count);
const { user, system } = process.cpuUsage(before);
const perSecond = Math.round(count / ((performance.now() - startedAt) / 1000));
process.stdout.write(`${JSON.stringify({ cpuUsPerCall: (user + system) / count, perSecond })}\n`);
await server.close();
await close();
rmSync(folder, { recursive: true, force: true });
process.exit(0);
