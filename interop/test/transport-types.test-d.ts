/** Transports that were written for the official SDKs are taken where ours are; `tsc -p interop` is the test. */

import type { Transport as TransportV2 } from '@modelcontextprotocol/client';
import type { StdioClientTransport as OfficialStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { InMemoryTransport as OfficialInMemory } from '@modelcontextprotocol/sdk/inMemory.js';
import type { StreamableHTTPServerTransport as OfficialHttp } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { McpClient } from '@mortise/client';
import { McpServer } from '@mortise/server';
import { Server } from '@mortise/server/low-level';

declare const v1: TransportV1;
declare const v2: TransportV2;
declare const inMemory: OfficialInMemory;
declare const stdio: OfficialStdio;
declare const http: OfficialHttp;

/** As users of the official SDK write one. */
class OwnTransport implements TransportV1 {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  start(): Promise<void> {
    return Promise.resolve();
  }
  send(message: JSONRPCMessage): Promise<void> {
    this.onmessage?.(message);
    return Promise.resolve();
  }
  close(): Promise<void> {
    this.onclose?.();
    return Promise.resolve();
  }
}

const info = { name: 'types', version: '1.0.0' };
const server = new McpServer(info);
const lowLevel = new Server(info);
export const connected = async (): Promise<void> => {
  for (const transport of [v1, v2, inMemory, http, new OwnTransport()]) {
    await server.connect(transport);
    await lowLevel.connect(transport);
  }
  await McpClient.connect(v1, info);
  await McpClient.connect(v2, info);
  await McpClient.connect(inMemory, info);
  await McpClient.connect(() => stdio, info);
  await McpClient.connect(() => new OwnTransport(), info);
  // @ts-expect-error What cannot send is no transport.
  await server.connect({ start: () => Promise.resolve(), close: () => Promise.resolve() });
  // @ts-expect-error Nor is what does not say when it has sent.
  await McpClient.connect({ start: () => Promise.resolve(), close: () => Promise.resolve(), send: () => 5 }, info);
};
