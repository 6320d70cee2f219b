import { getEventListeners } from 'node:events';
import { createServer } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { createHttpHandler } from '@mortise/transport-http/server';
import { mountOnExpress } from '@mortise/transport-http/express';
import { fastifyMcp } from '@mortise/transport-http/fastify';
import { mountOnHono } from '@mortise/transport-http/hono';
import { serveHttp } from '@mortise/transport-http/node';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { LegacyClient } from '../support/legacy-client.ts';
import { modern, modernHeaders, modernRequest, modernTool } from '../support/modern.ts';
import { post, send } from '../support/send.ts';
import { FACES, serve } from '../support/serve.ts';
import { TestSessionStore } from '../support/memory-stores.ts';
import { gate, progress, ScriptedEndpoint, text, until } from '../support/scripted-endpoint.ts';

describe.each(FACES)('closing over the %s face', (face) => {
  it('ends listens with their result, lets calls finish, and takes nothing new', async () => {
    const endpoint = new ScriptedEndpoint();
    const go = gate();
    endpoint.tools.set('slow', async () => {
      await go.promise;
      return text('finished');
    });
    const serving = await serve(face, endpoint);
    const client = await LegacyClient.open(serving.port);
    const [get, listen] = [await client.get(), await modern(serving.port, 'subscriptions/listen', { notifications: {} })];
    await listen.nextMessage();
    const slow = modernTool(serving.port, 'slow');
    await until(() => serving.handler.counts.calls === 2);
    let isClosed = false;
    const closing = serving.handler.close({ drainMs: 5_000 }).then(() => (isClosed = true));
    expect(await listen.nextMessage()).toMatchObject({ result: { resultType: 'complete' } });
    const refused = await modernTool(serving.port, 'echo');
    expect([refused.status, refused.headers['retry-after'], isClosed]).toEqual([503, '5', false]);
    go.open();
    expect(await (await slow).text()).toContain('finished');
    await closing;
    expect(await get.events()).toEqual([]);
    expect(serving.handler.counts).toEqual({ sessions: 0, streams: 0, calls: 0 });
    await serving.close();
  });

  it('[ROBUSTNESS-4][ROBUSTNESS-9] answers a request whose body is still on its way', async () => {
    const serving = await serve(face, new ScriptedEndpoint());
    const socket = connect(serving.port, '127.0.0.1');
    const arrived = new Promise((resolve) => serving.server.once('request', resolve));
    socket.write('POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 70000\r\n\r\n{"json');
    await arrived;
    const head = new Promise((resolve) => socket.once('data', (data) => resolve(data.toString().split('\r\n', 1)[0])));
    await serving.handler.close();
    expect(await head).toContain('503');
    socket.destroy();
    await serving.close();
  });

  it('aborts what still runs at the deadline', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('stuck', async ({ call }) => {
      await call.send(progress('t', 1));
      return new Promise(() => undefined);
    });
    const clock = new FakeClock();
    const serving = await serve(face, endpoint, { clock });
    const client = await LegacyClient.open(serving.port);
    const [cut, told] = await Promise.all([modernTool(serving.port, 'stuck'), client.tool('stuck')]);
    for (const answer of [cut, told]) await answer.event();
    const closing = serving.handler.close({ drainMs: 100 });
    clock.advance(99);
    expect(endpoint.calls.map(({ isCancelled }) => isCancelled)).toEqual([false, false]);
    clock.advance(1);
    await closing;
    expect(endpoint.calls.map(({ isCancelled, signal }) => isCancelled && signal.aborted)).toEqual([true, true]);
    expect(await cut.events()).toEqual([]);
    // A legacy client may come back for an answer that is lost with its connection, so it is given one.
    expect((await told.events()).map(({ data }) => JSON.parse(data))).toMatchObject([{ error: { code: -32603 } }]);
    await serving.close();
  });

  it('keeps stored sessions for the next process', async () => {
    const sessionStore = new TestSessionStore();
    const serving = await serve(face, new ScriptedEndpoint(), { sessionStore });
    await LegacyClient.open(serving.port);
    await serving.close();
    expect(sessionStore.records.size).toBe(1);
  });

  it('may be closed twice', async () => {
    const serving = await serve(face, new ScriptedEndpoint());
    await Promise.all([serving.handler.close(), serving.handler.close()]);
    await serving.close();
  });
});

