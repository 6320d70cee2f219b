import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { inspectorHandler, serveInspector } from '@mortise/inspector';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';

afterEach(() => vi.unstubAllEnvs());

async function start(): Promise<URL> {
  const inspector = await serveInspector();
  onTestFinished(() => inspector.close());
  return new URL(inspector.url);
}

function get(url: URL, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

/** The first line of the answer to a request with several `Host` lines. */
async function getWithHosts({ hostname, port, pathname }: URL, ...hosts: readonly string[]): Promise<string> {
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.write(`GET ${pathname} HTTP/1.1\r\n${hosts.map((host) => `Host: ${host}\r\n`).join('')}\r\n`);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString().split('\r\n')[0] ?? '';
}

/** `open`, or the status with which the upgrade was refused. */
function upgrade(url: URL, headers: Readonly<Record<string, string>>): Promise<string | number | undefined> {
  const socket = new WebSocket(url.href.replace('http', 'ws'), 'mcp', { headers });
  return new Promise((resolve) => {
    socket.on('open', () => {
      resolve('open');
      socket.close();
    });
    socket.on('unexpected-response', (_request, response) => {
      resolve(response.statusCode);
      response.destroy();
    });
    socket.on('error', () => undefined);
  });
}

describe('what the inspector refuses', () => {
  it('gives the page only under its token, and only to hosts of this machine', async () => {
    const url = await start();
    expect(await get(new URL('/', url), {})).toBe(404);
    expect(await get(new URL('/inspector', url), {})).toBe(404);
    expect(await get(new URL(`${url.pathname.slice(0, -2)}x/`, url), {})).toBe(404);
    expect(await get(new URL(url.pathname.slice(0, -1), url), {})).toBe(308);
    expect(await get(url, { host: 'evil.example' })).toBe(403);
    expect(await getWithHosts(url, url.host, 'evil.example')).toContain('403');
    expect(await get(url, { origin: 'https://evil.example' })).toBe(403);
  });

  it('[ROBUSTNESS-1] opens the WebSocket only for its own page, host and token', async () => {
    const url = await start();
    const link = new URL('link', url);
    const { origin } = url;
    expect(await upgrade(link, { origin })).toBe('open');
    expect(await upgrade(link, {})).toBe(403);
    expect(await upgrade(link, { origin: 'https://evil.example' })).toBe(403);
    expect(await upgrade(link, { origin: 'http://127.0.0.1:1' })).toBe(403);
    expect(await upgrade(link, { origin: 'null' })).toBe(403);
    expect(await upgrade(link, { origin: 'http://evil.example', host: 'evil.example' })).toBe(403);
    expect(await upgrade(new URL('/link', url), { origin })).toBe(404);
    expect(await upgrade(new URL('/inspector/0123456789abcdef/link', url), { origin })).toBe(404);
  });

  it('does not start in production unless it is told to', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    expect(() => inspectorHandler()).toThrow('NODE_ENV is "production"');
    await inspectorHandler({ allowProduction: true }).close();
  });

  it('refuses options that it does not know, and weak tokens', () => {
    expect(() => inspectorHandler({ tokn: 'x' } as never)).toThrow('tokn');
    expect(() => inspectorHandler({ token: 'short' })).toThrow('at least 16');
    for (const path of ['a?b', '', `/${'a'.repeat(100)}!`]) expect(() => inspectorHandler({ path })).toThrow('"path"');
    expect(() => inspectorHandler({ servers: [{ type: 'http' } as never, {} as never] })).toThrow('"type"');
  });

  it('[ROBUSTNESS-5] refuses an upgrade that nobody takes, and survives one that is reset', async () => {
    const inspector = inspectorHandler();
    onTestFinished(() => inspector.close());
    const server = createServer((request, response) => inspector.node(request, response, () => response.end('the program')));
    inspector.attach(server);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await upgrade(new URL(`http://127.0.0.1:${port}/other`), {})).toBe(404);
    // The program listens, but does not answer.
    const taken = new Promise<Duplex>((resolve) => server.on('upgrade', (_request, socket) => resolve(socket)));
    const client = connect(port, '127.0.0.1');
    client.write('GET /other HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    const socket = await taken;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    client.resetAndDestroy();
    await closed;
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('the program');
  });

  it('leaves requests and upgrades of the program alone', async () => {
    const inspector = inspectorHandler({ token: 'a-token-of-this-test' });
    const server = createServer((request, response) => inspector.node(request, response, () => response.end('the program')));
    inspector.attach(server);
    server.on('upgrade', (request, socket) => {
      if (request.url === '/own') socket.end('HTTP/1.1 418 Own\r\ncontent-length: 0\r\n\r\n');
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void server.close());
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await (await fetch(origin)).text()).toBe('the program');
    expect((await fetch(`${origin}/inspector/wrong/`)).status).toBe(404);
    expect(await upgrade(new URL('/own', origin), { origin })).toBe(418);
    expect(await upgrade(new URL(`${inspector.path}link`, origin), { origin })).toBe('open');
    await inspector.close();
    await inspector.close();
  });
});
