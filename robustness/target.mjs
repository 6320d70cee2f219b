// The server that is fuzzed: a little of everything, all of it quick.
import { completable, McpServer, ResourceTemplate } from '@mortise/server';
import { z } from 'zod';

export function createTarget() {
  const server = new McpServer({ name: 'target', version: '1.0.0' }, { pageSize: 2, capabilities: { logging: {} } });
  server.registerTool(
    'add',
    { description: 'Adds', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ structuredContent: { sum: a + b } }),
  );
  server.registerTool('echo', { description: 'Echoes', inputSchema: { text: z.string().default('nothing') } }, async ({ text }, ctx) => {
    await ctx.progress({ progress: 1, total: 2 });
    await ctx.log('info', { text: text.length });
    return text;
  });
  server.registerTool('throw', { description: 'Throws' }, () => {
    throw new Error('thrown by the tool');
  });
  const odd = { cycle: () => Object.assign([], { 0: undefined }), bigint: () => ({ structuredContent: { big: 1n } }), number: () => 42, nothing: () => undefined };
  server.registerTool('odd', { description: 'Returns what JSON cannot carry', inputSchema: { kind: z.enum(Object.keys(odd)) } }, ({ kind }) => odd[kind]());
  for (const index of [1, 2, 3, 4, 5]) server.registerResource(`item-${index}`, `item://${index}`, {}, () => `text ${index}`);
  server.registerResource(
    'greet',
    new ResourceTemplate('greet://{name}', { list: undefined, complete: { name: (value) => [`${value}a`, `${value}b`] } }),
    {},
    (_uri, { name }) => `Hello, ${name}`,
  );
  server.registerPrompt('ask', { argsSchema: { topic: completable(z.string(), (value) => [`${value}!`]) } }, ({ topic }) => `About ${topic}`);
  return server;
}
