/** The client's half over HTTP, where messages about tasks come on other streams than the call's. */

import { McpClient } from '@mortise/client';
import { McpServer } from '@mortise/server';
import { taskClient } from '@mortise/tasks/client';
import { createTasks } from '@mortise/tasks/server';
import { httpTransport } from '@mortise/transport-http/client';
import { serveHttp } from '@mortise/transport-http/node';
import { expect, it, onTestFinished } from 'vitest';

const info = { name: 'c', version: '1.0.0' };

async function serve() {
  let go: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  // So long that nobody asks while the test runs: what is known was told.
  const server = new McpServer({ name: 's', version: '1.0.0' }, { extensions: [createTasks({ pollIntervalMs: 600_000 })] });
  server.registerTool('report', { execution: { taskSupport: 'required' } }, async (ctx) => {
    await gone;
    await ctx.status('almost');
    return 'done';
  });
  const serving = await serveHttp(server, { port: 0 });
  onTestFinished(() => serving.close());
  return { url: serving.url, go };
}

it('[TASK25-028] takes what is told of a task on the stream that belongs to no request', async () => {
  const { url, go } = await serve();
  const tasks = taskClient();
  const client = await McpClient.connect(httpTransport(url), info, { era: 'legacy', extensions: [tasks] });
  onTestFinished(() => client.close());
  const task = await tasks.start('report');
  const seen: string[] = [];
  const reading = (async () => {
    for await (const { status, statusMessage } of task.updates()) seen.push(`${status} ${statusMessage ?? ''}`.trim());
  })();
  go();
  await reading;
  expect(seen[0]).toBe('working');
  expect(seen.at(-1)).toMatch(/^completed/);
  expect(await task.result()).toMatchObject({ content: [{ type: 'text', text: 'done' }] });
});

it('drives a task to its result in the modern era, by exchanges', async () => {
  const { url, go } = await serve();
  const tasks = taskClient();
  const client = await McpClient.connect(httpTransport(url), info, { era: 'modern', extensions: [tasks] });
  onTestFinished(() => client.close());
  const task = await tasks.start('report');
  expect(await task.status()).toMatchObject({ taskId: task.id, status: 'working' });
  go();
  await expect.poll(async () => (await tasks.resumeTask(task.id ?? '').status()).status).toBe('completed');
  expect(await task.result()).toMatchObject({ content: [{ type: 'text', text: 'done' }] });
});
