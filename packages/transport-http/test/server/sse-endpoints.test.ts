import { type IncomingMessage, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { AuthChallengeError } from '@mortise/protocol';
import { serveHttp } from '@mortise/transport-http/node';
import { initializeRequest } from '../support/legacy-client.ts';
import { type Answer, post, send } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { aborted, gate, progress, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';

let serving: Serving;
afterEach(() => serving?.close());

const OLDEST = '2024-11-05';

interface Channel {
  readonly stream: Answer;
  readonly path: string;
  post(message: JsonObject): Promise<Answer>;
}

async function open(): Promise<Channel> {
  const stream = await send(serving.port, { method: 'GET', path: '/sse', headers: { accept: 'text/event-stream' } });
  const endpoint = await stream.event();
  const path = endpoint?.data ?? '';
  const channel: Channel = {
    stream,
    path,
    post: (message) => send(serving.port, { path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(message) }),
  };
  await channel.post(initializeRequest(OLDEST));
  await stream.nextMessage();
  return channel;
}

describe('HTTP+SSE of serveHttp', () => {
  it('[SSE-007] listens on loopback, and opens a stream and takes messages for those alone who have a token', async () => {
    const tokenVerifier = {
      verify: async ({ token }: { readonly token?: string | undefined }) => {
        if (token !== 'good') throw new AuthChallengeError('no token', { status: 401, challenge: 'Bearer' });
        return { principal: 'ada', scopes: [] };
      },
    };
    await using http = await serveHttp(new ScriptedEndpoint(), { port: 0, sse: true, tokenVerifier });
    expect((http.server.address() as AddressInfo).address).toBe('127.0.0.1');
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
    const [bad, good] = [
      { ...headers, authorization: 'Bearer bad' },
      { ...headers, authorization: 'Bearer good' },
    ];
    for (const given of [headers, bad]) expect((await send(http.port, { method: 'GET', path: '/sse', headers: given })).status).toBe(401);
    const stream = await send(http.port, { method: 'GET', path: '/sse', headers: good });
    const path = (await stream.event())?.data ?? '';
    const body = JSON.stringify(initializeRequest(OLDEST));
    for (const given of [headers, bad]) expect((await send(http.port, { path, headers: given, body })).status).toBe(401);
    expect((await send(http.port, { path, headers: good, body })).status).toBe(202);
    expect(await stream.nextMessage()).toMatchObject({ result: { protocolVersion: OLDEST } });
  });
});

describe.each(FACES)('HTTP+SSE over the %s face', (face) => {
  it('refuses a message whose body ends after the stream', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { sse: true });
    const { stream, path } = await open();
    const isAsked = new Promise((resolve) => serving.server.once('request', resolve));
    const posting = httpRequest({
      host: '127.0.0.1',
      port: serving.port,
      path,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    const answered = new Promise<IncomingMessage>((resolve) => posting.once('response', resolve));
    posting.write('{"jsonrpc":"2.0",');
    await isAsked;
    stream.leave();
    await until(() => serving.handler.counts.streams === 0);
    posting.end('"method":"notifications/initialized"}');
    expect((await answered).statusCode).toBe(404);
    posting.destroy();
  });

  it('[SSE-010][DEPR-004][VERS-016] is off unless it is asked for', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    expect((await send(serving.port, { method: 'GET', path: '/sse', headers: { accept: 'text/event-stream' } })).status).toBe(404);
  });

  it.each([
    ['*/*', 200],
    [undefined, 200],
    ['text/html', 406],
  ])('answers a GET with Accept %s by status %d', async (accept, status) => {
    serving = await serve(face, new ScriptedEndpoint(), { sse: true });
    const answer = await send(serving.port, { method: 'GET', path: '/sse', headers: accept === undefined ? {} : { accept } });
    expect(answer.status).toBe(status);
    answer.leave();
  });

  it('[SSE-001][SSE-002] tells first where to post, on the origin of the stream', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { sse: true });
    const stream = await send(serving.port, { method: 'GET', path: '/sse', headers: { accept: 'text/event-stream' } });
    expect(await stream.event()).toMatchObject({ event: 'endpoint', data: expect.stringMatching(/^\/messages\?sessionId=[\w-]{32}$/) });
    expect(stream.raw.startsWith('event: endpoint\n')).toBe(true);
  });

  it('[SSE-005] answers a POST with 202, and sends the response on the stream', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { sse: true });
    const { stream, post: send_ } = await open();
    const accepted = await send_({ jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name: 'echo', arguments: { a: 1 } } });
    expect([accepted.status, await accepted.text()]).toEqual([202, '']);
    expect(await stream.nextMessage()).toMatchObject({ id: 4, result: {} });
  });

  it('sends everything on the one stream: progress, questions and what nobody asked for', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('ask', async ({ call, link }) => {
      await call.send(progress('t', 1));
      await call.send({ jsonrpc: '2.0', id: 'q', method: 'sampling/createMessage', params: {} });
      await link?.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
      return text('x');
    });
    serving = await serve(face, endpoint, { sse: true });
    const { stream, post: send_ } = await open();
    await send_({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask' } });
    const messages = [await stream.nextMessage(), await stream.nextMessage(), await stream.nextMessage(), await stream.nextMessage()];
    expect(messages.map((message) => message?.['method'] ?? 'answer')).toEqual([
      'notifications/progress',
      'sampling/createMessage',
      'notifications/tools/list_changed',
      'answer',
    ]);
  });

  it('ends the session with its stream', async () => {
    const endpoint = new ScriptedEndpoint();
    const ended = gate();
    endpoint.tools.set('long', async ({ call }) => {
      await Promise.race([
        aborted(call.signal),
        new Promise<void>(
          (resolve) =>
            void (async () => {
              await until(() => endpoint.sessions.at(-1)?.isClosed === true);
              resolve();
            })(),
        ),
      ]);
      ended.open();
      return text('x');
    });
    serving = await serve(face, endpoint, { sse: true });
    const { stream, post: send_ } = await open();
    await send_({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'long' } });
    stream.leave();
    await ended.promise;
    expect((await send_({ jsonrpc: '2.0', id: 2, method: 'ping' })).status).toBe(404);
    expect(serving.handler.counts.streams).toBe(0);
  });

  it('[SSE-009] refuses a session that its address does not name, and a body that is no message', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { sse: '/old/sse' });
    const stream = await send(serving.port, { method: 'GET', path: '/old/sse', headers: { accept: 'text/event-stream' } });
    const path = (await stream.event())?.data ?? '';
    const session = new URLSearchParams(path.split('?')[1]).get('sessionId') ?? '';
    for (const elsewhere of ['/old/messages?sessionId=x', '/old/messages']) {
      const unknown = await send(serving.port, {
        path: elsewhere,
        headers: { 'content-type': 'application/json', 'mcp-session-id': session },
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      });
      expect(unknown.status).toBe(404);
    }
    const bad = await send(serving.port, { path, headers: { 'content-type': 'application/json' }, body: '{"id":5}' });
    expect([bad.status, await bad.json()]).toMatchObject([400, { id: 5, error: { code: -32600 } }]);
    expect((await send(serving.port, { path, headers: { 'content-type': 'text/plain' }, body: '{}' })).status).toBe(415);
    const compressed = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    expect((await send(serving.port, { path, headers: compressed, body: '{}' })).status).toBe(415);
  });

  it('[ROBUSTNESS-7] holds a body that a framework has parsed to the same depth', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { sse: true });
    const stream = await send(serving.port, { method: 'GET', path: '/sse', headers: { accept: 'text/event-stream' } });
    const url = `http://127.0.0.1:${serving.port}${(await stream.event())?.data ?? ''}`;
    const parsed = (depth: number): Promise<Response> => {
      const parsedBody: unknown = JSON.parse(
        `{"jsonrpc":"2.0","method":"ping","id":1,"params":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`,
      );
      const headers = { 'content-type': 'application/json' };
      return serving.handler.fetch(new Request(url, { method: 'POST', headers }), { parsedBody, isLoopback: true });
    };
    expect([(await parsed(127)).status, (await parsed(128)).status]).toEqual([202, 400]);
  });

  it('[ERA-027] keeps both endpoints beside the one of Streamable HTTP', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { sse: true });
    await open();
    expect((await post(serving.port, initializeRequest())).status).toBe(200);
  });
});
