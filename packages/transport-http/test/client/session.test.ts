/** Sessions of the legacy era, as a server sees them and as a transport uses them. */

import { inspect } from 'node:util';
import { McpClient } from '@mortise/client';
import type { JsonObject, JsonRpcMessage, Logger } from '@mortise/jsonrpc-core';
import { withLogging } from '@mortise/jsonrpc-core/wrap';
import { REVISIONS } from '@mortise/protocol';
import { httpTransport, StreamableHTTPClientTransport } from '@mortise/transport-http/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import {
  answerHandshake,
  hear,
  initialize,
  initialized,
  initializeResult,
  note,
  request,
  SESSION,
  shakeHands,
  VERSION,
} from './support/legacy.ts';
import { type EventStream, ScriptedHttp, type Visit } from './support/scripted-http.ts';
import { SENDERS } from './support/senders.ts';
import { turns, until } from './support/wait.ts';

const BATCHING = REVISIONS.find(({ rules }) => rules.batching) ?? expect.fail('no revision has batches');

let server: ScriptedHttp;
beforeEach(async () => {
  server = await ScriptedHttp.listen();
});
afterEach(() => server.close());

describe.each(SENDERS)('a session over $name', ({ options }) => {
  let clock: FakeClock;
  let transport: StreamableHTTPClientTransport;
  let heard: ReturnType<typeof hear>;

  function open(more: ConstructorParameters<typeof StreamableHTTPClientTransport>[1] = {}): StreamableHTTPClientTransport {
    transport = new StreamableHTTPClientTransport(server.url, { clock, ...options, ...more });
    heard = hear(transport);
    return transport;
  }

  beforeEach(() => {
    clock = new FakeClock();
    open();
  });
  afterEach(() => transport.close());

  /** The requests that a test is about: those after the handshake. */
  function visitsOf(...names: readonly string[]): readonly Visit[] {
    const nameOf = ({ method, body }: Visit): string => (method === 'POST' ? String((JSON.parse(body) as JsonObject)['method']) : method);
    return server.visits.filter((visit) => names.includes(nameOf(visit)));
  }

  describe('opening', () => {
    it('[HTTP-042][HTTP-025][LIFE-011] sends the id and the version with everything after initialize, and with initialize neither', async () => {
      answerHandshake(server);
      server.on('tools/list', (visit) => visit.result({ tools: [] }));
      await shakeHands(transport);
      await transport.send(request(1, 'tools/list'));
      await until(() => visitsOf('GET').length === 1);
      await transport.close();
      const [first, ...rest] = server.visits;
      expect(first?.headers).not.toHaveProperty('mcp-session-id');
      expect(first?.headers).not.toHaveProperty('mcp-protocol-version');
      expect(rest.map(({ method }) => method).toSorted()).toEqual(['DELETE', 'GET', 'POST', 'POST']);
      for (const { headers } of rest) expect(headers).toMatchObject({ 'mcp-session-id': SESSION, 'mcp-protocol-version': VERSION });
    });

    it('[HTTP-025] reads the version from the answer where nobody tells it', async () => {
      answerHandshake(server);
      await transport.start();
      await transport.send(initialize);
      await transport.send(initialized);
      expect(visitsOf('notifications/initialized')[0]?.headers['mcp-protocol-version']).toBe(VERSION);
    });

    it.each(REVISIONS.filter(({ http }) => http.sessions))('[HTTP-028] sends the version as $version has it', async ({ version, http }) => {
      answerHandshake(server, { version });
      await shakeHands(transport, version);
      expect(visitsOf('notifications/initialized')[0]?.headers['mcp-protocol-version']).toBe(
        http.versionHeader === 'never' ? undefined : version,
      );
    });

    it('[HTTP-042] sends no id where the server gave none', async () => {
      server.on('initialize', (visit) => visit.result(initializeResult()));
      server.on('notifications/initialized', (visit) => visit.accept());
      server.on('GET', (visit) => visit.reply(405));
      await shakeHands(transport);
      await transport.close();
      expect(server.visits.some(({ headers }) => 'mcp-session-id' in headers)).toBe(false);
      expect(visitsOf('DELETE')).toHaveLength(0);
    });

    it('refuses an id that is not visible ASCII', async () => {
      server.on('initialize', (visit) => visit.result(initializeResult(), { 'mcp-session-id': 'a b' }));
      await transport.start();
      await expect(transport.send(initialize)).rejects.toMatchObject({ code: 'ERR_INVALID_RESPONSE' });
      expect(heard.messages).toEqual([]);
    });

    it('[HTTP-041] puts the id in no error and no URL', async () => {
      answerHandshake(server, { sessionId: 'very-secret-id' });
      server.on('tools/list', (visit) => visit.reply(500, { 'mcp-session-id': 'very-secret-id' }));
      await shakeHands(transport);
      const error = await transport.send(request(1, 'tools/list')).catch((caught: unknown) => caught);
      expect(JSON.stringify([error, String(error), transport.eraKey])).not.toContain('very-secret-id');
      expect(server.visits.some(({ path }) => path.includes('secret'))).toBe(false);
    });

    it('[HTTP-041] puts the id in no log, whatever fails', async () => {
      const lines: string[] = [];
      const logger: Logger = { log: (...line) => void lines.push(inspect(line, { depth: null })) };
      answerHandshake(server, { sessionId: 'very-secret-id' });
      const refuse = (visit: Visit): unknown => visit.reply(500, { 'mcp-session-id': 'very-secret-id' });
      server.on('GET', (visit) => visit.reply(401, { 'mcp-session-id': 'very-secret-id' }));
      server.on('DELETE', refuse);
      server.on('tools/call', refuse);
      server.on('tools/list', (visit) => visit.reply(404));
      const client = await McpClient.connect(
        withLogging(httpTransport(server.url, { clock, ...options }), { logger }),
        { name: 'c', version: '1' },
        { era: 'legacy', logger },
      );
      await until(() => lines.some((line) => line.includes('warning')));
      await expect(client.callTool('x')).rejects.toMatchObject({ status: 500 });
      await expect(client.listTools()).rejects.toThrow();
      await client.close();
      expect(visitsOf('initialize')).toHaveLength(2);
      expect(visitsOf('tools/call')[0]?.headers['mcp-session-id']).toBe('very-secret-id');
      expect(lines.join()).not.toContain('very-secret-id');
    });

    it('[HTTP-006][HTTP-008][HTTP-007] posts each message by itself', async () => {
      answerHandshake(server);
      await shakeHands(transport);
      server.on(
        () => true,
        (visit) => visit.accept(),
      );
      await transport.send(note('notifications/roots/list_changed'));
      await transport.send({ jsonrpc: '2.0', id: 'from-server', result: { roots: [] } });
      const [notification, response] = server.visits.slice(-2);
      expect(notification?.message).toEqual(note('notifications/roots/list_changed'));
      expect(response?.message).toEqual({ jsonrpc: '2.0', id: 'from-server', result: { roots: [] } });
      expect(response?.headers).toMatchObject({ accept: 'application/json, text/event-stream', 'content-type': 'application/json' });
    });

    it('goes on with a session that was opened before', async () => {
      answerHandshake(server, { getStream: (stream) => stream.send(note('hello')) });
      open({ sessionId: 'earlier', protocolVersion: VERSION });
      await transport.start();
      await until(() => heard.messages.length === 1);
      expect(server.visits.map(({ method }) => method)).toEqual(['GET']);
      expect(server.visits[0]?.headers).toMatchObject({ 'mcp-session-id': 'earlier', 'mcp-protocol-version': VERSION });
      expect(transport.sessionId).toBe('earlier');
    });

    it('sends nothing before the first message', async () => {
      await transport.start();
      await turns();
      expect(server.visits).toHaveLength(0);
    });
  });

  describe('answers', () => {
    beforeEach(async () => {
      answerHandshake(server);
      await shakeHands(transport);
      heard.messages.length = 0;
    });

    it('[HTTP-012] delivers an answer that is JSON', async () => {
      const sent = transport.send(request(1, 'tools/list'));
      (await server.next()).reply(200, { 'content-type': 'application/json;charset=utf-8' }, '{"jsonrpc":"2.0","id":1,"result":{}}');
      await sent;
      expect(heard.messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
    });

    it("[HTTP-012] delivers an answer that is a stream, with the server's requests and notifications before it", async () => {
      const sent = transport.send(request(1, 'tools/call'));
      const stream = (await server.next()).stream();
      stream.send(note('notifications/message')).send(request('s1', 'roots/list')).result({}).end();
      await sent;
      expect(heard.messages).toEqual([note('notifications/message'), request('s1', 'roots/list'), { jsonrpc: '2.0', id: 1, result: {} }]);
    });

    it('[BATCH-006] delivers arrays in a stream, and finds the answer in them', async () => {
      transport.setProtocolVersion(BATCHING.version);
      const sent = transport.send(request(1, 'tools/call'));
      const batch = [note('notifications/message'), { jsonrpc: '2.0', id: 1, result: {} }];
      (await server.next())
        .stream()
        .send([note('a')])
        .send(batch)
        .end();
      await sent;
      expect(heard.messages).toEqual([[note('a')], batch]);
    });

    it.each(['body', 'stream'])(
      '[BATCH-010] rejects at once where the response comes in an array, and the revision has none: %s',
      async (kind) => {
        const sent = transport.send(request(1, 'tools/call'));
        const visit = await server.next();
        const batch = [{ jsonrpc: '2.0', id: 1, result: {} }];
        if (kind === 'body') visit.json(batch);
        else visit.stream().send(batch).end();
        await expect(sent).rejects.toMatchObject({
          code: 'ERR_INVALID_RESPONSE',
          message: `The response to "tools/call" is in a batch, but protocol version ${VERSION} has no batches`,
        });
        expect(heard.messages).toEqual([]);
      },
    );

    it('[BATCH-004][BATCH-007] posts the answers to a batch as one array, with nothing else in it', async () => {
      const answers = [
        { jsonrpc: '2.0', id: 's1', result: {} },
        { jsonrpc: '2.0', id: 's2', result: {} },
      ] as const;
      const sent = transport.send(answers as unknown as JsonRpcMessage);
      const visit = await server.next();
      expect(visit.message).toEqual(answers);
      visit.accept();
      await sent;
    });

    it.each([400, 422, 500])('delivers the JSON-RPC error in the body of a %i', async (status) => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).error(-32602, status);
      await sent;
      expect(heard.messages).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'error -32602' } }]);
    });

    it('rejects a request that reached no server with the reason', async () => {
      await server.close();
      await expect(transport.send(request(1, 'tools/call'))).rejects.toMatchObject({
        code: 'ERR_CONNECTION_CLOSED',
        message: expect.stringMatching(/^POST .* got no response: /),
      });
      server = await ScriptedHttp.listen();
    });

    it('rejects a request that the server refused without an answer', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).reply(413, { 'content-type': 'text/plain' }, 'too much');
      await expect(sent).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 413 });
    });

    it('rejects a notification that the server refused', async () => {
      const sent = transport.send(note('x'));
      (await server.next()).json({ jsonrpc: '2.0', error: { code: -32600, message: 'no' } }, 400);
      await expect(sent).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 400, rpcError: { code: -32600 } });
    });

    it('[ROBUSTNESS-20] posts an answer again that the server could not take, and meanwhile sends the rest', async () => {
      const answer: JsonRpcMessage = { jsonrpc: '2.0', id: 's1', result: { action: 'accept' } };
      const sent = transport.send(answer);
      (await server.next()).reply(503);
      await sent;
      const other = transport.send(note('x'));
      (await server.next()).accept();
      await other;
      for (const [pauseMs, end] of [
        [1000, 'break'],
        [2000, 'accept'],
      ] as const) {
        await until(() => clock.delaysMs.includes(pauseMs));
        clock.advance(pauseMs);
        const visit = await server.next();
        expect(visit.message).toEqual(answer);
        visit[end]();
      }
      expect(heard.errors).toEqual([]);
    });

    it('reports an answer that the server takes at no try, and one that it refuses at once', async () => {
      const refused = transport.send({ jsonrpc: '2.0', id: 's1', result: {} });
      (await server.next()).reply(400);
      await expect(refused).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 400 });
      const sent = transport.send({ jsonrpc: '2.0', id: 's2', result: {} });
      (await server.next()).reply(500);
      await sent;
      for (const pauseMs of [1000, 2000, 4000, 8000, 16_000]) {
        await until(() => clock.delaysMs.includes(pauseMs));
        clock.advance(pauseMs);
        (await server.next()).reply(500);
      }
      await until(() => heard.errors.length === 1);
      expect(heard.errors[0]).toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 500 });
    });

    it('rejects an answer to another request', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).json({ jsonrpc: '2.0', id: 2, result: {} });
      await expect(sent).rejects.toMatchObject({ code: 'ERR_INVALID_RESPONSE' });
    });

    it('waits for an answer on the stream of the session after a 202', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).accept();
      await sent;
    });

    it('gives up on a server that does not accept a notification', async () => {
      const sent = transport.send(note('x'));
      const visit = await server.next();
      clock.advance(30_000);
      await expect(sent).rejects.toMatchObject({ code: 'ERR_TIMEOUT' });
      await visit.over;
    });

    it('[ROBUSTNESS-5] does not wait for the end of an error that answers a notification', async () => {
      const sent = transport.send(note('x'));
      const later = transport.send(request(1, 'r'));
      const visit = await server.next();
      visit.response.writeHead(400, { 'content-type': 'application/json' }).write('{');
      await until(() => clock.delaysMs.includes(2000));
      clock.advance(2000);
      await expect(sent).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 400 });
      (await server.next()).result({});
      await later;
      await visit.over;
    });

    it('keeps the order of notifications, and lets a request wait for those before it', async () => {
      const sends = [transport.send(note('n1')), transport.send(note('n2')), transport.send(request(1, 'r')), transport.send(note('n3'))];
      for (const expected of ['n1', 'n2']) {
        const visit = await server.next();
        expect(visit.message['method']).toBe(expected);
        await turns(5);
        expect(server.unseen).toBe(0);
        visit.accept();
      }
      const both = [await server.next(), await server.next()];
      expect(both.map(({ message }) => message['method'])).toEqual(['r', 'n3']);
      both[1]?.accept();
      both[0]?.result({});
      await Promise.all(sends);
    });
  });

  describe('cancelling', () => {
    it('[HTTP-018] posts the cancellation, and then closes the stream of the request', async () => {
      answerHandshake(server);
      await shakeHands(transport);
      const sent = transport.send(request(1, 'tools/call'));
      const call = await server.next();
      call.stream().send(note('notifications/message'));
      const cancelled = transport.send(note('notifications/cancelled', { requestId: 1, reason: 'enough' }));
      const cancel = await server.next();
      expect(cancel.message).toEqual(note('notifications/cancelled', { requestId: 1, reason: 'enough' }));
      await turns(5);
      expect(call.wasLeft).toBe(false);
      cancel.accept();
      await Promise.all([cancelled, sent, call.over]);
      expect(call.wasLeft).toBe(true);
    });

    it('does not send a request that is cancelled while it waits for an earlier message', async () => {
      answerHandshake(server);
      await shakeHands(transport);
      const earlier = transport.send(note('n1'));
      const visit = await server.next();
      const sends = [transport.send(request(1, 'tools/call')), transport.send(note('notifications/cancelled', { requestId: 1 }))];
      visit.accept();
      await Promise.all([earlier, ...sends]);
      const last = transport.send(note('n2'));
      (await server.next()).accept();
      await last;
      expect(visitsOf('tools/call', 'notifications/cancelled')).toEqual([]);
    });
  });

  describe('the stream of the session', () => {
    it('[HTTP-019][HTTP-020] opens it by GET once the session is initialized, and delivers what comes', async () => {
      const streams: EventStream[] = [];
      answerHandshake(server, { getStream: (stream) => streams.push(stream) });
      await transport.start();
      await transport.send(initialize);
      expect(streams).toHaveLength(0);
      await transport.send(initialized);
      await until(() => streams.length === 1);
      expect(streams[0]?.visit.headers).toMatchObject({ accept: 'text/event-stream', 'mcp-session-id': SESSION });
      streams[0]?.send(note('notifications/tools/list_changed')).send(request('s1', 'ping'));
      await until(() => heard.messages.length === 3);
      expect(heard.messages.slice(1)).toEqual([note('notifications/tools/list_changed'), request('s1', 'ping')]);
    });

    it.each([400, 404, 405, 406, 501])('[HTTP-021] takes %i for a server that has none', async (status) => {
      answerHandshake(server);
      server.on('GET', (visit) => visit.reply(status));
      server.on('tools/list', (visit) => visit.result({}));
      await shakeHands(transport);
      await until(() => visitsOf('GET').length === 1);
      await transport.send(request(1, 'tools/list'));
      clock.advance(120_000);
      await turns();
      expect(visitsOf('GET')).toHaveLength(1);
      expect(heard.errors).toEqual([]);
      expect(heard.closes).toBe(0);
    });

    it('takes a body that is no stream for a server that has none', async () => {
      answerHandshake(server);
      server.on('GET', (visit) => visit.json({}));
      await shakeHands(transport);
      await until(() => visitsOf('GET').length === 1);
      await turns();
      expect(heard.errors).toEqual([]);
    });

    it('reports a server that wants to know who asks', async () => {
      answerHandshake(server);
      server.on('GET', (visit) => visit.reply(401));
      await shakeHands(transport);
      await until(() => heard.errors.length === 1);
      expect(heard.errors[0]).toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 401 });
    });
  });

  describe('the end', () => {
    it('[HTTP-046] ends the session at the server when it closes', async () => {
      answerHandshake(server);
      await shakeHands(transport);
      await transport.close();
      expect(visitsOf('DELETE').map(({ headers }) => headers['mcp-session-id'])).toEqual([SESSION]);
      expect(heard.closes).toBe(1);
    });

    it.each([404, 405, 500])('[HTTP-047] closes although the server answers %i', async (status) => {
      answerHandshake(server);
      server.on('DELETE', (visit) => visit.reply(status));
      await shakeHands(transport);
      await transport.close();
      expect(heard).toMatchObject({ closes: 1, errors: [] });
    });

    it('does not wait for long when it closes', async () => {
      answerHandshake(server);
      server.on('DELETE', () => clock.advance(1_000));
      await shakeHands(transport);
      await transport.close();
      expect(heard).toMatchObject({ closes: 1, errors: [] });
    });

    it('leaves the session alive where it is told so', async () => {
      answerHandshake(server);
      open({ keepsSession: true });
      await shakeHands(transport);
      await transport.close();
      expect(visitsOf('DELETE')).toHaveLength(0);
      expect(transport.sessionId).toBe(SESSION);
    });

    it('[HTTP-046] ends the session on request, once', async () => {
      answerHandshake(server);
      await shakeHands(transport);
      expect(transport.sessionId).toBe(SESSION);
      await transport.terminateSession();
      expect(transport.sessionId).toBeUndefined();
      await transport.terminateSession();
      await transport.close();
      expect(visitsOf('DELETE')).toHaveLength(1);
    });

    it.each([
      { status: 405, outcome: 'takes it for an answer' },
      { status: 404, outcome: 'takes it for an answer' },
      { status: 500, outcome: 'rejects' },
    ])('[HTTP-047] terminateSession $outcome where the server answers $status', async ({ status }) => {
      answerHandshake(server);
      server.on('DELETE', (visit) => visit.reply(status));
      await shakeHands(transport);
      const ended = transport.terminateSession();
      if (status === 500) await expect(ended).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status });
      else await ended;
    });

    it('rejects what waits and closes every stream', async () => {
      answerHandshake(server, { getStream: () => undefined });
      await shakeHands(transport);
      await until(() => visitsOf('GET').length === 1);
      const sends = [transport.send(request(1, 'a')), transport.send(note('b')), transport.send(request(2, 'c'))];
      const calls = [await server.next(), await server.next()];
      calls[0]?.stream();
      const settled = Promise.allSettled(sends);
      await transport.close();
      for (const outcome of await settled) expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ERR_CONNECTION_CLOSED' } });
      await Promise.all(server.visits.map(({ over }) => over));
      expect(clock.running).toBe(0);
      await expect(transport.send(note('late'))).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    });
  });

  /** The channel ends once everybody has learnt why. */
  async function ended(): Promise<void> {
    await until(() => clock.running > 0 || heard.closes === 1);
    clock.advance(0);
    await until(() => heard.closes === 1);
  }

  describe('a session that the server has lost', () => {
    beforeEach(async () => {
      answerHandshake(server);
      await shakeHands(transport);
      await until(() => visitsOf('GET').length === 1);
    });

    it('[HTTP-045] says on 404 that the session is lost and the message was not carried out, and ends', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).json({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no such session' } }, 404);
      await expect(sent).rejects.toMatchObject({ code: 'ERR_SESSION_LOST' });
      await ended();
      expect(heard.errors).toEqual([expect.objectContaining({ code: 'ERR_SESSION_LOST', endsChannel: true })]);
      expect(visitsOf('DELETE')).toHaveLength(0);
    });

    it('[HTTP-045] takes a notification that meets a 404 for the same', async () => {
      const sent = transport.send(note('x'));
      (await server.next()).reply(404);
      await expect(sent).rejects.toMatchObject({ code: 'ERR_SESSION_LOST' });
      await ended();
    });

    it('[HTTP-045] lets what is on its way hear for itself, and sends nothing more', async () => {
      const sends = [transport.send(request(1, 'a')), transport.send(request(2, 'b')), transport.send(request(3, 'c'))];
      const settled = Promise.allSettled(sends);
      const visits = [await server.next(), await server.next(), await server.next()];
      visits[0]?.reply(404);
      await expect(sends[0]).rejects.toMatchObject({ code: 'ERR_SESSION_LOST' });
      await expect(transport.send(request(4, 'd'))).rejects.toMatchObject({ code: 'ERR_SESSION_LOST' });
      expect(heard.closes).toBe(0);
      visits[1]?.result({ late: true });
      visits[2]?.reply(404);
      expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
      await ended();
      expect(server.unseen).toBe(0);
    });

    it('waits a second for what is on its way', async () => {
      const sends = [transport.send(request(1, 'a')), transport.send(request(2, 'b'))];
      const settled = Promise.allSettled(sends);
      const visits = [await server.next(), await server.next()];
      visits[0]?.reply(404);
      await expect(sends[0]).rejects.toMatchObject({ code: 'ERR_SESSION_LOST' });
      clock.advance(1_000);
      expect((await settled)[1]).toMatchObject({ reason: { code: 'ERR_CONNECTION_CLOSED' } });
      await ended();
    });

    it.each([
      ['application/json', '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}'],
      ['application/json', '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}'],
      ['text/plain', 'Invalid or missing session ID'],
    ])('takes a 400 about the session for a lost one (%s, %s)', async (type, body) => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).reply(400, { 'content-type': type }, body);
      await expect(sent).rejects.toMatchObject({ code: 'ERR_SESSION_LOST' });
    });

    it('takes a 400 about anything else for what it is', async () => {
      const sent = transport.send(request(1, 'tools/call'));
      (await server.next()).reply(400, { 'content-type': 'text/plain' }, 'no such thing');
      await expect(sent).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 400 });
    });

    it('[HTTP-045] notices it by the stream of the session, too', async () => {
      const streams: EventStream[] = [];
      answerHandshake(server, { getStream: (stream) => streams.push(stream) });
      open();
      await shakeHands(transport);
      await until(() => streams.length === 1);
      server.on('GET', (visit) => visit.reply(404));
      streams[0]?.end();
      await until(() => clock.running > 0);
      clock.advance(1_000);
      await ended();
      expect(heard.errors).toEqual([expect.objectContaining({ code: 'ERR_SESSION_LOST' })]);
    });
  });
});
