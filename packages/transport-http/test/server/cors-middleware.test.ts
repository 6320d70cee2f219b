/** A program that mounts the endpoint behind the CORS middleware of its framework works from pages in a browser, as it expects. */

import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { afterEach, describe, expect, it } from 'vitest';
import type { LogLevel } from '@mortise/jsonrpc-core';
import { mountOnExpress } from '@mortise/transport-http/express';
import { fastifyMcp } from '@mortise/transport-http/fastify';
import { mountOnHono } from '@mortise/transport-http/hono';
import { createHttpHandler, type HttpHandlerOptions } from '@mortise/transport-http/server';
import { initializeRequest } from '../support/legacy-client.ts';
import { ScriptedEndpoint } from '../support/scripted-endpoint.ts';

const PAGE = 'https://app.example';
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close().closeAllConnections());
  return (server.address() as AddressInfo).port;
}

/** What the middleware of Express does by `cors()`, or `cors({ origin })`. */
function withExpress(origin: string, options?: HttpHandlerOptions): Promise<number> {
  const app = express();
  app.use((_request, response, next) => {
    response.setHeader('Access-Control-Allow-Origin', origin);
    next();
  });
  mountOnExpress(app, new ScriptedEndpoint(), options);
  return listen(createServer(app));
}

async function withFastify(origin: string, options?: HttpHandlerOptions): Promise<number> {
  const app = fastify();
  app.addHook('onRequest', (_request, reply, next) => {
    void reply.header('access-control-allow-origin', origin);
    next();
  });
  await app.register(fastifyMcp(new ScriptedEndpoint(), options));
  await app.listen({ port: 0, host: '127.0.0.1' });
  closers.push(() => app.close());
  return (app.server.address() as AddressInfo).port;
}

/** Hono asks for a `Request`, which this makes of a Node request. */
function withHono(origin: string, options?: HttpHandlerOptions): Promise<number> {
  const app = new Hono();
  app.use(cors({ origin }));
  mountOnHono(app, new ScriptedEndpoint(), options);
  return listen(
    createServer(async (incoming, outgoing) => {
      const headers = Object.entries(incoming.headers) as [string, string][];
      const init = { method: incoming.method ?? 'GET', headers, body: await text(incoming) };
      const response = await app.fetch(new Request(`http://${incoming.headers.host}${incoming.url}`, init));
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      outgoing.end(await response.text());
    }),
  );
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** `fetch` never sends an `Origin` of one's own. */
async function initialize(port: number, origin: string): Promise<Answer> {
  const headers = { origin, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const posted = request({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers, agent: false });
  posted.end(JSON.stringify(initializeRequest()));
  const [incoming] = (await once(posted, 'response')) as [IncomingMessage];
  return { status: incoming.statusCode, headers: incoming.headers, body: await text(incoming) };
}

describe.each([
  ['Express', withExpress],
  ['Fastify', withFastify],
  ['Hono', withHono],
])('%s', (_, mount) => {
  it.each([
    ['any page', '*'],
    ['this page', PAGE],
  ])('serves a page if a middleware has allowed %s, and exposes the session id to it', async (_name, allowed) => {
    const { status, headers } = await initialize(await mount(allowed), PAGE);
    expect([status, headers['access-control-allow-origin']]).toEqual([200, allowed]);
    expect(headers['access-control-expose-headers']).toContain('Mcp-Session-Id');
  });

  it('[ROBUSTNESS-14] refuses a page that the middleware has not allowed, says what to set, and logs it once', async () => {
    const logged: [LogLevel, string][] = [];
    const port = await mount('https://other.example', { logger: { log: (level, message) => void logged.push([level, message]) } });
    const answers = [await initialize(port, PAGE), await initialize(port, PAGE)];
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    expect(answers[0]?.body).toContain('add it to allowedOrigins');
    expect(logged).toEqual([['warning', expect.stringContaining(`Origin "${PAGE}" is not allowed: add it to allowedOrigins`)]]);
  });
});

it('keeps the check of the host behind a CORS middleware, which prevents DNS rebinding', async () => {
  const handler = createHttpHandler(new ScriptedEndpoint());
  closers.push(() => handler.close());
  const answer = await handler.fetch(
    new Request('http://evil.example/mcp', { method: 'POST', headers: { origin: PAGE, host: 'evil.example' } }),
    { allowedOrigin: '*' },
  );
  expect(answer.status).toBe(403);
});
