/** Peers that break rules, do not read, or are gone. */

import { once } from 'node:events';
import fc from 'fast-check';
import type { JsonRpcMessage, Logger, ServerConnection, Transport } from '@mortise/jsonrpc-core';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { McpClient } from '@mortise/client';
import { McpServer } from '@mortise/server';
import { describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import type { AddressInfo } from 'node:net';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { closeLater, connect, createFeatureServer, info, serve } from './support/feature-server.ts';
import { closeCodeOf, frameOf, upgrade } from './support/raw-client.ts';

const { server } = createFeatureServer();
const TEXT = 1;
const BINARY = 2;
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

/** Lets everything that is under way happen. */
async function turns(count = 30): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A server's end by hand: the transport of the one client. */
async function serveByHand(
  options: Parameters<typeof serve>[1] = {},
): Promise<{ port: number; url: string; accepted: Promise<Transport> }> {
  let accept: (transport: Transport) => void = () => undefined;
  const accepted = new Promise<Transport>((resolve) => {
    accept = resolve;
  });
  const connectable = {
    async connect(transport: Transport): Promise<ServerConnection> {
      const closed = new Promise<void>((resolve) => {
        transport.onclose = resolve;
      });
      await transport.start();
      accept(transport);
      const close = (): Promise<void> => transport.close();
      return { closed, drain: close, close, [Symbol.asyncDispose]: close };
    },
  };
  return { ...(await serve(connectable, options)), accepted };
}

async function openRaw(url: string): Promise<WebSocket> {
  const ws = new WebSocket(url, 'mcp', { perMessageDeflate: false });
  closeLater(() => ws.terminate());
  await once(ws, 'open');
  return ws;
}

/** Resolves once the far end has read what a socket has sent it, such as its answer to a ping. */
async function wasRead(ws: WebSocket): Promise<void> {
  const answered = once(ws, 'pong');
  ws.ping();
  await answered;
}

describe('frames that are no messages', () => {
  const frames = [
    ['a binary frame', frameOf(BINARY, PING), 1003],
    ['a text frame that is not UTF-8', frameOf(TEXT, new Uint8Array([0x22, 0xc3, 0x28, 0x22])), 1007],
    ['a message that says it is too long', frameOf(TEXT, '{', { length: 2 ** 40 }), 1009],
    [
      'a message that is too long in pieces',
      Buffer.concat([frameOf(TEXT, 'x'.repeat(600), { isLast: false }), frameOf(0, 'x'.repeat(600))]),
      1009,
    ],
    ['a reserved opcode', frameOf(5, ''), 1002],
    ['a continuation of nothing', frameOf(0, 'x'), 1002],
  ] as const;
  it.each(frames)('[ROBUSTNESS-5] ends the connection for %s, and says why', async (_name, frame, code) => {
    const { port, url } = await serve(server, { maxMessageBytes: 1024 });
    const { socket, ended } = await upgrade(port);
    socket.write(frame);
    await once(socket, 'data');
    // A client answers a close frame with one of its own.
    socket.write(frameOf(8, new Uint8Array([0x03, 0xe8])));
    expect(closeCodeOf(await ended)).toBe(code);
    const next = await connect(url);
    expect((await next.callTool('add', { a: 1, b: 1 })).structuredContent).toEqual({ sum: 2 });
  });

  it('reads a message in pieces, with a ping between them', async () => {
    const { port } = await serve(server);
    const { socket } = await upgrade(port);
    const [head, tail] = [PING.slice(0, 10), PING.slice(10)];
    socket.write(Buffer.concat([frameOf(TEXT, head, { isLast: false }), frameOf(9, 'p'), frameOf(0, tail)]));
    let text = '';
    while (!text.includes('"id":1')) text += String((await once(socket, 'data'))[0]);
    expect(text).toContain('{"jsonrpc":"2.0","id":1');
  });

  it('[ROBUSTNESS-4] answers garbage with -32700 and reads on', async () => {
    const { url } = await serve(server);
    const ws = await openRaw(url);
    const answers: JsonRpcMessage[] = [];
    ws.on('message', (data: Buffer) => void answers.push(JSON.parse(data.toString()) as JsonRpcMessage));
    ws.send('{"jsonrpc": oops');
    ws.send('[');
    ws.send(PING);
    while (answers.length < 3) await once(ws, 'message');
    expect(answers).toMatchObject([{ error: { code: -32700 } }, { error: { code: -32700 } }, { id: 1 }]);
  });

  it('[ROBUSTNESS-7] are told with the bytes that they have', async () => {
    const { url, accepted } = await serveByHand();
    const ws = await openRaw(url);
    const transport = await accepted;
    const told = new Promise<number | undefined>((resolve) => {
      transport.onmessage = (_message, given) => resolve(given?.bytes);
    });
    ws.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'a', params: { text: '漢'.repeat(1000) } }));
    expect(await told).toBeGreaterThan(3000);
  });

  it('[ROBUSTNESS-5] survives any bytes in the place of frames', async () => {
    const { port, url } = await serve(server, { maxMessageBytes: 4096 });
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom(0, 1, 2, 8, 9, 10),
        fc.boolean(),
        async (bytes, opcode, isFramed) => {
          const { socket, ended } = await upgrade(port);
          socket.end(isFramed ? frameOf(opcode, bytes) : bytes);
          await ended;
        },
      ),
      { numRuns: 150 },
    );
    expect((await (await connect(url)).callTool('add', { a: 1, b: 1 })).structuredContent).toEqual({ sum: 2 });
  });

  it('[ROBUSTNESS-4] answers every request with an id, whatever JSON is around it', async () => {
    const { url } = await serve(server);
    const ws = await openRaw(url);
    const ids = new Set<unknown>();
    ws.on('message', (data: Buffer) => void ids.add((JSON.parse(data.toString()) as { id?: unknown }).id));
    const expected: string[] = [];
    for (const [index, noise] of fc.sample(fc.json({ maxDepth: 4 }), 300).entries()) {
      ws.send(noise);
      ws.send(JSON.stringify({ jsonrpc: '2.0', id: `r${index}`, method: 'tools/call', params: JSON.parse(noise) as unknown }));
      expected.push(`r${index}`);
    }
    while (!expected.every((id) => ids.has(id))) await once(ws, 'message');
    expect(ws.readyState).toBe(WebSocket.OPEN);
  });
});

