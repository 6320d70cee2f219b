/** The server that is fuzzed: every kind of feature, and handlers that do what handlers should not. Run by itself it serves over stdio. */

import { silentLogger } from '@mortise/jsonrpc-core/transport';
import { completable, McpServer, ResourceTemplate } from '@mortise/server';
import { serveStdio } from '@mortise/transport-stdio/server';
import { z } from 'zod';

const hostile: Readonly<Record<string, () => unknown>> = {
  'a cycle': () => {
    const value: Record<string, unknown> = {};
    value['self'] = value;
    return { structuredContent: value };
  },
  'a bigint': () => ({ structuredContent: { value: 10n } }),
  'a number': () => 42,
  nothing: () => undefined,
  'no error': () => {
    throw 'a string';
  },
  'getters that throw': () => {
    throw {
      get message(): string {
        throw new Error('not even this');
      },
    };
  },
  'a rejection': () => Promise.reject(new Error('refused')),
};

export function createFuzzServer(): McpServer {
  const server = new McpServer({ name: 'fuzzed', version: '1.0.0' }, { instructions: 'Break me.', logger: silentLogger });

  server.registerTool('echo', { description: 'Gives back what it gets', inputSchema: { text: z.string() } }, ({ text }) => text);
  server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } }, ({ a, b }) => ({
    structuredContent: { sum: a + b },
  }));
  server.registerTool('hostile', { inputSchema: { what: z.string() } }, ({ what }) => hostile[what]?.() as never);
  server.registerTool('report', { inputSchema: { steps: z.number().int().max(5) } }, async ({ steps }, ctx) => {
    for (let step = 1; step <= steps; step += 1) ctx.progress(step, steps);
    ctx.log('info', { steps });
    return 'done';
  });
  server.registerTool('later', {}, async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return 'later';
  });
  server.registerResource('page', 'fuzz://page', { mimeType: 'text/plain' }, () => 'A page.');
  server.registerResource(
    'item',
    new ResourceTemplate('fuzz://items/{id}', {
      list: undefined,
      complete: { id: (value) => ['one', 'two'].filter((id) => id.startsWith(value)) },
    }),
    {},
    (_uri, { id }) => `Item ${String(id)}`,
  );
  server.registerPrompt(
    'ask',
    { argsSchema: { topic: completable(z.string(), (value) => ['mortise', 'tenon'].filter((topic) => topic.startsWith(value))) } },
    ({ topic }) => `What is a ${topic}?`,
  );
  return server;
}

/** What the tool `hostile` can do. */
export const hostileDeeds: readonly string[] = Object.keys(hostile);

if (process.argv[1] === import.meta.filename) await serveStdio(createFuzzServer());
