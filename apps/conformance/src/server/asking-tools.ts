/** Tools that ask the client's model or user, in the form that works in either era. */

import type { McpServer } from '@mortise/server';
import { z } from 'zod';

const MAX_TOKENS = 100;

export function addAskingTools(server: McpServer): void {
  server.registerTool(
    'test_sampling',
    { description: "Asks the client's model", inputSchema: { prompt: z.string() } },
    async ({ prompt }, ctx) => {
      const reply = await ctx.sample({ messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens: MAX_TOKENS });
      return `The model said: ${JSON.stringify(reply.content)}`;
    },
  );

  server.registerTool(
    'test_elicitation',
    { description: 'Asks the user for a name and an address', inputSchema: { message: z.string() } },
    async ({ message }, ctx) => {
      const answer = await ctx.elicit({
        message,
        requestedSchema: {
          type: 'object',
          properties: {
            username: { type: 'string', description: 'How the user is called' },
            email: { type: 'string', description: 'Where the user gets mail' },
          },
          required: ['username', 'email'],
        },
      });
      return `action: ${answer.action}, content: ${JSON.stringify(answer.content ?? {})}`;
    },
  );

  server.registerTool('test_missing_capability', { description: 'Needs a client that samples' }, async (ctx) => {
    const reply = await ctx.sample({ messages: [{ role: 'user', content: { type: 'text', text: 'Hello?' } }], maxTokens: MAX_TOKENS });
    return JSON.stringify(reply.content);
  });

  server.registerTool('test_streaming_elicitation', { description: 'Reports progress, then asks the user' }, async (ctx) => {
    await ctx.progress({ progress: 1, total: 2 });
    const { action } = await ctx.elicit({ message: 'Go on?', requestedSchema: { ok: z.boolean() } });
    return `action: ${action}`;
  });
}
