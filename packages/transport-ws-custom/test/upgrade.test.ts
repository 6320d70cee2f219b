/** Who may open a WebSocket, and what the others are answered. */

import { createServer } from 'node:http';
import { type AddressInfo, connect as connectSocket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AuthChallengeError } from '@mortise/protocol';
import type { TokenRequest, TokenVerifier } from '@mortise/protocol/contracts';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { attachWebSocket, serveWebSocket } from '@mortise/transport-ws-custom/server';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { WebSocketConstructor } from '../src/client.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { closeLater, connect, createFeatureServer, serve } from './support/feature-server.ts';
import { closeCodeOf, upgrade, usualLines } from './support/raw-client.ts';

const { server } = createFeatureServer();

/** Knows two people by their tokens. */
const verifier: TokenVerifier = {
  async verify({ scheme, token }) {
    if (scheme === 'Bearer' && (token === 'ada' || token === 'grace')) return { principal: `issuer|${token}`, scopes: [] };
    throw new AuthChallengeError('A token is needed', { status: 401, challenge: 'Bearer realm="mcp"' });
  },
};

describe('the guard at the upgrade', () => {
  const foreign = [
    ['a foreign Host', ['Host: evil.example']],
    ['a Host with a port, as DNS rebinding gives', ['Host: evil.example:80']],
    ['no Host at all', []],
  ] as const;
  it.each(foreign)('[ROBUSTNESS-1] refuses %s with 403 or 400', async (_name, host) => {
    const { port } = await serve(server);
    const { status, body } = await upgrade(port, { lines: [...host, ...usualLines(port).slice(1)] });
    expect([400, 403]).toContain(status);
    if (host.length > 0) expect(body).toContain('allowedHosts');
  });

  it.each(['https://evil.example', 'null', 'file://', 'http://127.0.0.1.evil.example'])(
    '[ROBUSTNESS-1] refuses the Origin %s with 403',
    async (origin) => {
      const { port } = await serve(server);
      expect((await upgrade(port, { more: [`Origin: ${origin}`] })).status).toBe(403);
    },
  );

  it('lets in pages of this machine, of allowed origins, and programs', async () => {
    const { port } = await serve(server, { allowedOrigins: ['https://app.example.com'] });
    for (const more of [[], ['Origin: http://localhost:5173'], ['Origin: https://app.example.com']]) {
      expect((await upgrade(port, { more })).status).toBe(101);
    }
  });

  it.each(['Host: 127.0.0.1', 'Origin: http://localhost', 'Authorization: Bearer ada'])(
    '[ROBUSTNESS-2] refuses two lines of "%s"',
    async (line) => {
      const { port } = await serve(server);
      const more = line.startsWith('Host') ? [line] : [line, line];
      expect((await upgrade(port, { more })).status).toBe(400);
    },
  );

  it.each([
    { target: 'http://evil/mcp', status: 400 },
    { target: 'ws://127.0.0.1/mcp', status: 400 },
    { target: '//evil/mcp', status: 404 },
    { target: '*', status: 404 },
  ])('[ROBUSTNESS-2] answers $status to the target $target, which is not the path of the endpoint', async ({ target, status }) => {
    const { port } = await serve(server);
    expect((await upgrade(port, { path: target })).status).toBe(status);
  });

  it('refuses a client without the subprotocol, a wrong path, a plain request and a bad handshake', async () => {
    const { port } = await serve(server);
    const lines = usualLines(port);
    expect((await upgrade(port, { lines: lines.slice(0, -1) })).status).toBe(400);
    expect((await upgrade(port, { path: '/other' })).status).toBe(404);
    expect((await upgrade(port, { lines: [`Host: 127.0.0.1:${port}`] })).status).toBe(426);
    expect((await upgrade(port, { lines: lines.map((line) => line.replace(/Version: 13/, 'Version: 7')) })).status).toBeGreaterThanOrEqual(
      400,
    );
    expect((await upgrade(port)).head.toLowerCase()).toContain('sec-websocket-protocol: mcp');
  });
});

