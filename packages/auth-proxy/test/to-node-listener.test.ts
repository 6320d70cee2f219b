import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { toNodeListener } from '@mortise/auth-proxy/node';

let server: Server;
afterEach(() => server.close());

async function serve(handler: (request: Request) => Promise<Response>): Promise<number> {
  server = createServer(toNodeListener(handler, { origin: 'https://mcp.example' })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe('toNodeListener', () => {
  it('hands over method, path, headers and body, under the origin that clients know', async () => {
    const port = await serve(async (request) =>
      Response.json([request.method, request.url, request.headers.get('x-a'), request.method === 'POST' ? await request.text() : null]),
    );
    const url = `http://127.0.0.1:${port}/token?x=1`;
    expect(await (await fetch(url, { headers: { 'x-a': '1' } })).json()).toEqual(['GET', 'https://mcp.example/token?x=1', '1', null]);
    const posted = await fetch(url, { method: 'POST', body: 'text', headers: { 'x-a': '2' } });
    expect(await posted.json()).toEqual(['POST', 'https://mcp.example/token?x=1', '2', 'text']);
  });

  it('hands back status, headers and each cookie', async () => {
    const headers = new Headers({ location: '/x' });
    headers.append('set-cookie', 'a=1');
    headers.append('set-cookie', 'b=2');
    const port = await serve(() => Promise.resolve(new Response(null, { status: 303, headers })));
    const response = await fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location'), response.headers.getSetCookie()]).toEqual([303, '/x', ['a=1', 'b=2']]);
  });

  it('answers 400 where the handler fails, or the request cannot be one', async () => {
    const port = await serve(() => Promise.reject(new Error('secret')));
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect([response.status, await response.text()]).toEqual([400, '']);
    const [answer] = (await once(httpRequest({ port, path: '*', method: 'OPTIONS' }).end(), 'response')) as [{ statusCode: number }];
    expect(answer.statusCode).toBe(400);
  });

  it('does not wait for the rest of a body that is not read', async () => {
    const port = await serve(() => Promise.resolve(new Response('no', { status: 413 })));
    const request = httpRequest({ port, method: 'POST', headers: { 'content-length': 1_000_000 } });
    request.on('error', () => undefined);
    request.write('x');
    const [answer] = (await once(request, 'response')) as [{ statusCode: number; headers: Record<string, string> }];
    expect([answer.statusCode, answer.headers['connection']]).toEqual([413, 'close']);
    request.destroy();
  });
});
