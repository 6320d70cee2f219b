/** The feature table over WebSocket, in both eras. */

import { describe, expect, it, vi } from 'vitest';
import type { Logger } from '@mortise/jsonrpc-core';
import { McpServer } from '@mortise/server';
import { connect, createFeatureServer, info, serve } from './support/feature-server.ts';

const ERAS = ['modern', 'legacy'] as const;

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

it.each([undefined, 'own'])('tells faults of handlers to its logger where the server has none (%s)', async (name) => {
  const keep = (kept: unknown[]): Logger => ({ log: (_level, _line, data) => void kept.push(data?.['error']) });
  const [own, ofSockets]: [unknown[], unknown[]] = [[], []];
  const failing = new McpServer(info, name === undefined ? {} : { logger: keep(own) });
  failing.registerTool('fail', {}, () => {
    throw new TypeError('a fault within');
  });
  const client = await connect((await serve(failing, { logger: keep(ofSockets) })).url);
  expect(await client.callTool('fail')).toMatchObject({ isError: true });
  const fault = [expect.objectContaining({ message: 'a fault within' }) as Error];
  expect([own, ofSockets]).toEqual(name ? [fault, []] : [[], fault]);
});

it('writes faults to standard error where neither the server nor what serves it has a logger', async () => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    const { httpServer, url } = await serve(createFeatureServer().server);
    expect(await (await connect(url)).callTool('fail')).toMatchObject({ isError: true });
    httpServer.emit('error', new Error('too many open files'));
    expect(written.mock.calls.join('')).toMatch(
      /^error: .*\n? *(?:error: )?Error: it failed\n\s+at .*feature-server.*\nerror: The HTTP server failed \{ error: 'Error: too many open files' \}\n/s,
    );
  } finally {
    written.mockRestore();
  }
});

describe.for(ERAS)('MCP over WebSocket, %s', (era) => {
  const start = async (options: Parameters<typeof connect>[1] = {}) => {
    const features = createFeatureServer();
    const serving = await serve(features.server);
    return { ...features, serving, client: await connect(serving.url, { era, ...options }) };
  };

  it('lists tools over several pages', async () => {
    const { client } = await start();
    expect(client.era).toBe(era);
    expect((await client.listTools()).tools).toHaveLength(2);
    expect((await collect(client.tools())).map(({ name }) => name)).toEqual(expect.arrayContaining(['add', 'roots']) as string[]);
  });

  it('answers a call with structured output, and one that fails', async () => {
    const { client } = await start();
    expect((await client.callTool('add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 });
    expect(await client.callTool('fail')).toMatchObject({ isError: true, content: [{ text: 'it failed' }] });
    await expect(client.callTool('nothing')).rejects.toMatchObject({ code: 'ERR_REMOTE' });
  });

  it('reads a resource and one of a template', async () => {
    const { client } = await start();
    expect((await client.readResource('docs://readme')).contents).toMatchObject([{ text: '# Hello' }]);
    expect((await client.readResource('book://Emma')).contents).toMatchObject([{ text: 'by Emma' }]);
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([{ uriTemplate: 'book://{title}' }]);
  });

  it('gets a prompt and completes its argument', async () => {
    const { client } = await start();
    expect((await client.getPrompt('greet', { name: 'Ada' })).messages).toMatchObject([{ content: { text: 'Greet Ada' } }]);
    const { completion } = await client.complete({ ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'name', value: 'A' } });
    expect(completion.values).toEqual(['Ada', 'Alan']);
  });

  it('tells progress before the answer', async () => {
    const { client } = await start();
    const steps: number[] = [];
    await client.callTool('steps', {}, { onProgress: ({ progress }) => void steps.push(progress) });
    expect(steps.at(-1)).toBe(3);
  });

  it('[ROBUSTNESS-9] a cancelled call reaches the handler', async () => {
    const { client, stopped } = await start();
    const controller = new AbortController();
    const call = client.callTool('wait', {}, { signal: controller.signal, onProgress: () => controller.abort(new Error('enough')) });
    await expect(call).rejects.toThrow('enough');
    expect(await stopped).toMatchObject({ code: 'ERR_CANCELLED' });
  });

  it('tells of changed lists and updated resources', async () => {
    const { client, server } = await start();
    const events = client.listen({ toolsListChanged: true, resourceSubscriptions: ['docs://readme'] })[Symbol.asyncIterator]();
    expect((await events.next()).value?.method).toBe('notifications/subscriptions/acknowledged');
    server.registerTool('another', {}, () => 'x');
    expect((await events.next()).value?.method).toBe('notifications/tools/list_changed');
    await server.sendResourceUpdated({ uri: 'docs://readme' });
    expect((await events.next()).value).toMatchObject({ method: 'notifications/resources/updated', params: { uri: 'docs://readme' } });
  });

  it('asks the user, the model and the roots', async () => {
    const { client } = await start({
      elicitation: { form: async () => ({ action: 'accept', content: { name: 'Ada' } }) },
      sampling: async () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'Hi!' } }),
      roots: [{ uri: 'file:///project' }],
    });
    expect((await client.callTool('ask')).content).toMatchObject([{ text: 'Hello Ada' }]);
    expect((await client.callTool('sample')).content).toMatchObject([{ text: expect.stringContaining('Hi!') as string }]);
    expect((await client.callTool('roots')).content).toMatchObject([{ text: 'file:///project' }]);
  });

  it('[TRAN-002][TRAN-003] carries text with newlines, and messages of a megabyte, unchanged', async () => {
    const { client } = await start();
    for (const text of ['a\nb\r\n\u2028 \u{1f600}', 'x'.repeat(1024 * 1024)]) {
      expect((await client.callTool('echo', { text })).content).toEqual([{ type: 'text', text }]);
    }
  });

  it('[ROBUSTNESS-3] keeps the answers of many clients and calls apart', async () => {
    const { serving } = await start();
    const clients = await Promise.all(Array.from({ length: 5 }, () => connect(serving.url, { era })));
    const sums = await Promise.all(
      Array.from({ length: 500 }, async (_, n) => {
        const client = clients[n % clients.length];
        return (await client?.callTool('add', { a: n, b: 1 }))?.structuredContent;
      }),
    );
    expect(sums).toEqual(Array.from({ length: 500 }, (_, n) => ({ sum: n + 1 })));
  });
});

describe('one port', () => {
  it('serves both eras at once, and finds out which a client may speak', async () => {
    const { server } = createFeatureServer();
    const { url } = await serve(server);
    const [detected, legacy] = await Promise.all([connect(url), connect(url, { era: 'legacy' })]);
    expect([detected.era, legacy.era]).toEqual(['modern', 'legacy']);
  });
});
