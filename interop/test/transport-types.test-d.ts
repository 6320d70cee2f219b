/**
 * Transports that were written for the official SDKs are taken where ours are, and ours where theirs are. `tsc -p interop` is the test;
 * `transport-types.built.test.ts` repeats it with other compilers.
 */

import type { Client as ClientV2, Transport as TransportV2 } from '@modelcontextprotocol/client';
import type { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import type { StdioClientTransport as OfficialStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { InMemoryTransport as OfficialInMemory } from '@modelcontextprotocol/sdk/inMemory.js';
import type { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { StreamableHTTPServerTransport as OfficialHttp } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { McpServer as ServerV2 } from '@modelcontextprotocol/server';
import { McpClient } from '@mortise/client';
import { createInMemoryPair, InMemoryTransport, type JsonRpcMessage, type Transport } from '@mortise/jsonrpc-core';
import type { MessageInfo } from '@mortise/jsonrpc-core/transport';
import { McpServer } from '@mortise/server';
import { Server } from '@mortise/server/low-level';
import { httpTransport, SSEClientTransport, StreamableHTTPClientTransport } from '@mortise/transport-http/client';
import { StreamableHTTPServerTransport } from '@mortise/transport-http/server';
import { StdioClientTransport, stdioTransport } from '@mortise/transport-stdio/client';
import { StdioServerTransport } from '@mortise/transport-stdio/server';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';

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

/** As users of Mortise write one. */
class OwnMortiseTransport implements Transport {
  onmessage?: Transport['onmessage'];
  start(): Promise<void> {
    return Promise.resolve();
  }
  send(message: JsonRpcMessage): Promise<void> {
    this.onmessage?.(message, { principal: 'local' });
    return Promise.resolve();
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}

export const ours = async (clientV1: ClientV1, clientV2: ClientV2, serverV1: ServerV1, serverV2: ServerV2): Promise<void> => {
  const any: Transport = createInMemoryPair()[0];
  for (const transport of [
    any,
    httpTransport('http://127.0.0.1'),
    stdioTransport({ command: 'x' }),
    webSocketTransport('ws://127.0.0.1'),
  ]) {
    await clientV1.connect(transport);
    await clientV2.connect(transport);
  }
  for (const transport of [
    new StdioClientTransport({ command: 'x' }),
    new StreamableHTTPClientTransport('http://127.0.0.1'),
    new SSEClientTransport('http://127.0.0.1'),
    new OwnMortiseTransport(),
    InMemoryTransport.createLinkedPair()[0],
  ]) {
    await clientV1.connect(transport);
    await clientV2.connect(transport);
  }
  for (const transport of [any, new StdioServerTransport(), new StreamableHTTPServerTransport(), new OwnMortiseTransport()]) {
    await serverV1.connect(transport);
    await serverV2.connect(transport);
  }
  // What gets the messages may say what it takes them for, though nothing has checked them.
  any.onmessage = (message: JsonRpcMessage, about?: MessageInfo) => void [message.jsonrpc, about?.bytes];
  // @ts-expect-error Without that it has to look.
  any.onmessage = (message) => void message.jsonrpc;
};