it('[ROBUSTNESS-7] bounds what calls in flight have brought together', async () => {
  const own = new McpServer(info, { maxInFlightBytes: 10_000 });
  let go: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  own.registerTool('hold', { inputSchema: z.object({ text: z.string() }) }, async () => {
    await held;
    return 'held';
  });
  const client = await connect((await serve(own)).url);
  const text = 'x'.repeat(8_000);
  const first = client.callTool('hold', { text });
  await expect(client.callTool('hold', { text })).rejects.toThrow(/maxInFlightBytes is 10000/);
  go();
  expect((await first).content).toMatchObject([{ text: 'held' }]);
});

describe('a peer that does not read', () => {
  const big = { jsonrpc: '2.0', method: 'x', params: { pad: 'x'.repeat(256 * 1024) } } as const;

  it("[ROBUSTNESS-7] makes the server's send wait, which goes on when it reads", async () => {
    const { url, accepted } = await serveByHand();
    const ws = await openRaw(url);
    const transport = await accepted;
    ws.pause();
    let sent = 0;
    let isWaiting = false;
    let waiting: Promise<void> = Promise.resolve();
    while (!isWaiting && sent < 500) {
      waiting = transport.send(big);
      sent++;
      isWaiting = await Promise.race([waiting.then(() => false), turns(20).then(() => true)]);
    }
    expect(isWaiting).toBe(true);
    let received = 0;
    ws.on('message', () => received++);
    ws.resume();
    await waiting;
    while (received < sent) await once(ws, 'message');
    expect(received).toBe(sent);
  });

  it('[ROBUSTNESS-7] is cut with 1013 when it is sent ever more without waiting', async () => {
    const errors: unknown[] = [];
    const { url, accepted } = await serveByHand();
    const ws = await openRaw(url);
    const transport = await accepted;
    transport.onerror = (error) => void errors.push(error);
    ws.pause();
    const sends = Array.from({ length: 200 }, () => transport.send(big));
    const outcomes = await Promise.allSettled(sends);
    expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true);
    expect(errors).toMatchObject([{ code: 'ERR_SOCKET_CLOSED', closeCode: 1013 }]);
  });

  it('[ROBUSTNESS-7] is not read itself any more, so that the answers to its questions do not pile up', async () => {
    const { server: own } = createFeatureServer();
    let called = 0;
    own.registerTool('blob', {}, () => (called++, 'x'.repeat(256 * 1024)));
    const { url } = await serve(own);
    const ws = await openRaw(url);
    ws.send(
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}',
    );
    await once(ws, 'message');
    ws.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    ws.pause();
    const pad = 'p'.repeat(32 * 1024);
    for (let id = 1; id <= 1000; id++)
      ws.send(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"blob","_meta":{"pad":"${pad}"}}}`);
    let before = -1;
    while (called !== before) {
      before = called;
      await turns(200);
    }
    expect(called).toBeLessThan(500);
    const ids = new Set<unknown>();
    ws.on('message', (data: Buffer) => void ids.add((JSON.parse(data.toString()) as { id?: unknown }).id));
    ws.resume();
    while (ids.size < 1000) await once(ws, 'message');
    expect(called).toBe(1000);
  });

  it('[ROBUSTNESS-7] is not answered all questions of one read at once', async () => {
    const { url, accepted } = await serveByHand();
    const ws = await openRaw(url);
    const transport = await accepted;
    let asked = 0;
    const answer = { jsonrpc: '2.0', id: 1, result: { pad: 'x'.repeat(1024 * 1024) } } as const;
    transport.onmessage = () => {
      asked++;
      void transport.send(answer).catch(() => undefined);
    };
    ws.pause();
    // Short enough to be read at once; each answer alone fills the queue.
    for (let id = 1; id <= 300; id++) ws.send(PING.replace('1', String(id)));
    let before = -1;
    while (asked !== before) {
      before = asked;
      await turns(200);
    }
    expect(asked).toBeLessThan(100);
    const seen: unknown[] = [];
    ws.on('message', (data: Buffer) => void seen.push(data.length));
    ws.resume();
    while (seen.length < 300) await once(ws, 'message');
    expect(asked).toBe(300);
  });

  it('[ROBUSTNESS-9] is cut when nothing moves for 30 seconds', async () => {
    const clock = new FakeClock();
    const { url, accepted } = await serveByHand({ clock, heartbeatMs: 0 });
    const ws = await openRaw(url);
    const transport = await accepted;
    const errors: unknown[] = [];
    transport.onerror = (error) => void errors.push(error);
    ws.pause();
    // Less than the bound of what may wait, and more than the network takes.
    const sends = Promise.allSettled(Array.from({ length: 60 }, () => transport.send(big)));
    await turns();
    // The network took what it could in the first span, and in one of the next it took nothing.
    while (errors.length === 0) {
      clock.advance(30_000);
      await turns();
    }
    expect(errors).toMatchObject([{ code: 'ERR_SOCKET_CLOSED', closeCode: 1013 }]);
    clock.advance(2_000);
    expect((await sends).some(({ status }) => status === 'rejected')).toBe(true);
  });
});

describe('a peer that is gone', () => {
  it('[ROBUSTNESS-9] is noticed by the server within two heartbeats, and one that answers is kept', async () => {
    const clock = new FakeClock();
    const serving = await serve(server, { clock });
    const dead = await upgrade(serving.port);
    const alive = await openRaw(serving.url);
    expect(serving.count).toBe(2);
    for (let beat = 0; beat < 2; beat++) {
      const pinged = once(alive, 'ping');
      clock.advance(15_000);
      await pinged;
      await wasRead(alive);
    }
    await dead.ended;
    while (serving.count > 1) await turns(1);
    for (let beat = 0; beat < 3; beat++) {
      const pinged = once(alive, 'ping');
      clock.advance(15_000);
      await pinged;
      await wasRead(alive);
    }
    expect(serving.count).toBe(1);
  });

  it('[ROBUSTNESS-9] is noticed by the client, whose calls are lost with the reason', async () => {
    const clock = new FakeClock();
    const listener = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false, handleProtocols: () => 'mcp' });
    closeLater(() => {
      for (const ws of listener.clients) ws.terminate();
      listener.close();
    });
    await once(listener, 'listening');
    const transport = webSocketTransport(`ws://127.0.0.1:${(listener.address() as AddressInfo).port}`, { clock });
    const errors: unknown[] = [];
    const closed = new Promise<void>((resolve) => {
      transport.onclose = resolve;
    });
    transport.onerror = (error) => void errors.push(error);
    await transport.start();
    clock.advance(15_000);
    await turns();
    clock.advance(15_000);
    await closed;
    expect(errors).toMatchObject([{ code: 'ERR_SOCKET_CLOSED', closeCode: 1006, endsChannel: true }]);
  });

  it('[ROBUSTNESS-9] leaves no connection behind, though three hundred leave in mid-call', async () => {
    const serving = await serve(server);
    const sockets = await Promise.all(Array.from({ length: 300 }, () => openRaw(serving.url)));
    for (const ws of sockets) {
      ws.send(PING);
      ws.terminate();
    }
    while (serving.count > 0) await turns(1);
    expect(serving.count).toBe(0);
  });
});

