/** Tasks, as v1 has them: at the server, and at the client. */

import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { Client, type ClientOptions } from '../src/client/index.ts';
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from '../src/experimental/tasks/index.ts';
import { InMemoryTransport } from '../src/inMemory.ts';
import { McpServer } from '../src/server/mcp.ts';
import { CreateTaskResultSchema, ElicitRequestSchema, ElicitResultSchema, type ElicitRequestFormParams } from '../src/types.ts';

const FORM: ElicitRequestFormParams = {
  mode: 'form',
  message: 'Who?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
};

async function connect(server: McpServer, options: ClientOptions, prepare?: (client: Client) => void): Promise<Client> {
  const client = new Client({ name: 'client', version: '1.0.0' }, options);
  prepare?.(client);
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  onTestFinished(() => client.close());
  return client;
}

/** A server with one tool that runs as a task and asks the user on the way. */
function createServer(): McpServer {
  const server = new McpServer(
    { name: 'server', version: '1.0.0' },
    {
      capabilities: { tasks: { requests: { tools: { call: {} } } } },
      taskStore: new InMemoryTaskStore(),
      taskMessageQueue: new InMemoryTaskMessageQueue(),
    },
  );
  server.experimental.tasks.registerToolTask(
    'greet',
    { inputSchema: { greeting: z.string() } },
    {
      createTask: async ({ greeting }, { taskStore }) => {
        const task = await taskStore.createTask({ pollInterval: 5 });
        const relatedTask = { taskId: task.taskId };
        const run = async (): Promise<void> => {
          await taskStore.updateTaskStatus(task.taskId, 'input_required');
          const asked = server.server.request({ method: 'elicitation/create', params: FORM }, ElicitResultSchema, { relatedTask });
          const text = `${greeting}, ${String((await asked).content?.['name'])}`;
          await taskStore.storeTaskResult(task.taskId, 'completed', { content: [{ type: 'text', text }] });
        };
        void run();
        return { task };
      },
      getTask: (_args, { taskId, taskStore }) => taskStore.getTask(taskId),
      getTaskResult: (_args, { taskId, taskStore }) => taskStore.getTaskResult(taskId) as never,
    },
  );
  return server;
}

it('streams a task that asks the user while its result is awaited', async () => {
  const client = await connect(createServer(), { capabilities: { elicitation: {} } }, (each) =>
    each.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } })),
  );
  await client.listTools();
  await expect(client.callTool({ name: 'greet', arguments: { greeting: 'Hi' } })).rejects.toThrow('requires task-based execution');
  const seen: string[] = [];
  let result: unknown;
  for await (const message of client.experimental.tasks.callToolStream({ name: 'greet', arguments: { greeting: 'Hi' } })) {
    seen.push(message.type);
    if (message.type === 'result') ({ result } = message);
    if (message.type === 'error') throw message.error;
  }
  expect(seen).toEqual(['taskCreated', 'taskStatus', 'result']);
  expect(result).toMatchObject({ content: [{ text: 'Hi, Ada' }] });
  const { tasks } = await client.experimental.tasks.listTasks();
  expect(tasks).toMatchObject([{ status: 'completed' }]);
  await expect(client.experimental.tasks.cancelTask(tasks[0]?.taskId ?? '')).rejects.toThrow('Cannot cancel task in terminal status');
});

it('lets a client answer a form by a task', async () => {
  const server = new McpServer({ name: 'server', version: '1.0.0' });
  const capabilities = { elicitation: {}, tasks: { requests: { elicitation: { create: {} } } } };
  await connect(server, { capabilities, taskStore: new InMemoryTaskStore() }, (client) =>
    client.setRequestHandler(ElicitRequestSchema, async (_request, { taskStore, taskRequestedTtl }) => {
      if (!taskStore) throw new Error('no task store');
      const task = await taskStore.createTask({ ttl: taskRequestedTtl ?? null });
      await taskStore.storeTaskResult(task.taskId, 'completed', { action: 'accept', content: { name: 'Ada' } });
      return { task };
    }),
  );
  const request = { method: 'elicitation/create' as const, params: FORM };
  const { task } = await server.server.request(request, CreateTaskResultSchema, { task: { ttl: 1000 } });
  expect(task).toMatchObject({ status: 'working', ttl: 1000 });
  const result = await server.server.experimental.tasks.getTaskResult(task.taskId, ElicitResultSchema);
  expect(result).toMatchObject({ action: 'accept', content: { name: 'Ada' } });
});
