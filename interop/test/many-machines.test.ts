/** The official client loses its connection in the middle of a call, and comes back to another machine than the one that runs the call. */

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { MemoryMessageBus, REVISIONS } from '@mortise/protocol';
import { MemoryEventStore, MemorySessionStore } from '@mortise/protocol/edge';
import { McpServer } from '@mortise/server';
import { type HttpServing, serveHttp } from '@mortise/transport-http/node';
import { expect, it, onTestFinished } from 'vitest';

const versions = ['2025-06-18', '2025-11-25'];

it.each(versions)('[HTTP-036] the answer of a silent tool reaches the official client in %s at another machine', async (version) => {
  const shared = { messageBus: new MemoryMessageBus(), sessionStore: new MemorySessionStore(), eventStore: new MemoryEventStore() };
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const startMachine = async (): Promise<HttpServing> => {
    const revisions = REVISIONS.filter((each) => each.version === version);
    const options = { messageBus: shared.messageBus, clusterKey: new Uint8Array(32), revisions };
    const server = new McpServer({ name: 'machine', version: '1' }, options);
    server.registerTool('slow', {}, async (ctx) => {
      await ctx.progress(1);
      await finished;
      return 'done';
    });
    const serving = await serveHttp(server, { port: 0, ...shared, drainMs: 1 });
    onTestFinished(() => serving.close());
    return serving;
  };
  const machines = [await startMachine(), await startMachine()];
  let at = 0;
  const sockets = new Set<Socket>();
  let resumptions = 0;
  let onResumed = (): void => undefined;
  const resumed = new Promise<void>((resolve) => (onResumed = resolve));
  const front = createServer((near) => {
    const far = connect(Number(new URL(machines[at]?.url ?? '').port), '127.0.0.1');
    sockets.add(near);
    near.on('data', (bytes) => {
      if (at === 1 && bytes.includes('last-event-id')) resumptions++;
    });
    far.on('data', (bytes) => void (resumptions > 0 && bytes.includes('HTTP/1.1 200') && onResumed()));
    near.pipe(far).pipe(near);
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    front.close();
  });

  const client = new Client({ name: 'official', version: '1' });
  // The SDK's own class is no Transport under exactOptionalPropertyTypes.
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`)) as Transport,
  );
  onTestFinished(() => client.close());
  const cut = (): void => {
    at = 1;
    for (const socket of sockets) socket.destroy();
  };
  const result = client.callTool({ name: 'slow', arguments: {} }, undefined, { onprogress: cut });
  await resumed;
  finish();
  expect(await result).toMatchObject({ content: [{ text: 'done' }] });
});