describe('tokens', () => {
  it('[ROBUSTNESS-14] are asked for with the challenge of the verifier, and a fault of its own tells nothing', async () => {
    const { port } = await serve(server, { tokenVerifier: verifier });
    const refused = await upgrade(port);
    expect(refused.status).toBe(401);
    expect(refused.head).toContain('WWW-Authenticate: Bearer realm="mcp"');
    const broken = await serve(server, { tokenVerifier: { verify: () => Promise.reject(new Error('secret of the database')) } });
    const failed = await upgrade(broken.port, { more: ['Authorization: Bearer ada'] });
    expect(failed.status).toBe(500);
    expect(failed.body).not.toContain('secret');
  });

  it.each([undefined, null, false, true, {}, { principal: '' }, { principal: 'ada' }])(
    '[ROBUSTNESS-8] let nobody in where the verifier says %j',
    async (info) => {
      const { port } = await serve(server, { tokenVerifier: { verify: async () => info as never } });
      expect((await upgrade(port, { more: ['Authorization: Bearer ada'] })).status).toBe(500);
    },
  );

  it('[ROBUSTNESS-8] say on whose behalf each call is made', async () => {
    const { url, port } = await serve(server, { tokenVerifier: verifier });
    const ada = await connect(url, {}, { headers: { Authorization: 'Bearer ada' } });
    const grace = await connect(url, { era: 'legacy' }, { headers: { Authorization: 'bearer grace' } });
    const [first, second] = await Promise.all([ada.callTool('who'), grace.callTool('who')]);
    expect([first, second]).toMatchObject([{ content: [{ text: 'issuer|ada' }] }, { content: [{ text: 'issuer|grace' }] }]);
    expect((await upgrade(port, { more: ['Authorization: Bearer a b'] })).status).toBe(400);
    const anonymous = await connect((await serve(server)).url);
    expect(await anonymous.callTool('who')).toMatchObject({ content: [{ text: 'anonymous' }] });
  });

  it('are told the URL that they are for', async () => {
    const seen: TokenRequest[] = [];
    const tokenVerifier: TokenVerifier = {
      verify: (request) => (seen.push(request), verifier.verify(request, { signal: new AbortController().signal })),
    };
    const { port } = await serve(server, { tokenVerifier, baseUrl: 'https://api.example.com' });
    await upgrade(port, { more: ['Authorization: Bearer ada'] });
    expect(seen).toMatchObject([{ scheme: 'Bearer', token: 'ada', method: 'GET', url: 'https://api.example.com/mcp' }]);
  });

  it('come from an authorizer, which is asked again after a refusal', async () => {
    const { url } = await serve(server, { tokenVerifier: verifier });
    const challenges: unknown[] = [];
    let token = 'old';
    const authorizer = {
      headers: async () => ({ authorization: `Bearer ${token}` }),
      onChallenge: async ({ status, attempt, header }: { status: number; attempt: number; header(name: string): string | undefined }) => {
        challenges.push([status, attempt, header('WWW-Authenticate')]);
        token = 'ada';
        return 'retry' as const;
      },
    };
    const client = await connect(url, {}, { authorizer });
    expect(await client.callTool('who')).toMatchObject({ content: [{ text: 'issuer|ada' }] });
    expect(challenges).toEqual([[401, 1, 'Bearer realm="mcp"']]);
  });

  it('are asked for three times at most', async () => {
    const { url } = await serve(server, { tokenVerifier: verifier });
    let rounds = 0;
    const authorizer = { headers: async () => ({}), onChallenge: async () => (rounds++, 'retry' as const) };
    const transport = webSocketTransport(url, { authorizer });
    await expect(transport.start()).rejects.toMatchObject({ code: 'ERR_CONNECT_FAILED', status: 401 });
    expect(rounds).toBe(3);
  });

  it('travel among the subprotocols where a platform sends no headers', async () => {
    const { url, port } = await serve(server, { tokenVerifier: verifier });
    const webSocket = WebSocket as unknown as WebSocketConstructor;
    const client = await connect(url, {}, { webSocket, headers: { Authorization: 'Bearer ada' } });
    expect(await client.callTool('who')).toMatchObject({ content: [{ text: 'issuer|ada' }] });
    const lines = usualLines(port).slice(0, -1);
    const twice = await upgrade(port, { lines: [...lines, 'Sec-WebSocket-Protocol: mcp, mcp.bearer.YWRh', 'Authorization: Bearer ada'] });
    const notCanonical = await upgrade(port, { lines: [...lines, 'Sec-WebSocket-Protocol: mcp, mcp.bearer.YWRh=='] });
    expect([twice.status, notCanonical.status]).toEqual([400, 400]);
    const transport = webSocketTransport(url, { webSocket, headers: { 'X-Key': '1' } });
    await expect(transport.start()).rejects.toThrow(TypeError);
  });

  it('end the connection when they end, with 3000', async () => {
    const clock = new FakeClock();
    const tokenVerifier: TokenVerifier = { verify: async () => ({ principal: 'p', scopes: [], expiresAtMs: clock.now() + 20_000 }) };
    const { port } = await serve(server, { tokenVerifier, clock });
    const { ended, status, socket } = await upgrade(port);
    expect(status).toBe(101);
    clock.advance(15_000);
    clock.advance(15_000);
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    socket.end();
    clock.advance(1_000);
    expect(closeCodeOf(await ended)).toBe(3000);
  });

  it('[ROBUSTNESS-7] are waited for only so long', async () => {
    const clock = new FakeClock();
    const { port, count } = await serve(server, { tokenVerifier: { verify: () => new Promise(() => undefined) }, clock });
    const answer = upgrade(port, { more: ['Authorization: Bearer ada'] });
    await clock.untilScheduled();
    clock.advance(10_000);
    expect((await answer).status).toBe(503);
    expect(count).toBe(0);
  });
});

