/** Peers that send or take next to nothing: what they cost is bounded. */

import { Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { createHttpHandler } from '@mortise/transport-http/server';
import { initializeRequest, LegacyClient } from '../support/legacy-client.ts';
import { modernHeaders, modernRequest, modernTool } from '../support/modern.ts';
import { send } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { TestEventStore } from '../support/memory-stores.ts';
import { gate, progress, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const MIB = 1024 * 1024;

function heldBytes(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

let serving: Serving | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await serving?.close();
  serving = undefined;
});

describe.each(FACES)('a body that comes byte by byte, over the %s face', (face) => {
  it('[ROBUSTNESS-7] takes what it is long, and no hundred times that', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const incoming = new Promise<Socket>((resolve) => serving?.server.once('connection', resolve));
    const socket = connect(serving.port, '127.0.0.1');
    sockets.push(socket.on('error', () => undefined));
    const head = 'POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
    socket.write(head);
    const connection = await incoming;
    const before = heldBytes();
    const pieces = '1\r\n \r\n'.repeat(300_000);
    socket.write(pieces);
    await until(() => connection.bytesRead === head.length + pieces.length);
    // Not at once: what has been read passes through the platform's own queues.
    await until(() => heldBytes() - before < 8 * MIB, 'a held body that takes less than 8 MiB');
  });
});

describe('a web request whose body stops', () => {
  it('[ROBUSTNESS-9] is let go of with its 408', async () => {
    const clock = new FakeClock();
    const handler = createHttpHandler(new ScriptedEndpoint(), { clock, stallMs: 30_000 });
    const request = modernRequest('tools/call', { name: 'echo' });
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"json')),
      cancel: () => {
        isCancelled = true;
      },
    });
    const headers = { 'content-type': 'application/json', accept: 'application/json', ...modernHeaders(request) };
    const answer = handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body, duplex: 'half' } as RequestInit));
    await clock.untilScheduled();
    clock.advance(30_250);
    expect([(await answer).status, isCancelled]).toEqual([408, true]);
    await handler.close();
  });
});

describe.each(FACES)('what waits for a reader, over the %s face', (face) => {
  const LONG = 'x'.repeat(600_000);

  it('[HTTP-037][ROBUSTNESS-4] replays more than the bound of a stream, at the pace of its reader', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('long', async ({ call }) => {
      for (const value of [1, 2, 3, 4]) void call.send({ ...progress('t', value), params: { progressToken: 't', progress: value, LONG } });
      await Promise.resolve();
      return text('finished');
    });
    const eventStore = new TestEventStore();
    serving = await serve(face, endpoint, { eventStore });
    const client = await LegacyClient.open(serving.port);
    const answer = await client.tool('long');
    const id = (await answer.event())?.id ?? '';
    answer.leave();
    await until(() => eventStore.events.length === 6);
    const body = await (await client.get({ 'last-event-id': id })).text();
    expect([...body.matchAll(/"progress":(\d)/g)].map(([, value]) => Number(value))).toEqual([1, 2, 3, 4]);
    expect(body).toContain('finished');
  });

  it('[ROBUSTNESS-4] gives a reader every answer of HTTP+SSE, however many are ready together', async () => {
    const endpoint = new ScriptedEndpoint();
    const go = gate();
    endpoint.tools.set('long', async () => {
      await go.promise;
      return text(LONG);
    });
    serving = await serve(face, endpoint, { sse: true });
    const { port, handler } = serving;
    const stream = await send(port, { method: 'GET', path: '/sse', headers: { accept: 'text/event-stream' } });
    const path = (await stream.event())?.data ?? '';
    const say = (message: unknown): Promise<unknown> =>
      send(port, { path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(message) });
    await say(initializeRequest('2024-11-05', 0));
    expect(await stream.nextMessage()).toMatchObject({ id: 0 });
    for (let id = 1; id <= 10; id++) await say({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'long' } });
    await until(() => handler.counts.calls === 10);
    go.open();
    const ids: unknown[] = [];
    while (ids.length < 10) ids.push((await stream.nextMessage())?.['id'] ?? 'the stream was cut');
    expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    stream.leave();
  });

  it.each([false, true])('[BATCH-003][ROBUSTNESS-4] gives a reader every answer of a batch by stream (event store: %s)', async (hasLog) => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('long', () => text(LONG));
    serving = await serve(face, endpoint, hasLog ? { eventStore: new TestEventStore() } : {});
    const client = await LegacyClient.open(serving.port, '2025-03-26');
    const batch = Array.from({ length: 10 }, (_, at) => ({ jsonrpc: '2.0', id: at + 1, method: 'tools/call', params: { name: 'long' } }));
    const answer = await client.post(batch, { accept: 'text/event-stream' });
    const ids = (await answer.events()).flatMap(({ data }) => (data === '' ? [] : [(JSON.parse(data) as { id: unknown }).id]));
    expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('does not keep a sender waiting for room that there is', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('steps', async ({ call }) => {
      for (let value = 0; value < 50; value++) await call.send(progress('t', value));
      return text('done');
    });
    serving = await serve(face, endpoint);
    expect(await (await modernTool(serving.port, 'steps')).text()).toContain('done');
  });
});

describe('an answer that its client does not read', () => {
  it.each(['application/json', 'text/event-stream'])('[ROBUSTNESS-7] is cut after the stall time: %s', async (accept) => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('huge', () => text('x'.repeat(32 * MIB)));
    serving = await serve('node', endpoint, { stallMs: 200 });
    const connection = new Promise<Socket>((resolve) => serving?.server.once('connection', resolve));
    const answer = await modernTool(serving.port, 'huge', {}, { accept });
    answer.message.pause();
    const socket = await connection;
    await new Promise((resolve) => socket.once('close', resolve));
    expect(socket.writableLength > 0 || answer.raw.length < 32 * MIB).toBe(true);
  });

  it('may take for ever where no time is set', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('huge', () => text('x'.repeat(32 * MIB)));
    const told: string[] = [];
    serving = await serve('node', endpoint, { stallMs: Infinity, logger: { log: (_level, line) => told.push(line) } });
    const answer = await modernTool(serving.port, 'huge', {}, { accept: 'application/json' });
    expect((await answer.text()).length).toBeGreaterThan(32 * MIB);
    expect(told).toEqual([]);
  });

  it('leaves the time of a connection as it was once the answer is out', async () => {
    const endpoint = new ScriptedEndpoint();
    const go = gate();
    endpoint.tools.set('huge', () => text('x'.repeat(32 * MIB)));
    endpoint.tools.set('later', async () => {
      await go.promise;
      return text('there');
    });
    serving = await serve('node', endpoint, { stallMs: 60_000 });
    const { port, server } = serving;
    server.keepAliveTimeout = 0;
    const connection = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const call = (name: string): Promise<string> => {
      const request = modernRequest('tools/call', { name });
      const headers = { 'content-type': 'application/json', accept: 'application/json', ...modernHeaders(request) };
      return new Promise((resolve, reject) => {
        const out = httpRequest({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers, agent }, (message) => {
          let body = '';
          message.on('data', (chunk) => (body += String(chunk))).on('end', () => resolve(body));
        });
        out.on('error', reject).end(JSON.stringify(request));
      });
    };
    expect((await call('huge')).length).toBeGreaterThan(32 * MIB);
    const later = call('later');
    await until(() => serving?.handler.counts.calls === 1);
    expect((await connection).timeout ?? 0).toBe(0);
    go.open();
    expect(await later).toContain('there');
    agent.destroy();
  });
});