describe('a lost connection', () => {
  it.each(['modern', 'legacy'] as const)(
    '[ROBUSTNESS-10] loses the calls in flight with an error that says so; the next one and subscriptions come back (%s)',
    async (era) => {
      const { server: own } = createFeatureServer();
      const { httpServer, url } = await serve(own);
      const sockets = new Set<{ destroy(): void }>();
      httpServer.on('upgrade', (_request, socket) => sockets.add(socket));
      const client = await McpClient.connect(webSocketTransport(url), info, { era });
      closeLater(() => client.close());
      const events = client.listen({ toolsListChanged: true })[Symbol.asyncIterator]();
      await events.next();
      const inFlight = client.callTool('wait', {}, { onProgress: () => sockets.forEach((socket) => socket.destroy()) });
      await expect(inFlight).rejects.toMatchObject({
        code: 'ERR_CONNECTION_LOST',
        cause: { cause: { code: 'ERR_SOCKET_CLOSED', closeCode: 1006 } },
      });
      expect((await events.next()).value?.method).toBe('notifications/subscriptions/acknowledged');
      expect((await client.callTool('add', { a: 2, b: 2 })).structuredContent).toEqual({ sum: 4 });
      own.registerTool('later', {}, () => 'x');
      expect((await events.next()).value?.method).toBe('notifications/tools/list_changed');
    },
  );
});

