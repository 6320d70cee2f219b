/** What the newest revision deprecates works when asked for, and is never taken up by itself. */

import { connectInMemory } from '@mortise/client/in-memory';
import { McpServer } from '@mortise/server';
import { describe, expect, it } from 'vitest';

describe.each(['legacy', 'modern'] as const)('in the %s era', (era) => {
  it('[VERS-016] a client declares neither roots nor sampling, and a server no logging, unless its program asks for them', async () => {
    const server = new McpServer({ name: 'plain', version: '1.0.0' });
    server.registerTool('tell', {}, (ctx) => ({ structuredContent: { ...ctx.client.capabilities } }));
    const client = await connectInMemory(server, { era });
    const { structuredContent } = await client.callTool('tell');
    expect(structuredContent).not.toHaveProperty('roots');
    expect(structuredContent).not.toHaveProperty('sampling');
    expect(client.serverCapabilities).not.toHaveProperty('logging');
    await client.close();
  });
});
