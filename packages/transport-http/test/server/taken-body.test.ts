import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpHandler, type HttpHandler } from '@mortise/transport-http/server';
import { ScriptedEndpoint } from '../support/scripted-endpoint.ts';
import { modernHeaders, modernRequest } from '../support/modern.ts';
import { send } from '../support/send.ts';

let close: () => Promise<unknown> = () => Promise.resolve();
afterEach(() => close());

type Serve = (handler: HttpHandler, request: IncomingMessage, response: ServerResponse, parsedBody?: unknown) => Promise<unknown>;

/** A program that reads each body itself, and serves then. */
async function serveAfterReading(serve: Serve, passesBody: boolean): Promise<number> {
  const handler = createHttpHandler(new ScriptedEndpoint(), { path: '/mcp' });
  const server = createServer((request, response) => {
    void text(request).then((body) => serve(handler, request, response, passesBody ? JSON.parse(body) : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close = async () => {
    await handler.close({ drainMs: 0 });
    server.closeAllConnections();
    server.close();
  };
  return (server.address() as AddressInfo).port;
}

const onNode: Serve = (handler, request, response, parsedBody) => handler.node(request, response, { parsedBody });

const onFetch: Serve = async (handler, incoming, outgoing, parsedBody) => {
  const headers = incoming.headers as Record<string, string>;
  const request = new Request(`http://${headers['host']}/mcp`, { method: 'POST', headers, body: '{}' });
  await request.text();
  const response = await handler.fetch(request, { isLoopback: true, parsedBody });
  outgoing.writeHead(response.status, { 'content-type': 'application/json' }).end(await response.text());
};

describe.each([
  ['node', onNode],
  ['fetch', onFetch],
])('a body that the program has read, on the %s face', (_face, serve) => {
  const request = modernRequest('tools/list');
  const call = { headers: { 'content-type': 'application/json', accept: '*/*', ...modernHeaders(request) }, body: JSON.stringify(request) };

  it('is not waited for: the answer says what to pass', async () => {
    const port = await serveAfterReading(serve, false);
    const answer = await send(port, call);
    expect([answer.status, await answer.json()]).toMatchObject([500, { error: { message: expect.stringContaining('"parsedBody"') } }]);
  });

  it('is taken as it is passed', async () => {
    const port = await serveAfterReading(serve, true);
    expect((await send(port, call)).status).toBe(200);
  });
});
