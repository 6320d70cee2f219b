/** Custom transports as MCP's users have them, both ways: theirs in our client and server, ours in the official ones. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { McpServer as OfficialServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport as OfficialTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { McpClient } from '@mortise/client';
import type { Transport } from '@mortise/jsonrpc-core';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { describe, expect, it } from 'vitest';
import { closeLater, connect, createFeatureServer, info, serve } from './support/feature-server.ts';

/** Written for the official SDK's interface, by its documentation. */
class PairedTransport implements OfficialTransport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  other: PairedTransport | undefined;

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    queueMicrotask(() => this.other?.onmessage?.(message));
  }

  async close(): Promise<void> {
    const { other } = this;
    this.other = undefined;
    this.onclose?.();
    await other?.close();
  }
}

function createPair(): [PairedTransport, PairedTransport] {
  const [one, two] = [new PairedTransport(), new PairedTransport()];
  [one.other, two.other] = [two, one];
  return [one, two];
}

function createOfficialServer(): OfficialServer {
  const official = new OfficialServer({ name: 'official', version: '1.0.0' });
  official.registerTool('hello', {}, () => ({ content: [{ type: 'text', text: 'hello' }] }));
  return official;
}

describe('a transport written for the official SDK', () => {
  it.each(['modern', 'legacy'] as const)('plugs into our server and client unchanged (%s)', async (era) => {
    const [near, far] = createPair();
    await createFeatureServer().server.connect(far as Transport);
    const client = await McpClient.connect(near as Transport, info, { era });
    closeLater(() => client.close());
    expect((await client.callTool('add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 });
  });
});

describe('our WebSocket transport', () => {
  it('plugs into the official client, which speaks to our server', async () => {
    const { url } = await serve(createFeatureServer().server);
    const client = new Client(info);
    await client.connect(webSocketTransport(url) as OfficialTransport);
    closeLater(() => client.close());
    expect(await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })).toMatchObject({ structuredContent: { sum: 3 } });
  });

  it('plugs into the official server, which our client speaks to', async () => {
    const { url } = await serve({
      async connect(transport) {
        const official = createOfficialServer();
        const closed = new Promise<void>((resolve) => {
          official.server.onclose = resolve;
        });
        await official.connect(transport as OfficialTransport);
        const close = (): Promise<void> => official.close();
        return { closed, drain: close, close, [Symbol.asyncDispose]: close };
      },
    });
    const client = await connect(url);
    expect(client.era).toBe('legacy');
    expect((await client.callTool('hello')).content).toMatchObject([{ text: 'hello' }]);
  });
});
