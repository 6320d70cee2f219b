/** The real client and the real server over real sockets, in every revision. */

import { McpClient } from '@mortise/client';
import { REVISIONS } from '@mortise/protocol';
import { McpServer } from '@mortise/server';
import { httpTransport, SSEClientTransport, StreamableHTTPClientTransport } from '@mortise/transport-http/client';
import { type HttpServing, serveHttp } from '@mortise/transport-http/node';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SENDERS } from './support/senders.ts';

const info = { name: 'test', version: '1.0.0' };
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function createServer(): McpServer {
  const server = new McpServer({ name: 'calculator', version: '1.0.0' });
  server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } }, ({ a, b }) => ({
    structuredContent: { sum: a + b },
  }));
  server.registerTool('count', { inputSchema: { to: z.number() } }, async ({ to }, ctx) => {
    for (let n = 1; n <= to; n++) await ctx.progress(n, to);
    return 'counted';
  });
  return server;
}

async function serve(options: Parameters<typeof serveHttp>[1] = { port: 0 }): Promise<HttpServing> {
  const serving = await serveHttp(createServer(), options);
  closing.push(() => serving.close());
  return serving;
}

const eraMemory = new Map();

describe.each(SENDERS)('over $name', ({ options }) => {
  describe.each(REVISIONS)('in $version', ({ version, era }) => {
    async function connect(source: Parameters<typeof McpClient.connect>[0]): Promise<McpClient> {
      const client = await McpClient.connect(source, info, { protocolVersion: version, eraMemory });
      closing.push(() => client.close());
      return client;
    }

    it('calls tools with progress', async () => {
      const { url } = await serve();
      const client = await connect(httpTransport(url, options));
      expect(client.protocolVersion).toBe(version);
      const { structuredContent, content } = await client.callTool('add', { a: 1, b: 2 });
      expect(structuredContent ?? JSON.parse((content[0] as { readonly text: string }).text)).toEqual({ sum: 3 });
      const steps: unknown[] = [];
      await client.callTool('count', { to: 5 }, { onProgress: ({ progress }) => void steps.push(progress) });
      // Servers may leave steps out, but not the first and the last.
      expect(steps).toEqual([...new Set(steps as number[])].sort());
      expect([steps[0], steps.at(-1)]).toEqual([1, 5]);
    });

    it('is served by the class that MCP users know', async () => {
      const { url } = await serve();
      const transport = new StreamableHTTPClientTransport(new URL(url), options);
      const client = await connect(transport);
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['add', 'count']);
      expect(transport.sessionId === undefined).toBe(era === 'modern');
    });

    it('is served without sessions', async () => {
      const { url } = await serve({ port: 0, sessions: false });
      const client = await connect(httpTransport(url, options));
      expect((await client.listTools()).tools).toHaveLength(2);
    });
  });

  it('speaks HTTP+SSE by its class', async () => {
    const serving = await serve({ port: 0, sse: true });
    const client = await McpClient.connect(new SSEClientTransport(new URL('/sse', serving.url), options), info, {
      eraMemory,
      era: 'legacy',
    });
    closing.push(() => client.close());
    const { structuredContent } = await client.callTool('add', { a: 1, b: 2 });
    expect(structuredContent).toEqual({ sum: 3 });
  });

  it('finds out the revision by itself', async () => {
    const { url } = await serve();
    const client = await McpClient.connect(httpTransport(url, options), info, { eraMemory });
    closing.push(() => client.close());
    expect(client.era).toBe('modern');
  });
});
