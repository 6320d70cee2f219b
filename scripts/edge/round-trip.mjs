/**
 * A server and a client in one runtime, in both eras: what the browser's and the edge runtime's tests run. It is bundled as
 * it stands and must therefore need nothing but the packages.
 */

import { connectInMemory } from '@mortise/client/in-memory';
import { McpServer } from '@mortise/server';
import { z } from 'zod';

/** The server that every runtime here talks to. */
export function createServer() {
  const server = new McpServer({ name: 'edge', version: '1.0.0' });
  server.registerTool(
    'add',
    { description: 'Adds', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ structuredContent: { sum: a + b } }),
  );
  // A plain JSON Schema: its validator may not need `eval`, which edge runtimes forbid.
  const inputSchema = { type: 'object', properties: { name: { type: 'string', minLength: 1 } }, required: ['name'] };
  server.registerTool('greet', { description: 'Greets', inputSchema }, ({ name }) => `Hello, ${name}.`);
  server.registerResource('motto', 'edge://motto', { mimeType: 'text/plain' }, () => 'Joined by interface.');
  server.registerPrompt('ask', { description: 'Asks' }, () => 'What is a mortise?');
  return server;
}

/**
 * @param {'legacy' | 'modern'} era
 * @returns {Promise<Record<string, unknown>>} What came back, by what was asked.
 */
export async function roundTrip(era) {
  return useServer(await connectInMemory(createServer(), { era }));
}

/**
 * Asks everything, and closes the client.
 *
 * @param {import('@mortise/client').McpClient} client
 * @returns {Promise<Record<string, unknown>>} What came back, by what was asked.
 */
export async function useServer(client) {
  try {
    const sum = await client.callTool('add', { a: 1, b: 2 });
    const greeting = await client.callTool('greet', { name: 'edge' });
    const refused = await client.callTool('greet', { name: '' }).catch((error) => ({ isError: true, code: error.rpcCode }));
    const { contents } = await client.readResource('edge://motto');
    const { messages } = await client.getPrompt('ask');
    return {
      sum: sum.structuredContent,
      greeting: greeting.content[0].text,
      refused: refused.isError === true,
      motto: contents[0].text,
      question: messages[0].content.text,
    };
  } finally {
    await client.close();
  }
}

/** What `roundTrip` must give. */
export const expected = {
  sum: { sum: 3 },
  greeting: 'Hello, edge.',
  refused: true,
  motto: 'Joined by interface.',
  question: 'What is a mortise?',
};
