/** A server with all that the inspector shows. Imported it is a function; run as a program it serves over stdio. */

import { McpServer, ResourceTemplate } from '@mortise/server';
import { createTasks } from '@mortise/tasks/server';
import { serveStdio } from '@mortise/transport-stdio/server';
import { z } from 'zod';

/** HTML, a script, an escape sequence and a mark that reverses text. */
export const HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>\u001b[31mred\u202egnp';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const order = {
  customer: z.object({ name: z.string().min(1).describe('Who pays'), email: z.email().optional() }),
  lines: z.array(z.object({ article: z.string(), count: z.number().int().min(1).default(1) })).min(1),
  payment: z.union([
    z.object({ kind: z.literal('card'), number: z.string() }),
    z.object({ kind: z.literal('invoice'), days: z.number().int() }),
  ]),
  size: z.enum(['small', 'medium', 'large']),
  express: z.boolean().default(false),
  note: z.string().optional(),
  on: z.iso.date().optional(),
};

export function createEverything(): McpServer {
  const tasks = createTasks({ pollIntervalMs: 50 });
  const server = new McpServer(
    { name: 'everything', version: '1.0.0' },
    { extensions: [tasks], instructions: 'A server with one of each.', capabilities: { logging: {} } },
  );
  server.registerTool(
    'add',
    { description: 'Adds two numbers', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ structuredContent: { sum: a + b } }),
  );
  server.registerTool('order', { description: 'Takes an order', inputSchema: order }, (args) => JSON.stringify(args));
  server.registerTool('table', { description: 'Gives rows' }, () => ({
    structuredContent: { rows: [1, 2, 3].map((id) => ({ id, name: `row ${id}`, tags: ['a', 'b'] })) },
  }));
  server.registerTool('media', { description: 'An image and a sound' }, () => [
    { type: 'image', data: PIXEL, mimeType: 'image/png' },
    { type: 'audio', data: SILENCE, mimeType: 'audio/wav' },
    { type: 'text', text: '# Markdown\n\n*shown* as it is' },
  ]);
  server.registerTool('fail', { description: 'Fails' }, () => ({ content: [{ type: 'text', text: 'It is broken.' }], isError: true }));
  server.registerTool('ask', { description: 'Asks the user' }, async (ctx) => {
    const requestedSchema = { name: z.string().describe('Your name'), age: z.number().int().optional(), color: z.enum(['red', 'green']) };
    const answer = await ctx.elicit({ message: 'Who are you?', requestedSchema });
    return JSON.stringify(answer);
  });
  server.registerTool('sample', { description: 'Asks a model' }, async (ctx) => {
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'Say hello' } }];
    return JSON.stringify(await ctx.sample({ messages, maxTokens: 100 }));
  });
  server.registerTool('roots', { description: 'Asks for the roots' }, async (ctx) => JSON.stringify(await ctx.listRoots()));
  server.registerTool('wait', { description: 'Waits until it is cancelled' }, async (ctx) => {
    await ctx.progress({ progress: 1, total: 4, message: 'a quarter' });
    await new Promise((_, reject) => {
      ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error), { once: true });
    });
    return 'never';
  });
  server.registerTool('work', { description: 'Works as a task', execution: { taskSupport: 'required' } }, async (ctx) => {
    await ctx.status('half done');
    const answer = await ctx.elicit({ message: 'Go on?', requestedSchema: { sure: z.boolean() } });
    return `finished: ${answer.action}`;
  });
  server.registerTool('log', { description: 'Logs' }, async (ctx) => {
    await ctx.log.info('first line');
    await ctx.log.error(HOSTILE);
    return 'logged';
  });
  server.registerTool('blob', { description: 'A long text', inputSchema: { size: z.number() } }, ({ size }) => 'x'.repeat(size));
  server.registerTool('hostile', { title: HOSTILE, description: HOSTILE }, () => HOSTILE);
  server.registerTool('touch', { description: 'Changes a resource' }, async () => {
    await server.sendResourceUpdated({ uri: 'json://data' });
    return 'touched';
  });
  server.registerResource('readme', 'text://readme', { mimeType: 'text/markdown' }, () => '# Read me\n\n<b>bold</b>');
  server.registerResource('pixel', 'image://pixel', { mimeType: 'image/png' }, () => new Uint8Array(Buffer.from(PIXEL, 'base64')));
  server.registerResource('data', 'json://data', { mimeType: 'application/json' }, () => JSON.stringify({ a: [1, 2], b: { c: null } }));
  server.registerResource(
    'user',
    new ResourceTemplate('user://{name}', { list: undefined, complete: { name: () => ['ada', 'alan'] } }),
    {},
    (uri) => uri.href,
  );
  server.registerPrompt('greet', { description: 'Greets', argsSchema: { name: z.string() } }, ({ name }) => `Say hello to ${name}`);
  return server;
}

if (process.argv[1] === import.meta.filename) await serveStdio(createEverything());