describe('serveHttp', () => {
  it('[HTTP-004] listens on loopback, at /mcp, and says where', async () => {
    await using serving = await serveHttp(new ScriptedEndpoint(), { port: 0 });
    expect(serving.url).toBe(`http://127.0.0.1:${serving.port}/mcp`);
    expect((serving.server.address() as AddressInfo).address).toBe('127.0.0.1');
    expect((await modernTool(serving.port, 'echo')).status).toBe(200);
    expect((await send(serving.port, { path: '/other' })).status).toBe(404);
  });

  it('closes when its signal aborts, and leaves nothing that keeps the process alive', async () => {
    const controller = new AbortController();
    const serving = await serveHttp(new ScriptedEndpoint(), { port: 0, signal: controller.signal, drainMs: 0 });
    const client = await LegacyClient.open(serving.port);
    const stream = await client.get();
    controller.abort();
    expect(await stream.events()).toEqual([]);
    await serving.close();
    expect(serving.server.listening).toBe(false);
  });

  it('rejects with the reason of a signal that has aborted', async () => {
    const reason = new Error('not today');
    await expect(serveHttp(new ScriptedEndpoint(), { port: 0, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('rejects with the reason of a signal that aborts before it listens, and gives the port back', async () => {
    const { port, close } = await serveHttp(new ScriptedEndpoint(), { port: 0 });
    await close();
    const controller = new AbortController();
    const reason = new Error('not today');
    const opening = serveHttp(new ScriptedEndpoint(), { port, signal: controller.signal });
    controller.abort(reason);
    await expect(opening).rejects.toBe(reason);
    await using again = await serveHttp(new ScriptedEndpoint(), { port });
    expect(again.port).toBe(port);
  });

  it('lets go of its signal when it closes', async () => {
    const { signal } = new AbortController();
    const serving = await serveHttp(new ScriptedEndpoint(), { port: 0, signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await serving.close();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('[ROBUSTNESS-5] goes on, and logs it, where a connection cannot be taken', async () => {
    const lines: unknown[] = [];
    const logger = { log: (...line: readonly unknown[]) => void lines.push(line) };
    await using serving = await serveHttp(new ScriptedEndpoint(), { port: 0, logger });
    serving.server.emit('error', new Error('accept EMFILE'));
    expect(lines).toEqual([['error', 'The HTTP server failed', { error: 'Error: accept EMFILE' }]]);
    expect((await modernTool(serving.port, 'echo')).status).toBe(200);
  });

  it.each([
    [{ maxBodyBytes: 0 }, /maxBodyBytes/],
    [{ baseUrl: 'mcp.example' }, /baseUrl/],
    [{ path: 'mcp' }, /path/],
    [{ allowedOrigins: ['app.example'] }, /allowedOrigins/],
    [{ allowedHosts: ['https://x'] }, /allowedHosts/],
  ])('refuses the option %j', (options, message) => {
    expect(() => createHttpHandler(new ScriptedEndpoint(), options)).toThrow(
      expect.objectContaining({ code: 'ERR_HTTP_OPTION', message: expect.stringMatching(message) }),
    );
  });
});

async function useAll(port: number): Promise<readonly unknown[]> {
  const client = await LegacyClient.open(port);
  const request = modernRequest('tools/call', { name: 'echo', arguments: { a: 'ü' } });
  const answer = await post(port, request, modernHeaders(request));
  const stream = await client.get();
  const ended = await client.delete();
  const refused = await post(port, request, { ...modernHeaders(request), host: 'evil.example' });
  const metadata = await send(port, { method: 'GET', path: '/.well-known/oauth-protected-resource/mcp' });
  return [JSON.stringify(await answer.json()).includes('ü'), stream.isStream, ended.status, refused.status, metadata.status];
}

const SERVED = [true, true, 204, 403, 200];
const OPTIONS = { resourceMetadata: { resource: 'http://localhost/mcp' } };

describe('mounts', () => {
  it.each([true, false])('serves in Express (body parsed in front: %s)', async (parses) => {
    const app = express();
    if (parses) app.use(express.json());
    const handler = mountOnExpress(app, new ScriptedEndpoint(), OPTIONS);
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    expect(await useAll((server.address() as AddressInfo).port)).toEqual(SERVED);
    await handler.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('serves in a router of Express that is mounted below a path, HTTP+SSE included', async () => {
    const app = express();
    const router = express.Router();
    const handler = mountOnExpress(router, new ScriptedEndpoint(), { sse: true });
    app.use('/api', router);
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const request = modernRequest('tools/list');
    const answer = await send(port, {
      path: '/api/mcp',
      headers: { 'content-type': 'application/json', ...modernHeaders(request) },
      body: JSON.stringify(request),
    });
    const stream = await send(port, { method: 'GET', path: '/api/sse', headers: { accept: 'text/event-stream' } });
    expect([answer.status, await stream.event()]).toMatchObject([200, { data: expect.stringMatching(/^\/api\/messages\?/) }]);
    await handler.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('serves over HTTP/2', async () => {
    const handler = createHttpHandler(new ScriptedEndpoint(), { path: '/mcp' });
    const server = createHttp2Server((request, response) => void handler.node(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const request = modernRequest('tools/call', { name: 'echo', arguments: { a: 1 } });
    const head = { ':method': 'POST', ':path': '/mcp', 'content-type': 'application/json', ...modernHeaders(request) };
    const [status, body] = await new Promise<readonly [number, string]>((resolve, reject) => {
      const stream = session.request(head);
      let code = 0;
      let received = '';
      stream.on('response', (headers) => (code = Number(headers[':status'])));
      stream.on('data', (chunk: Buffer) => (received += chunk.toString()));
      stream.on('end', () => resolve([code, received]));
      stream.on('error', reject);
      stream.end(JSON.stringify(request));
    });
    expect([status, body]).toEqual([200, expect.stringContaining('complete')]);
    session.close();
    await handler.close();
    await new Promise((resolve) => server.close(resolve));
  });

  it('[ROBUSTNESS-17] ends answers over HTTP/2 of which the client reads nothing', async () => {
    const [clock, endpoint] = [new FakeClock(), new ScriptedEndpoint()];
    endpoint.tools.set('long', () => text('x'.repeat(60_000)));
    const handler = createHttpHandler(endpoint, { path: '/mcp', clock, stallMs: 2000 });
    let [sent, closed] = [0, 0];
    const server = createHttp2Server((request, response) => {
      response.on('close', () => closed++);
      void handler.node(request, response).then(() => sent++);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { settings: { initialWindowSize: 0 } });
    const request = modernRequest('tools/call', { name: 'long' });
    const head = { ':method': 'POST', ':path': '/mcp', 'content-type': 'application/json', ...modernHeaders(request) };
    for (let count = 0; count < 100; count++) {
      const stream = session.request(head).on('error', () => undefined);
      stream.end(JSON.stringify(request));
    }
    await until(() => sent === 100);
    expect(closed).toBe(0);
    clock.advance(2000);
    await until(() => closed === 100);
    session.destroy();
    await handler.close();
    await new Promise((resolve) => server.close(resolve));
  });

  it('[ROBUSTNESS-1] refuses a foreign :authority over HTTP/2, whatever Host is beside it', async () => {
    const handler = createHttpHandler(new ScriptedEndpoint(), { path: '/mcp' });
    const server = createHttp2Server((request, response) => void handler.node(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const stream = session.request({ ':method': 'POST', ':path': '/mcp', ':authority': 'evil.example', host: 'localhost' });
    const status = await new Promise((resolve) => stream.on('response', (headers) => resolve(headers[':status'])).end('{}'));
    expect(status).toBe(403);
    session.destroy();
    await handler.close();
    await new Promise((resolve) => server.close(resolve));
  });

  it('serves in Fastify, leaving its parsers alone elsewhere, and closes with it', async () => {
    const app = fastify();
    app.post('/json', (request) => ({ got: request.body }));
    const endpoint = new ScriptedEndpoint();
    app.register(fastifyMcp(endpoint, OPTIONS));
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    expect(await useAll(port)).toEqual(SERVED);
    const other = await send(port, { path: '/json', headers: { 'content-type': 'application/json' }, body: '{"a":1}' });
    expect(await other.json()).toEqual({ got: { a: 1 } });
    const client = await LegacyClient.open(port);
    const stream = await client.get();
    await app.close();
    expect([await stream.events(), endpoint.sessions.every(({ isClosed }) => isClosed)]).toEqual([[], true]);
  });

  it('serves in Hono', async () => {
    const app = new Hono();
    const handler = mountOnHono(app, new ScriptedEndpoint(), OPTIONS);
    const request = modernRequest('tools/call', { name: 'echo' });
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...modernHeaders(request) },
      body: JSON.stringify(request),
    };
    expect((await app.request('http://localhost/mcp', init)).status).toBe(200);
    expect((await app.request('http://evil.example/mcp', init)).status).toBe(403);
    expect((await app.request('http://localhost/.well-known/oauth-protected-resource')).status).toBe(200);
    const onNode = { incoming: { socket: { localAddress: '10.0.0.1', remoteAddress: '10.0.0.2' } } };
    expect((await app.request('http://mcp.example/mcp', init, onNode)).status).toBe(200);
    await handler.close();
  });
});
