/** Servers that mean harm: everything that is read has a bound, and nothing hangs. Each title begins with its rule of docs/robustness.md. */

import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Connection } from '@mortise/jsonrpc-core/connection';
import { SSEClientTransport, StreamableHTTPClientTransport } from '@mortise/transport-http/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { answerHandshake, hear, note, request, shakeHands } from './support/legacy.ts';
import { callRequest, complete, modernRequest } from './support/modern.ts';
import { ScriptedHttp, type Visit } from './support/scripted-http.ts';
import { SENDERS } from './support/senders.ts';
import { turn, until } from './support/wait.ts';

const KIB = 1024;
const MAX = 64 * KIB;
const filler = 'x'.repeat(16 * KIB);

let server: ScriptedHttp;
beforeEach(async () => {
  server = await ScriptedHttp.listen();
});
afterEach(() => server.close());

/** Writes one text over and over until the client leaves. @returns How many bytes it took. */
async function flood(visit: Visit, text: string): Promise<number> {
  const { response } = visit;
  let bytes = 0;
  while (!response.destroyed) {
    bytes += text.length;
    if (!response.write(text)) await Promise.race([once(response, 'drain'), visit.over]);
    else await turn();
  }
  return bytes;
}

describe.each(SENDERS)('over $name', ({ options }) => {
  let transport: StreamableHTTPClientTransport;
  let heard: ReturnType<typeof hear>;
  let clock: FakeClock;
  beforeEach(() => {
    clock = new FakeClock();
    transport = new StreamableHTTPClientTransport(server.url, { maxMessageBytes: MAX, clock, ...options });
    heard = hear(transport);
  });
  afterEach(() => transport.close());

  describe('a modern exchange', () => {
    it.each([
      ['a body without an end', { 'content-type': 'application/json' }, filler],
      ['an event without an end', { 'content-type': 'text/event-stream' }, `data: ${filler}\n`],
      ['a line without an end', { 'content-type': 'text/event-stream' }, filler],
    ])('[ROBUSTNESS-7] refuses %s', async (_, headers, text) => {
      const exchange = transport.exchange(callRequest('a'));
      const visit = await server.next();
      visit.response.writeHead(200, headers);
      const [bytes, outcome] = await Promise.all([flood(visit, text), exchange.catch((error: unknown) => error)]);
      expect(outcome).toMatchObject({ code: 'ERR_MESSAGE_TOO_LARGE', maxBytes: MAX });
      // What the sockets hold goes beyond what is read.
      expect(bytes).toBeLessThan(16 * KIB * KIB);
    });

    it('[ROBUSTNESS-7] reads a message of exactly the bound, and of no byte more', async () => {
      const bodyOf = (length: number): string => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { pad: '' } });
        return body.replace('""', `"${'x'.repeat(length - body.length)}"`);
      };
      const fits = transport.exchange(callRequest('a', {}, 1));
      (await server.next()).reply(200, { 'content-type': 'application/json' }, bodyOf(MAX));
      expect(await fits).toMatchObject({ id: 1 });
      const exceeds = transport.exchange(callRequest('a', {}, 1));
      (await server.next()).reply(200, { 'content-type': 'application/json' }, bodyOf(MAX + 1));
      await expect(exceeds).rejects.toMatchObject({ code: 'ERR_MESSAGE_TOO_LARGE' });
    });

    it('[ROBUSTNESS-7] counts what is unpacked, or takes nothing packed', async () => {
      const exchange = transport.exchange(callRequest('a', {}, 1));
      const { response } = await server.next();
      const bomb = gzipSync(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { pad: 'x'.repeat(100 * MAX) } }));
      expect(bomb.length).toBeLessThan(MAX);
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(bomb);
      await expect(exchange).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_(MESSAGE_TOO_LARGE|CONNECTION_CLOSED)$/) });
    });

    it('[ROBUSTNESS-7] reads little of the body of an error', async () => {
      const exchange = transport.exchange(callRequest('a'));
      const visit = await server.next();
      visit.response.writeHead(500, { 'content-type': 'application/json' });
      const [bytes, outcome] = await Promise.all([flood(visit, filler), exchange.catch((error: unknown) => error)]);
      expect(outcome).toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 500 });
      expect(bytes).toBeLessThan(16 * KIB * KIB);
    });

    it('[ROBUSTNESS-7] is not kept busy by a body that nobody wants', async () => {
      await transport.start();
      const sent = transport.send(note('x'));
      const visit = await server.next();
      visit.response.writeHead(202);
      await Promise.all([flood(visit, filler), sent]);
    });

    it('[ROBUSTNESS-7] is not kept by a stream that goes on after the answer', async () => {
      const exchange = transport.exchange(callRequest('a'));
      const visit = await server.next();
      const stream = visit.stream().result(complete);
      await exchange;
      const flooded = flood(visit, ': and on, and on\n\n');
      await turn();
      clock.advance(2_000);
      await flooded;
      expect(stream.visit.wasLeft).toBe(true);
    });

    it('[ROBUSTNESS-6] refuses JSON that nests too deep', async () => {
      const exchange = transport.exchange(callRequest('a'));
      (await server.next()).reply(200, { 'content-type': 'application/json' }, '['.repeat(5_000) + ']'.repeat(5_000));
      await expect(exchange).rejects.toMatchObject({ code: 'ERR_INVALID_RESPONSE', message: expect.stringContaining('deep') });
    });

    it('[ROBUSTNESS-7] remembers no more tools than ten thousand', async () => {
      transport = new StreamableHTTPClientTransport(server.url, options);
      const tools = Array.from({ length: 10_001 }, (_, n) => ({
        name: `t${n}`,
        inputSchema: { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'A' } } },
      }));
      server.on('tools/list', (visit) => visit.result({ tools }));
      server.on('tools/call', (visit) => visit.result(complete));
      await transport.exchange(modernRequest('tools/list'));
      await transport.exchange(callRequest('t0', { a: 'x' }));
      await transport.exchange(callRequest('t1', { a: 'x' }));
      const [first, second] = server.visits.slice(-2).map(({ headers }) => headers['mcp-param-a']);
      expect([first, second]).toEqual([undefined, 'x']);
    });
  });

  describe('a legacy session', () => {
    it.each([
      ['a body without an end', { 'content-type': 'application/json' }, filler],
      ['an event without an end', { 'content-type': 'text/event-stream' }, `data: ${filler}\n`],
    ])('[ROBUSTNESS-7] refuses %s as an answer', async (_, headers, text) => {
      answerHandshake(server);
      await shakeHands(transport);
      const sent = transport.send(request(1, 'tools/call'));
      const visit = await server.next();
      visit.response.writeHead(200, headers);
      const [, outcome] = await Promise.all([flood(visit, text), sent.catch((error: unknown) => error)]);
      expect(outcome).toMatchObject({ code: 'ERR_MESSAGE_TOO_LARGE' });
    });

    it('[ROBUSTNESS-7] refuses an event without an end on the stream of the session', async () => {
      const visits: Visit[] = [];
      answerHandshake(server, { getStream: ({ visit }) => void visits.push(visit) });
      await shakeHands(transport);
      await until(() => visits.length === 1);
      await flood(visits[0] as Visit, `data: ${filler}\n`);
      expect(heard.errors).toEqual([expect.objectContaining({ code: 'ERR_MESSAGE_TOO_LARGE' })]);
      expect(heard.closes).toBe(0);
    });

    it('[ROBUSTNESS-7] opens the stream of the session anew after an event that is too long, when the server next answers', async () => {
      const visits: Visit[] = [];
      answerHandshake(server, { getStream: ({ visit }) => void visits.push(visit) });
      server.on('tools/list', (visit) => visit.result({ tools: [] }));
      await shakeHands(transport);
      for (let round = 1; round <= 3; round += 1) {
        await until(() => visits.length === round);
        const visit = visits[round - 1] as Visit;
        visit.response.write('id: 7\ndata: {"jsonrpc":"2.0","method":"notifications/a"}\n\n');
        await flood(visit, `data: ${filler}\n`);
        await until(() => heard.errors.length === round);
        clock.advance(30_000);
        for (let at = 0; at < 20; at += 1) await turn();
        expect(visits).toHaveLength(round);
        await transport.send(request(round, 'tools/list'));
      }
      await until(() => visits.length === 4);
      expect(visits.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, undefined, undefined, undefined]);
      visits[3]?.response.write('data: {"jsonrpc":"2.0","method":"notifications/b"}\n\n');
      await until(() => JSON.stringify(heard.messages).includes('notifications/b'));
      expect(heard.closes).toBe(0);
    });

    it('[ROBUSTNESS-7] refuses a session id that is too long', async () => {
      answerHandshake(server, { sessionId: 'x'.repeat(5_000) });
      await transport.start();
      await expect(shakeHands(transport.renew())).rejects.toMatchObject({ code: 'ERR_INVALID_RESPONSE' });
    });

    it('[ROBUSTNESS-5] survives a server that breaks every connection', async () => {
      answerHandshake(server);
      await shakeHands(transport);
      server.on(
        () => true,
        (visit) => visit.break(),
      );
      const outcomes = await Promise.allSettled([
        transport.send(request(1, 'a')),
        transport.send(note('b')),
        transport.send(request(2, 'c')),
      ]);
      for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'ERR_CONNECTION_CLOSED' } });
    });
  });

  it('[ROBUSTNESS-7] refuses an event without an end over HTTP+SSE, and ends', async () => {
    const sse = new SSEClientTransport(server.url, { maxMessageBytes: MAX, ...options });
    const told = hear(sse);
    const started = sse.start();
    const visit = await server.next();
    visit.stream().event({ event: 'endpoint', data: '/m' });
    await started;
    await flood(visit, `data: ${filler}\n`);
    await until(() => told.closes === 1);
    expect(told.errors).toEqual([expect.objectContaining({ code: 'ERR_MESSAGE_TOO_LARGE' })]);
  });

  it('[ROBUSTNESS-7] says over HTTP+SSE which call it was whose answer is too long', async () => {
    const connection = new Connection(new SSEClientTransport(server.url, { maxMessageBytes: MAX, ...options }));
    const started = connection.start();
    const visit = await server.next();
    const stream = visit.stream();
    stream.event({ event: 'endpoint', data: '/m' });
    await started;
    const outcome = connection.request('tools/call').catch((error: unknown) => error);
    const post = await server.next();
    post.accept();
    visit.response.write(`data: {"jsonrpc":"2.0","id":${JSON.stringify((post.message as { readonly id: unknown }).id)},"result":{"text":"`);
    await flood(visit, filler);
    expect(await outcome).toMatchObject({
      code: 'ERR_INVALID_RESPONSE',
      message: expect.stringMatching(/^The response to "tools\/call" cannot be read: .*longer than 65536 bytes/) as string,
      cause: { code: 'ERR_MESSAGE_TOO_LARGE' },
    });
    await connection.close();
  });

  it('[ROBUSTNESS-7] counts the bytes of questions that wait for their answers, over either stream', async () => {
    const params = { text: filler };
    const question = (id: string): object => ({ jsonrpc: '2.0', id, method: 'sampling/createMessage', params });
    const bounds = { maxInFlightBytes: 3.5 * filler.length, onRequest: () => new Promise<never>(() => undefined) };
    const refusal = { id: 'd', error: { message: expect.stringContaining('maxInFlightBytes') as string } };

    answerHandshake(server, { getStream: (stream) => ['a', 'b', 'c', 'd'].forEach((id) => stream.send(question(id))) });
    const streamable = new Connection(transport, bounds);
    await streamable.start();
    await streamable.request('initialize', {});
    await streamable.notify('notifications/initialized');
    const first = await server.next();
    expect(first.message).toMatchObject(refusal);
    first.accept();
    await streamable.close();

    server.on('GET', (visit) => {
      const stream = visit.stream().event({ event: 'endpoint', data: '/m' });
      for (const id of ['a', 'b', 'c', 'd']) stream.send(question(id));
    });
    const sse = new Connection(new SSEClientTransport(server.url, options), bounds);
    await sse.start();
    const second = await server.next();
    expect(second.message).toMatchObject(refusal);
    second.accept();
    await sse.close();
  });

  describe('what is no HTTP', () => {
    let raw: Server;
    let sockets: Socket[];
    let answer: (socket: Socket) => void;
    let victim: StreamableHTTPClientTransport;

    beforeEach(async () => {
      sockets = [];
      raw = createServer((socket) => {
        sockets.push(socket);
        socket.on('error', () => undefined);
        socket.once('data', () => answer(socket));
      });
      await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
      victim = new StreamableHTTPClientTransport(`http://127.0.0.1:${(raw.address() as AddressInfo).port}/mcp`, options);
    });
    afterEach(async () => {
      await victim.close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => raw.close(resolve));
    });

    const bodies = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
    it.each([
      ['a closed connection', ''],
      ['words', 'hello, I am no server\r\n\r\n'],
      ['a status line that breaks off', 'HTTP/1.1 2'],
      ['no status', 'HTTP/1.1 abc OK\r\n\r\n'],
      ['headers that break off', `${bodies}content-le`],
      ['a body that breaks off', `${bodies}content-length: 100\r\n\r\n{"jsonrpc"`],
      ['a chunk that breaks off', `${bodies}transfer-encoding: chunked\r\n\r\nff\r\n{"jsonrpc"`],
      ['a chunk of no length', `${bodies}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
      ['two lengths', `${bodies}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`],
      ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
      ['a header without an end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1024 * KIB)}`],
    ])('[ROBUSTNESS-5] rejects %s', async (_, text) => {
      answer = (socket) => socket.end(text);
      await expect(victim.exchange(callRequest('a'))).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    });

    it('[ROBUSTNESS-7] gives a call to a silent server up with its signal, and closes the connection', async () => {
      let closed: Promise<unknown> | undefined;
      answer = (socket) => {
        closed = once(socket, 'close');
        controller.abort(new Error('enough'));
      };
      const controller = new AbortController();
      await expect(victim.exchange(callRequest('a'), { signal: controller.signal })).rejects.toThrow('enough');
      await closed;
    });

    it('[ROBUSTNESS-7] reads a body that drips, and gives it up with its signal', async () => {
      const controller = new AbortController();
      answer = (socket) => {
        socket.write(`${bodies}content-length: 1000\r\n\r\n`);
        const drip = (): void => {
          if (!socket.destroyed) socket.write(' ', () => setImmediate(drip));
        };
        drip();
        controller.abort(new Error('too slow'));
      };
      await expect(victim.exchange(callRequest('a'), { signal: controller.signal })).rejects.toThrow('too slow');
      await until(() => sockets[0]?.destroyed === true);
    });
  });
});