describe('limits', () => {
  it('[ROBUSTNESS-8] answer 503 past all connections and 429 past those of one key, and count down again', async () => {
    const serving = await serve(server, {
      maxConnections: 3,
      maxConnectionsPerKey: 2,
      limitKey: (request) => String(request.headers['x-key']),
    });
    const { port } = serving;
    const open = (key: string) => upgrade(port, { more: [`X-Key: ${key}`] });
    const [first] = [await open('a'), await open('a')];
    const third = await open('a');
    expect(third.status).toBe(429);
    expect(third.head).toContain('Retry-After');
    expect((await open('b')).status).toBe(101);
    expect((await open('c')).status).toBe(503);
    first?.socket.destroy();
    while (serving.count === 3) await new Promise((resolve) => setImmediate(resolve));
    expect((await open('c')).status).toBe(101);
  });

  it.each([{ path: 'mcp' }, { path: '/mcp?x' }, { maxConnections: 0 }, { allowedHosts: ['https://x'] }])(
    'refuses the options %j',
    async (options) => {
      await expect(serve(server, options)).rejects.toThrow(TypeError);
    },
  );

  it.each(['maxMessageBytes', 'heartbeatMs'])(
    'refuses a %s that is not a number, or too small: it would silently be no bound',
    async (name) => {
      for (const value of [NaN, -1, '30000', null]) {
        const message = expect.stringMatching(`options: "${name}" must be a number, [01] or more, got `) as string;
        await expect(serve(server, { [name]: value })).rejects.toMatchObject({ name: 'TypeError', message });
        if (name === 'heartbeatMs') continue;
        expect(() => webSocketTransport('ws://127.0.0.1/mcp', { [name]: value })).toThrow(
          expect.objectContaining({ name: 'TypeError', message }),
        );
      }
      await expect(serve(server, { drainMs: NaN })).rejects.toThrow(/"drainMs" must be a number, 0 or more, got NaN/);
    },
  );

  it.each([2 ** 32 + 5, Infinity])('may be more than 32 bits can count: %s bytes', async (bound) => {
    const { url } = await serve(server, { maxMessageBytes: bound });
    const client = await connect(url, {}, { maxMessageBytes: bound });
    expect(await client.callTool('echo', { text: 'longer than five bytes' })).toMatchObject({
      content: [{ text: 'longer than five bytes' }],
    });
  });

  it('refuses an unknown option, so that nobody serves without the token that was meant', async () => {
    const misspelt = { tokenVerifer: { verify: () => undefined } };
    const refusal = /^[a-zA-Z ]+ options: unknown option "tokenVerifer" \(known: .*\)$/;
    await expect(serve(server, misspelt as never)).rejects.toThrow(refusal);
    expect(() => attachWebSocket(server, createServer(), misspelt as never)).toThrow(refusal);
    expect(() => webSocketTransport('ws://127.0.0.1/mcp', misspelt as never)).toThrow(refusal);
  });

  it.each([undefined, {}, { port: '3001' }, { port: 70_000 }, { port: -1 }, { port: NaN }])(
    'says how to name a port where it is given %j',
    async (given) => {
      const message = expect.stringMatching(/from 0 to 65535, as in .*; 0 is any free port|"port" must be a number, 0 or more/) as string;
      await expect(serveWebSocket(server, given as never)).rejects.toMatchObject({ name: 'TypeError', message });
    },
  );

  it.each([undefined, {}, 'server'])('refuses to serve %j, which is no server', async (nothing) => {
    const message = expect.stringContaining('is not a server') as string;
    await expect(serve(nothing as never)).rejects.toMatchObject({ name: 'TypeError', message });
    expect(() => attachWebSocket(nothing as never, createServer())).toThrow(expect.objectContaining({ name: 'TypeError', message }));
  });

  it.each(['allowedHosts', 'allowedOrigins'])('says of %s that it must be an array', async (name) => {
    const message = expect.stringContaining(`"${name}" must be an array`) as string;
    await expect(serve(server, { [name]: 'app.example.com' })).rejects.toMatchObject({ name: 'TypeError', message });
  });
});