describe('shutting down', () => {
  it('refuses the new with 503, lets calls in flight finish, and closes with 1001', async () => {
    const { server: own } = createFeatureServer();
    let finish: (text: string) => void = () => undefined;
    const started = new Promise<void>((resolve) => {
      own.registerTool('slow', {}, () => {
        resolve();
        return new Promise<string>((done) => {
          finish = done;
        });
      });
    });
    const serving = await serve(own);
    const ws = await openRaw(serving.url);
    const client = await connect(serving.url, { restart: false });
    const call = client.callTool('slow');
    await started;
    const closed = once(ws, 'close');
    const closing = serving.close({ drainMs: 5_000 });
    expect((await upgrade(serving.port)).status).toBe(503);
    finish('done');
    expect((await call).content).toMatchObject([{ text: 'done' }]);
    expect((await closed)[0]).toBe(1001);
    await closing;
    await expect(connect(serving.url, { restart: false })).rejects.toThrow();
  });

  it('rejects with the reason of a signal that aborts before it listens, and gives the port back', async () => {
    const { port, close } = await serve(server);
    await close();
    const controller = new AbortController();
    const reason = new Error('not now');
    const serving = serve(server, { port, signal: controller.signal });
    controller.abort(reason);
    await expect(serving).rejects.toBe(reason);
    expect((await serve(server, { port })).port).toBe(port);
  });

  it('[ROBUSTNESS-5] logs what goes wrong with its HTTP server, and serves on', async () => {
    const logged: string[] = [];
    const { url, httpServer } = await serve(server, { logger: { log: (_level, line) => void logged.push(line) } });
    httpServer.emit('error', new Error('too many open files'));
    expect(logged).toEqual(['The HTTP server failed']);
    expect((await (await connect(url)).callTool('add', { a: 1, b: 1 })).structuredContent).toEqual({ sum: 2 });
  });

  it('[ROBUSTNESS-5] ends the other connections where one fails at it', async () => {
    const logged: string[] = [];
    let failing = true;
    const connectable = {
      async connect(transport: Transport): Promise<ServerConnection> {
        const connection = await server.connect(transport);
        if (!failing) return connection;
        failing = false;
        const fail = (): Promise<void> => Promise.reject(new Error('secret failure'));
        return { ...connection, closed: connection.closed, drain: fail, close: fail };
      },
    };
    const serving = await serve(connectable, { logger: { log: (_level, line) => void logged.push(line) } });
    await openRaw(serving.url);
    const other = once(await openRaw(serving.url), 'close');
    await serving.close();
    expect((await other)[0]).toBe(1001);
    expect([logged, serving.count]).toEqual([['The server failed to end a connection'], 0]);
  });

  it('closes with its signal, and with 1011 where the server refuses to connect', async () => {
    const controller = new AbortController();
    const serving = await serve(server, { signal: controller.signal });
    const ws = await openRaw(serving.url);
    const closed = once(ws, 'close');
    controller.abort();
    expect((await closed)[0]).toBe(1001);
    const logged: unknown[] = [];
    const logger: Logger = { log: (...line) => void logged.push(line) };
    const refusing = await serve({ connect: () => Promise.reject(new Error('no')) }, { logger });
    const refused = new WebSocket(refusing.url, 'mcp');
    const [code, reason] = (await once(refused, 'close')) as [number, Buffer];
    expect([code, String(reason)]).toEqual([1011, 'the server could not serve the connection']);
    expect(logged).toEqual([['error', 'A WebSocket could not be served', { error: 'Error: no' }]]);
  });
});
