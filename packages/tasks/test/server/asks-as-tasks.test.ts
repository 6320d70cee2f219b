import { describe, expect, it } from 'vitest';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { MODERN, RawPeer, type RawMessage } from '../support/raw-peer.ts';
import { createTaskServer } from '../support/task-server.ts';
import type { Told } from '../support/told.ts';

const TAKES_BOTH: JsonObject = {
  elicitation: {},
  sampling: {},
  tasks: { cancel: {}, requests: { elicitation: { create: {} }, sampling: { createMessage: {} } } },
};
const NOW = '2026-01-01T00:00:00.000Z';
const TASK: JsonObject = { taskId: 'theirs', status: 'working', createdAt: NOW, lastUpdatedAt: NOW, ttl: 500 };
const ANSWER: JsonObject = { action: 'accept', content: { name: 'Ann' } };

const text = (result: Told): unknown => result.content[0]?.text;

describe('a server that asks by tasks', () => {
  it('[TASK25-004][TASK25-006] puts its question as a task of the client, and comes back for the answer', async () => {
    const { server } = createTaskServer({ askAsTasks: true });
    const asked: RawMessage[] = [];
    const peer = await RawPeer.open(server, {
      capabilities: TAKES_BOTH,
      onRequest: (message) => {
        asked.push(message);
        return message.method === 'elicitation/create' ? { task: TASK } : ANSWER;
      },
    });
    expect(text(await peer.call('tools/call', { name: 'asks', arguments: {} }))).toBe('accept Ann');
    expect(asked).toMatchObject([
      { method: 'elicitation/create', params: { message: 'Who?', task: {} } },
      { method: 'tasks/result', params: { taskId: 'theirs' } },
    ]);
  });

  it('[TASK25-005] puts it as a plain request to a client that does not list that kind of request', async () => {
    for (const tasks of [undefined, { requests: { sampling: { createMessage: {} } } }]) {
      const { server } = createTaskServer({ askAsTasks: true });
      const asked: RawMessage[] = [];
      const peer = await RawPeer.open(server, {
        capabilities: { elicitation: {}, ...(tasks && { tasks }) },
        onRequest: (message) => {
          asked.push(message);
          return ANSWER;
        },
      });
      expect(text(await peer.call('tools/call', { name: 'asks', arguments: {} }))).toBe('accept Ann');
      expect(asked).toHaveLength(1);
      expect(asked[0]?.params.task).toBeUndefined();
    }
  });

  it('takes an answer that came at once, and refuses one that fits nothing', async () => {
    const { server } = createTaskServer({ askAsTasks: true });
    const answers: JsonObject[] = [ANSWER, { task: 'none' }];
    const peer = await RawPeer.open(server, { capabilities: TAKES_BOTH, onRequest: () => answers.shift() });
    expect(text(await peer.call('tools/call', { name: 'asks', arguments: {} }))).toBe('accept Ann');
    expect((await peer.call('tools/call', { name: 'asks', arguments: {} })).isError).toBe(true);
  });

  it('[TASK25-034] cancels what it no longer wants by tasks/cancel', async () => {
    const { server } = createTaskServer({ askAsTasks: true });
    const peer = await RawPeer.open(server, {
      capabilities: TAKES_BOTH,
      onRequest: ({ method }) =>
        method === 'elicitation/create' ? { task: TASK } : method === 'tasks/cancel' ? { ...TASK, status: 'cancelled' } : undefined,
    });
    void peer.request('tools/call', { name: 'asks', arguments: {} }, 'gone');
    await peer.nextOf('tasks/result');
    peer.notify('notifications/cancelled', { requestId: 'gone' });
    expect((await peer.nextOf('tasks/cancel')).params).toMatchObject({ taskId: 'theirs' });
  });

  it('asks as ever in the modern era', async () => {
    const { server } = createTaskServer({ askAsTasks: true });
    const peer = await RawPeer.open(server, { version: MODERN, capabilities: TAKES_BOTH });
    const asked = await peer.call('tools/call', { name: 'asks', arguments: {} });
    expect(asked.resultType).toBe('input_required');
  });
});