describe('attachWebSocket', () => {
  it('[ROBUSTNESS-5] refuses an upgrade that nobody takes, and survives one that is reset', async () => {
    const httpServer = createServer((_request, response) => void response.end('page'));
    await new Promise<void>((resolve) => httpServer.listen(0, '127.0.0.1', resolve));
    closeLater(() => httpServer.close());
    const { port } = httpServer.address() as AddressInfo;
    const attached = attachWebSocket(server, httpServer, { path: '/ws' });
    closeLater(() => attached.close({ drainMs: 0 }));
    expect((await upgrade(port, { path: '/other' })).status).toBe(404);
    // The program listens, but does not answer.
    const taken = new Promise<Duplex>((resolve) => httpServer.on('upgrade', (_request, socket) => resolve(socket)));
    const client = connectSocket(port, '127.0.0.1');
    client.write(`GET /other HTTP/1.1\r\n${usualLines(port).join('\r\n')}\r\n\r\n`);
    const socket = await taken;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    client.resetAndDestroy();
    await closed;
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('page');
  });

  it('serves one path of an HTTP server, and leaves it the others', async () => {
    const httpServer = createServer((_request, response) => void response.end('page'));
    httpServer.on('upgrade', (request, socket) => {
      if (request.url === '/other') socket.end('HTTP/1.1 418 Teapot\r\n\r\n');
    });
    await new Promise<void>((resolve) => httpServer.listen(0, '127.0.0.1', resolve));
    closeLater(() => httpServer.close());
    const { port } = httpServer.address() as AddressInfo;
    const attached = attachWebSocket(server, httpServer, { path: '/ws' });
    const client = await connect(`ws://127.0.0.1:${port}/ws`);
    expect((await client.callTool('add', { a: 1, b: 1 })).structuredContent).toEqual({ sum: 2 });
    expect(attached.count).toBe(1);
    expect((await upgrade(port, { path: '/other' })).status).toBe(418);
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('page');
    await attached.close();
    expect(attached.count).toBe(0);
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('page');
  });
});

describe("the client's address", () => {
  it('is named with its path where nothing is served there', async () => {
    const { port } = await serve(server);
    await expect(connect(`ws://127.0.0.1:${port}/mpc?key=secret`, { era: 'modern' })).rejects.toMatchObject({
      code: 'ERR_CONNECT_FAILED',
      status: 404,
      message: `127.0.0.1:${port}/mpc refused the WebSocket with HTTP status 404: correct the path of the URL, which is usually "/mcp"`,
    });
  });

  it.each(['http://127.0.0.1/mcp', 'ws://user:pw@127.0.0.1/', 'ws://127.0.0.1/#x', 'nonsense'])('refuses %s', (url) => {
    expect(() => webSocketTransport(url)).toThrow(TypeError);
  });

  it('[ROBUSTNESS-11] does not carry credentials unencrypted to another machine, unless told so', () => {
    const headers = { Authorization: 'Bearer x' };
    expect(() => webSocketTransport('ws://example.com/mcp', { headers })).toThrow(/unencrypted/);
    expect(() => webSocketTransport('ws://example.com/mcp', { headers, allowInsecure: true })).not.toThrow();
    expect(() => webSocketTransport('wss://example.com/mcp', { headers })).not.toThrow();
    expect(() => webSocketTransport('ws://[::1]/mcp', { headers })).not.toThrow();
  });

  it('names the server without what a query may hold', () => {
    const { eraKey } = webSocketTransport('ws://127.0.0.1:1/mcp?token=secret');
    expect(eraKey).toMatch(/^ws:\/\/127\.0\.0\.1:1\/mcp#[0-9a-f]{8}$/);
  });

  it('fails to connect with an error that names the host', async () => {
    const { port, close } = await serve(server);
    await close();
    await expect(webSocketTransport(`ws://127.0.0.1:${port}/mcp`).start()).rejects.toMatchObject({
      code: 'ERR_CONNECT_FAILED',
      message: expect.stringContaining(`127.0.0.1:${port}`) as string,
    });
  });
});
