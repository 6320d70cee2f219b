/** Streams of the legacy era that break off, and how they are gone on with. */

import { StreamableHTTPClientTransport } from '@mortise/transport-http/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { answerHandshake, hear, note, request, SESSION, shakeHands, VERSION } from './support/legacy.ts';
import { type EventStream, ScriptedHttp, type Visit } from './support/scripted-http.ts';
import { SENDERS } from './support/senders.ts';
import { turns, until } from './support/wait.ts';

let server: ScriptedHttp;
beforeEach(async () => {
  server = await ScriptedHttp.listen();
});
afterEach(() => server.close());

describe.each(SENDERS)('over $name', ({ options }) => {
  let clock: FakeClock;
  let transport: StreamableHTTPClientTransport;
  let heard: ReturnType<typeof hear>;

  beforeEach(() => {
    clock = new FakeClock();
    vi.spyOn(Math, 'random').mockReturnValue(0);
    transport = new StreamableHTTPClientTransport(server.url, { clock, ...options });
    heard = hear(transport);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await transport.close();
  });

  /** Lets the client wait for its next attempt, and then makes the wait pass. @returns How long it would have been. */
  async function passWait(): Promise<number> {
    await until(() => clock.running > 0);
    const [delayMs = 0] = clock.delaysMs;
    clock.advance(delayMs);
    return delayMs;
  }

  /** A session whose first GET, the stream of the session, is refused; further ones are the test's. */
  async function open(): Promise<void> {
    answerHandshake(server);
    await shakeHands(transport);
    await until(() => server.visits.some(({ method }) => method === 'GET'));
    await turns(3);
    heard.messages.length = 0;
    const unseen: Visit[] = [];
    server.on('GET', (visit) => void unseen.push(visit));
    nextGet = async () => {
      await until(() => unseen.length > 0);
      return unseen.shift() as Visit;
    };
  }

  let nextGet: () => Promise<Visit>;

  describe('the stream of a request', () => {
    beforeEach(open);

    it('[HTTP-036] is gone on with from an event whose id is not ASCII', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).stream().send(note('a'), 'ereignis-中').end();
      await passWait();
      const get = await nextGet();
      expect(Buffer.from(String(get.headers['last-event-id']), 'latin1').toString()).toBe('ereignis-中');
      get.stream().send({ jsonrpc: '2.0', id: 1, result: {} }, 'e4').end();
      await sent;
    });

    it('fails at once where the last event has an id that no header can carry', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).stream().send(note('a'), 'e1').send(note('b'), 'e\u0001').end();
      await expect(sent).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
      expect([clock.running, server.visits.filter(({ method }) => method === 'GET').length]).toEqual([0, 1]);
    });

    it('[ROBUSTNESS-10] is given up where the server wants it back in a time that is too long to be a number', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).stream().event({ id: 'e1', data: '', retryMs: 1e20 }).end();
      await expect(sent).rejects.toMatchObject({ message: expect.stringContaining('the limit is 5 minutes') });
    });

    it('[HTTP-036] is gone on with by GET, from the last event, in the session and its version', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).stream().event({ id: 'e1', data: '' }).send(note('a'), 'e2').end();
      expect(await passWait()).toBe(500);
      const get = await nextGet();
      expect(get.headers).toMatchObject({
        'last-event-id': 'e2',
        'mcp-session-id': SESSION,
        'mcp-protocol-version': VERSION,
        accept: 'text/event-stream',
      });
      get.stream().send(note('b'), 'e3').send({ jsonrpc: '2.0', id: 1, result: {} }, 'e4').end();
      await sent;
      expect(heard.messages).toEqual([note('a'), note('b'), { jsonrpc: '2.0', id: 1, result: {} }]);
      expect(heard.errors).toEqual([]);
    });

    it('[HTTP-036] is gone on with where the connection broke, too', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      const visit = await server.next();
      visit.stream().send(note('a'), 'e1');
      await until(() => heard.messages.length === 1);
      visit.break();
      await passWait();
      (await nextGet()).stream().send({ jsonrpc: '2.0', id: 1, result: {} });
      await sent;
      expect(heard.messages).toHaveLength(2);
    });

    it('[HTTP-030] notes the id of an event without data, and delivers nothing for it', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).stream().event({ id: 'primed', retryMs: 700, data: '' }).end();
      expect(await passWait()).toBe(700);
      const get = await nextGet();
      expect(get.headers['last-event-id']).toBe('primed');
      get.stream().send({ jsonrpc: '2.0', id: 1, result: {} });
      await sent;
      expect(heard).toMatchObject({ messages: [{ id: 1 }], errors: [] });
    });

    it('[HTTP-033] polls as often as it takes, and waits each time as long as the server wants', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).stream().event({ id: 'p0', retryMs: 2_000, data: '' }).end();
      for (let n = 1; n <= 20; n++) {
        expect(await passWait()).toBe(2_000);
        const get = await nextGet();
        expect(get.headers['last-event-id']).toBe(`p${n - 1}`);
        get
          .stream()
          .event({ id: `p${n}`, data: '' })
          .end();
      }
      await passWait();
      (await nextGet()).stream().send({ jsonrpc: '2.0', id: 1, result: {} });
      await sent;
    });

    it('[HTTP-033] makes no attempt before the time has come', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).stream().event({ id: 'p', retryMs: 5_000, data: '' }).end();
      await until(() => clock.running > 0);
      const before = server.visits.length;
      clock.advance(4_999);
      await turns();
      expect(server.visits).toHaveLength(before);
      clock.advance(1);
      (await nextGet()).stream().send({ jsonrpc: '2.0', id: 1, result: {} });
      await sent;
    });

    it('[ROBUSTNESS-10] gives up where the server wants to wait longer than five minutes', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).stream().event({ id: 'p', retryMs: 300_001, data: '' }).end();
      await expect(sent).rejects.toMatchObject({ code: 'ERR_STREAM_GIVEN_UP' });
      expect(clock.running).toBe(0);
    });

    it('is lost where it broke off before any event', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      const visit = await server.next();
      visit.stream().send(note('a'));
      await until(() => heard.messages.length === 1);
      visit.break();
      await expect(sent).rejects.toMatchObject({
        code: 'ERR_CONNECTION_CLOSED',
        message: expect.stringContaining('the server may or may not have handled the request'),
      });
      await turns();
      expect(clock.running).toBe(0);
    });

    it('is lost where an event with an empty id takes the last one back', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).stream().send(note('a'), 'e1').write('id\ndata:\n\n').end();
      await expect(sent).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    });

    it.each([400, 404, 405, 410])('is lost where the server does not give it again (%i)', async (status) => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).stream().event({ id: 'p', data: '' }).end();
      await passWait();
      (await nextGet()).reply(status);
      await expect(sent).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED', message: expect.stringContaining(String(status)) });
      expect(heard.closes).toBe(0);
    });

    it.each([408, 429, 500, 502, 503])('is asked for again after a %i', async (status) => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).stream().event({ id: 'p', data: '' }).end();
      expect(await passWait()).toBe(500);
      (await nextGet()).reply(status);
      expect(await passWait()).toBe(1_000);
      (await nextGet()).reply(status, { 'retry-after': '7' });
      expect(await passWait()).toBe(7_000);
      (await nextGet()).stream().send({ jsonrpc: '2.0', id: 1, result: {} });
      await sent;
    });

    it('is asked for again where the server cannot be reached, ten times at most', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      const settled = sent.catch((error: unknown) => error);
      (await server.next()).stream().event({ id: 'p', data: '' }).end();
      await until(() => clock.running > 0);
      server.refuse(true);
      server.server.closeIdleConnections();
      const delays: number[] = [];
      for (let n = 0; n < 10; n++) delays.push(await passWait());
      expect(await settled).toMatchObject({ code: 'ERR_STREAM_GIVEN_UP' });
      expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000, 15_000, 15_000]);
      server.refuse(false);
    });

    it('is not asked for again once the request is cancelled', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).stream().event({ id: 'p', data: '' }).end();
      await until(() => clock.running > 0);
      const cancelled = transport.send(note('notifications/cancelled', { requestId: 1 }));
      (await server.next()).accept();
      await Promise.all([cancelled, sent]);
      expect(clock.running).toBe(0);
    });

    it('is not asked for again once the transport is closed', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      const settled = sent.catch((error: unknown) => error);
      (await server.next()).stream().event({ id: 'p', data: '' }).end();
      await until(() => clock.running > 0);
      await transport.close();
      expect(await settled).toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
      expect(clock.running).toBe(0);
    });

    it('delivers nothing twice, and nothing after the answer', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      const stream = (await server.next()).stream();
      stream.send(note('a'), 'e1').send({ jsonrpc: '2.0', id: 1, result: {} }, 'e2').send(note('late'), 'e3');
      await sent;
      stream.end();
      await turns();
      expect(heard.messages).toEqual([note('a'), { jsonrpc: '2.0', id: 1, result: {} }]);
      expect(clock.running).toBe(0);
    });

    it('reports an event that is not JSON, and reads on', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next())
        .stream()
        .event({ data: 'oops' })
        .event({ event: 'ping', data: 'x' })
        .send({ jsonrpc: '2.0', id: 1, result: {} })
        .end();
      await sent;
      expect(heard.errors).toEqual([expect.objectContaining({ code: 'ERR_PARSE' })]);
    });
  });

  describe('the stream of the session', () => {
    let streams: EventStream[];
    beforeEach(async () => {
      streams = [];
      answerHandshake(server, { getStream: (stream) => void streams.push(stream) });
      await shakeHands(transport);
      await until(() => streams.length === 1);
    });

    it('[HTTP-036] is opened again from the last event', async () => {
      streams[0]?.send(note('a'), 'g1').end();
      expect(await passWait()).toBe(500);
      await until(() => streams.length === 2);
      expect(streams[1]?.visit.headers['last-event-id']).toBe('g1');
      streams[1]?.send(note('b'));
      await until(() => heard.messages.length === 3);
    });

    it('is opened again without one where there was none', async () => {
      streams[0]?.send(note('a'));
      await until(() => heard.messages.length === 2);
      streams[0]?.visit.break();
      await passWait();
      await until(() => streams.length === 2);
      expect(streams[1]?.visit.headers).not.toHaveProperty('last-event-id');
    });

    it('[ROBUSTNESS-10] is opened calmly where the server says "retry: 0" and ends it each time', async () => {
      const delays: number[] = [];
      for (let n = 0; n < 8; n++) {
        await until(() => streams.length === n + 1);
        streams[n]?.event({ id: `g${n}`, retryMs: 0, data: '' }).end();
        delays.push(await passWait());
      }
      expect(Math.min(...delays)).toBe(500);
    });

    it('[ROBUSTNESS-10] is opened ever more slowly where the server ends it without a word', async () => {
      const delays: number[] = [];
      for (let n = 0; n < 5; n++) {
        await until(() => streams.length === n + 1);
        streams[n]?.end();
        delays.push(await passWait());
      }
      expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000]);
    });

    it('[ROBUSTNESS-10] is given up with an error where the server wants to wait longer than five minutes', async () => {
      streams[0]?.event({ id: 'g', retryMs: 3_600_000, data: '' }).end();
      await until(() => heard.errors.length === 1);
      expect(heard.errors[0]).toMatchObject({ code: 'ERR_STREAM_GIVEN_UP' });
      expect(clock.running).toBe(0);
      expect(heard.closes).toBe(0);
    });

    it('is opened once more when the server has been heard of after it was given up', async () => {
      streams[0]?.event({ id: 'g', retryMs: 3_600_000, data: '' }).end();
      await until(() => heard.errors.length === 1);
      const sent = transport.send(request(1, 'tools/list'));
      (await server.next()).result({});
      await sent;
      await until(() => streams.length === 2);
      expect(streams[1]?.visit.headers).not.toHaveProperty('last-event-id');
    });

    it('is reported where the server does not give it again', async () => {
      server.on('GET', (visit) => visit.reply(405));
      streams[0]?.end();
      await passWait();
      await until(() => heard.errors.length === 1);
      expect(heard.errors[0]).toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 405 });
    });

    it('is closed with the transport', async () => {
      await transport.close();
      await streams[0]?.visit.over;
      expect(streams[0]?.visit.wasLeft).toBe(true);
      expect(clock.running).toBe(0);
    });
  });
});
