/** A custom transport, made of the parts of this package: MCP over a Unix domain socket. */

import { createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { McpClient } from '@mortise/client';
import { REVISIONS } from '@mortise/protocol';
import { McpServer } from '@mortise/server';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makeFolder, removeFolders } from './fixture.ts';
import { connectTo, socketTransport } from './stream-pair.ts';

interface WireMessage {
  readonly jsonrpc: string;
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly _meta?: object };
}

let listener: Server;
let socketPath: string;
/** Every byte that crossed the socket towards the server, and back. */
let wire: { toServer: string; fromServer: string };

beforeEach(async () => {
  const server = new McpServer({ name: 'socket', version: '1.0.0' });
  server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => `${a + b}\n`);
  wire = { toServer: '', fromServer: '' };
  socketPath = path.join(await makeFolder(), 'mcp.sock');
  listener = createServer({ allowHalfOpen: true }, (socket) => {
    tap(socket);
    void server.connect(socketTransport(async () => socket));
  });
  await new Promise<void>((resolve) => listener.listen(socketPath, resolve));
});
afterEach(() => new Promise((resolve) => listener.close(resolve)));
afterAll(removeFolders);

function tap(socket: Socket): void {
  socket.on('data', (chunk: Buffer) => (wire.toServer += chunk.toString('utf8')));
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  socket.write = (...args: unknown[]) => {
    wire.fromServer += String(args[0]);
    return write(...args);
  };
}

function linesOf(text: string): readonly WireMessage[] {
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as WireMessage);
}

describe('a custom transport over a Unix domain socket', () => {
  it.for(REVISIONS.map((revision) => revision.version))(
    '[TRAN-002][TRAN-003][TRAN-005] carries the messages, lifecycle and metadata of %s, a line each',
    async (protocolVersion) => {
      const client = await McpClient.connect(
        () => socketTransport(() => connectTo(socketPath)),
        { name: 'test', version: '1.0.0' },
        { protocolVersion },
      );
      expect((await client.callTool('add', { a: 1, b: 2 })).content).toEqual([{ type: 'text', text: '3\n' }]);
      await client.close();
      const [toServer, fromServer] = [linesOf(wire.toServer), linesOf(wire.fromServer)];
      expect([...toServer, ...fromServer].every((message) => message.jsonrpc === '2.0')).toBe(true);
      const methods = toServer.map((message) => message.method);
      const revision = REVISIONS.find((each) => each.version === protocolVersion);
      if (revision?.era === 'legacy') {
        expect(methods).toEqual(['initialize', 'notifications/initialized', 'tools/call']);
      } else {
        expect(methods).toEqual(['server/discover', 'tools/call']);
        expect(toServer.every((message) => message.params?._meta)).toBe(true);
      }
      expect(fromServer.map((message) => message.id)).toEqual(
        toServer.flatMap((message) => (message.id === undefined ? [] : [message.id])),
      );
    },
  );

  it('serves any number of clients at once', async () => {
    const connect = (): Promise<McpClient> =>
      McpClient.connect(() => socketTransport(() => connectTo(socketPath)), { name: 'test', version: '1.0.0' });
    const clients = await Promise.all([connect(), connect(), connect()]);
    const results = await Promise.all(clients.map((client, n) => client.callTool('add', { a: n, b: 10 })));
    expect(results.map((result) => result.content)).toMatchObject([[{ text: '10\n' }], [{ text: '11\n' }], [{ text: '12\n' }]]);
    await Promise.all(clients.map((client) => client.close()));
  });
});
