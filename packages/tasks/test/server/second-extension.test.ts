import { describe, expect, it } from 'vitest';
import type { JsonObject } from '@mortise/jsonrpc-core';
import type { BusMessage, HandlerRun, ServerExtension } from '@mortise/protocol/contracts';
import { McpServer } from '@mortise/server';
import { createTasks } from '@mortise/tasks/server';
import { MODERN, RawPeer } from '../support/raw-peer.ts';

const ID = 'com.example/receipts';

/** Another extension on the same seams: it answers calls by a receipt, runs the tool later, and tells who asked for it. */
function createReceipts(): ServerExtension & { settle(): Promise<void> } {
  const waiting: (() => Promise<void>)[] = [];
  return {
    id: ID,
    settings: { version: 1 },
    resultTypes: ['receipt'],
    answers: ['tools/call'],
    toolOptions: ['receipt'],
    toolDefinition: ({ receipt }) => (receipt === true ? { 'com.example/receipt': true } : {}),
    context: ({ call }) => ({ hasReceipt: call === undefined }),
    install(host) {
      host.intercept('tools/call', async (params, call, next) => {
        const name = params['name'] as string;
        if (host.authorizeTool(name, call)?.['receipt'] !== true) return next();
        const receipt = `r${waiting.length}`;
        const record = {
          tool: name,
          arguments: {},
          principal: call.principal,
          revision: call.revision.version,
          clientCapabilities: call.clientCapabilities,
          scopes: [],
        };
        const run: HandlerRun = {
          signal: new AbortController().signal,
          ask: () => Promise.reject(new Error('nobody is there')),
          once: async (key, fn) => fn(key),
          report: async () => undefined,
        };
        waiting.push(async () => {
          const result = await host.runTool(record, run);
          await host.publish({ topic: `receipt:${receipt}`, principal: call.principal, payload: { receipt, result } });
        });
        return { resultType: 'receipt', receipt };
      });
      host.addMethod('receipts/count', { eras: ['legacy', 'modern'] }, () => ({ count: waiting.length }));
      host.addFilter({
        key: 'receipts',
        async accept(wish, _call, { send, ended }) {
          for (const receipt of wish as string[]) {
            const onEvent = ({ payload }: BusMessage): void => send('notifications/receipts', payload as JsonObject);
            ended.addEventListener('abort', await host.subscribe(`receipt:${receipt}`, onEvent, () => undefined));
          }
          return wish;
        },
      });
    },
    async settle() {
      for (const run of waiting.splice(0)) await run();
    },
  };
}

describe('another extension beside tasks', () => {
  it('uses the same seams: results of its own, tool options, context, methods, filters and tools that run from records', async () => {
    const receipts = createReceipts();
    const server = new McpServer({ name: 's', version: '1' }, { extensions: [createTasks(), receipts] });
    server.registerTool(
      'later',
      { receipt: true } as object,
      (ctx) => `receipt ${String((ctx as unknown as { hasReceipt: boolean }).hasReceipt)}`,
    );
    server.registerTool('task', { execution: { taskSupport: 'optional' } }, () => 'task');
    const peer = await RawPeer.open(server, { version: MODERN });
    expect((await peer.call('server/discover')).capabilities.extensions).toEqual({
      'io.modelcontextprotocol/tasks': {},
      [ID]: { version: 1 },
    });
    expect((await peer.call('tools/list')).tools[0]).toMatchObject({ name: 'later', 'com.example/receipt': true });
    const { resultType, receipt } = await peer.call('tools/call', { name: 'later' });
    expect({ resultType, receipt }).toEqual({ resultType: 'receipt', receipt: 'r0' });
    const { taskId } = await peer.start('task');
    expect((await peer.call('receipts/count')).count).toBe(1);
    void peer.request('subscriptions/listen', { notifications: { receipts: [receipt], taskIds: [taskId] } }, 'sub');
    await peer.nextOf('notifications/subscriptions/acknowledged');
    await receipts.settle();
    expect((await peer.nextOf('notifications/receipts')).params).toMatchObject({
      receipt,
      result: { content: [{ text: 'receipt true' }] },
    });
    expect((await peer.nextOf('notifications/tasks', ({ status }) => status === 'completed')).params.taskId).toBe(taskId);
  });
});
