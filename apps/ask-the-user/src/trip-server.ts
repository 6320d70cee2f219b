/** One server with one tool, written once: it asks the user, the client for its folders, and the user's model. */

import { McpServer, type McpServerOptions } from '@mortise/server';
import { z } from 'zod';

/** What books; a real one would be a service. Its counter shows that nothing is booked twice. */
export interface Desk {
  booked: number;
}

export function createTripServer(desk: Desk = { booked: 0 }, options: McpServerOptions = {}): McpServer {
  const server = new McpServer({ name: 'trips', version: '1.0.0' }, options);

  server.registerTool('plan_trip', { description: 'Plans a trip', inputSchema: { city: z.string() } }, async ({ city }, ctx) => {
    // The two oldest revisions have no forms.
    const answer = ctx.client.capabilities.elicitation
      ? await ctx.elicit({ message: `How many nights in ${city}?`, requestedSchema: { nights: z.int().min(1).max(30).default(2) } })
      : ({ action: 'accept', content: { nights: 2 } } as const);
    if (answer.action !== 'accept') return `Nothing planned: the user said ${answer.action}`;
    const { nights } = answer.content;

    const room = await ctx.once('book', (idempotencyKey) => `room ${++desk.booked} (${idempotencyKey.length > 0 ? 'once' : 'again'})`);

    const [{ roots }, { content }] = await Promise.all([
      ctx.listRoots(),
      ctx.sample({
        messages: [{ role: 'user', content: { type: 'text', text: `A plan for ${nights} nights in ${city}` } }],
        maxTokens: 100,
      }),
    ]);
    const plan = 'text' in content ? String(content['text']) : '';
    return `${room}; ${plan}; keep it in ${roots[0]?.uri ?? 'no folder'}`;
  });

  server.registerTool('bookings', { description: 'Tells how often a room was booked' }, () => String(desk.booked));
  return server;
}
