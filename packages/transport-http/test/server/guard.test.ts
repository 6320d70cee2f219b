import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpHandler, type HttpHandlerOptions } from '@mortise/transport-http/server';
import { initializeRequest, LegacyClient } from '../support/legacy-client.ts';
import { modern, modernHeaders, modernRequest } from '../support/modern.ts';
import { ACCEPT, send, type Send } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';
import { ScriptedEndpoint } from '../support/scripted-endpoint.ts';

let serving: Serving;
afterEach(() => serving.close());

const ALL_DOORS: HttpHandlerOptions = { sse: true, resourceMetadata: { resource: 'http://localhost/mcp' } };

/** Every way in, as a request that would be served if it came from a friend. */
function doors(client: LegacyClient): readonly (readonly [string, Send])[] {
  const request = modernRequest('tools/list');
  const json = { 'content-type': 'application/json', accept: ACCEPT };
  return [
    ['modern POST', { headers: { ...json, ...modernHeaders(request) }, body: JSON.stringify(request) }],
    ['initialize', { headers: json, body: JSON.stringify(initializeRequest()) }],
    ['session POST', { headers: { ...json, ...client.headers }, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }],
    ['GET stream', { method: 'GET', headers: { ...client.headers, accept: 'text/event-stream' } }],
    ['HTTP+SSE stream', { method: 'GET', path: '/sse', headers: { accept: 'text/event-stream' } }],
    ['HTTP+SSE message', { path: '/messages?sessionId=x', headers: json, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }],
    ['metadata', { method: 'GET', path: '/.well-known/oauth-protected-resource/mcp' }],
    ['preflight', { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } }],
    ['upgrade', { method: 'GET', headers: { connection: 'Upgrade', upgrade: 'websocket' } }],
    ['a path that is not there', { method: 'GET', path: '/nothing' }],
    ['DELETE', { method: 'DELETE', headers: client.headers }],
  ];
}

function withHeaders({ headers, ...rest }: Send, more: Record<string, string>): Send {
  return { ...rest, headers: { ...(headers as Record<string, string>), ...more } };
}

describe.each(FACES)('the guard over the %s face', (face) => {
  it('[ROBUSTNESS-1][HTTP-002][SSE-006] refuses a foreign Host and a foreign Origin at every door', async () => {
    serving = await serve(face, new ScriptedEndpoint(), ALL_DOORS);
    const client = await LegacyClient.open(serving.port);
    const foreign = [
      { host: 'evil.example.com' },
      { origin: 'http://evil.example.com' },
      { host: 'evil.example.com', origin: 'http://evil.example.com' },
      { origin: 'null' },
    ];
    for (const [door, request] of doors(client)) {
      for (const headers of foreign) {
        const answer = await send(serving.port, withHeaders(request, headers));
        expect([door, headers, answer.status]).toEqual([door, headers, 403]);
      }
    }
  });

  it('[HTTP-002] lets every door be used by a friend', async () => {
    serving = await serve(face, new ScriptedEndpoint(), ALL_DOORS);
    const client = await LegacyClient.open(serving.port);
    const statuses: (readonly [string, number])[] = [];
    for (const [door, request] of doors(client)) {
      const answer = await send(serving.port, withHeaders(request, { origin: `http://localhost:${serving.port}` }));
      statuses.push([door, answer.status]);
      answer.leave();
    }
    expect(Object.fromEntries(statuses)).toEqual({
      'modern POST': 200,
      initialize: 200,
      'session POST': 200,
      'GET stream': 200,
      'HTTP+SSE stream': 200,
      'HTTP+SSE message': 404,
      metadata: 200,
      preflight: 204,
      upgrade: 406,
      'a path that is not there': 404,
      DELETE: 204,
    });
  });

  it('[HTTP-003] refuses a foreign Origin with 403 and an error without id', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const answer = await modern(serving.port, 'tools/list', {}, { origin: 'https://evil.example' });
    const body = await answer.json();
    expect([answer.status, 'id' in body, body['error']]).toMatchObject([
      403,
      false,
      { message: expect.stringContaining('allowedOrigins') },
    ]);
  });

  it.each([
    ['127.0.0.1', 200],
    ['127.0.0.1:1234', 200],
    ['localhost', 200],
    ['LOCALHOST:80', 200],
    ['[::1]:3000', 200],
    ['localhost.', 200],
    ['localhost.evil.example', 403],
    ['evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['2130706433', 403],
    ['0x7f.1', 403],
    ['127.1', 403],
    ['0.0.0.0', 403],
    ['localhost@evil.example', 403],
  ])('[ROBUSTNESS-1] answers Host %s with %i', async (host, status) => {
    serving = await serve('node', new ScriptedEndpoint());
    expect((await modern(serving.port, 'tools/list', {}, { host })).status).toBe(status);
  });

  it.each([
    [['mcp.example.com'], 'mcp.example.com', 200],
    [['mcp.example.com'], 'mcp.example.com:8443', 200],
    [['MCP.example.com'], 'mcp.EXAMPLE.com', 200],
    [['mcp.example.com:8443'], 'mcp.example.com:8443', 200],
    [['mcp.example.com:8443'], 'mcp.example.com', 403],
    [['mcp.example.com'], 'other.example.com', 403],
  ])('goes by allowedHosts %j for %s', async (allowedHosts, host, status) => {
    serving = await serve(face, new ScriptedEndpoint(), { allowedHosts });
    expect((await modern(serving.port, 'tools/list', {}, { host })).status).toBe(status);
  });

  it.each([
    [[], 'http://localhost:5173', 200],
    [[], 'http://127.0.0.1:6274', 200],
    [[], 'https://app.example', 403],
    [['https://app.example'], 'https://app.example', 200],
    [['https://app.example'], 'http://app.example', 403],
    [['https://app.example'], 'https://app.example:444', 403],
    [['https://app.example'], 'https://app.example.evil.example', 403],
    [['https://app.example'], 'https://app.example/', 403],
    [['*'], 'https://anyone.example', 200],
  ])('goes by allowedOrigins %j for %s', async (allowedOrigins, origin, status) => {
    serving = await serve(face, new ScriptedEndpoint(), { allowedOrigins });
    expect((await modern(serving.port, 'tools/list', {}, { origin })).status).toBe(status);
  });

  it.each([
    ['text/plain', 415],
    ['application/jsonp', 415],
    ['application/json-patch+json', 415],
    ['application/json, text/plain', 415],
    ['', 415],
    ['application/json; charset=latin1', 415],
    ['application/json; charset=utf-8', 200],
    ['APPLICATION/JSON;charset="UTF-8"', 200],
  ])('[ROBUSTNESS-2] answers Content-Type %j with %i', async (type, status) => {
    serving = await serve(face, new ScriptedEndpoint());
    expect((await modern(serving.port, 'tools/list', {}, { 'content-type': type })).status).toBe(status);
  });

  it.each([
    ['application/json, text/event-stream', 200],
    ['*/*', 200],
    ['application/*', 200],
    ['text/event-stream', 200],
    ['text/html', 406],
    ['application/json;q=0, text/html', 406],
    ['application/json;q=0.5', 200],
  ])('[HTTP-007] answers Accept %j with %i', async (accept, status) => {
    serving = await serve(face, new ScriptedEndpoint());
    expect((await modern(serving.port, 'tools/list', {}, { accept })).status).toBe(status);
  });

  it('refuses methods that it does not serve, and compressed bodies', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const put = await send(serving.port, { method: 'PUT' });
    expect([put.status, put.headers.allow]).toEqual([405, 'POST, GET, DELETE, OPTIONS']);
    const gzip = await send(serving.port, { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' }, body: '{}' });
    expect(gzip.status).toBe(415);
  });
});

describe('exact reading', () => {
  it.each(['host', 'origin', 'mcp-method', 'mcp-protocol-version', 'mcp-session-id', 'mcp-param-region', 'content-type', 'authorization'])(
    '[ROBUSTNESS-2] refuses a second line of %s',
    async (name) => {
      serving = await serve('node', new ScriptedEndpoint());
      const request = modernRequest('tools/list');
      const one = { host: `127.0.0.1:${serving.port}`, 'content-type': 'application/json', ...modernHeaders(request) } as Record<
        string,
        string
      >;
      const value = one[name] ?? 'x';
      const body = JSON.stringify(request);
      const lines = [
        ...Object.entries({ ...one, [name]: value }),
        [name, value],
        ['content-length', String(body.length)],
        ['connection', 'close'],
      ].map(([key, line]) => `${key}: ${line}`);
      const text = await raw(serving.port, `POST /mcp HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
      expect(text).toMatch(/^HTTP\/1\.1 400/);
    },
  );

  it('[ROBUSTNESS-2] refuses values that a comma joined on the web face', async () => {
    serving = await serve('fetch', new ScriptedEndpoint());
    const request = modernRequest('tools/list');
    for (const name of ['origin', 'authorization', 'mcp-session-id', 'mcp-protocol-version', 'mcp-method']) {
      const headers = new Headers({ 'content-type': 'application/json', ...modernHeaders(request) });
      headers.append(name, 'a');
      headers.append(name, 'b');
      const answer = await serving.handler.fetch(
        new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(request) }),
      );
      expect([name, answer.status]).toEqual([name, 400]);
    }
  });

  it('[ROBUSTNESS-2] understands absolute-form targets, and refuses one that names another host than Host does', async () => {
    serving = await serve('node', new ScriptedEndpoint());
    const host = `127.0.0.1:${serving.port}`;
    const get = (target: string): Promise<string> =>
      raw(serving.port, `GET ${target} HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\nconnection: close\r\n\r\n`);
    expect(await get(`http://${host}/mcp`)).toMatch(/^HTTP\/1\.1 400[\s\S]*Mcp-Session-Id/);
    expect(await get('http://evil.example/mcp')).toMatch(/^HTTP\/1\.1 400[\s\S]*one host/);
    expect(await get(`http://${host}/other`)).toMatch(/^HTTP\/1\.1 404/);
  });

  it.each([
    ['http://LOCALHOST/mcp', 'LOCALHOST', true],
    ['http://LocalHost/mcp', 'localhost', true],
    ['http://localhost:80/mcp', 'localhost:80', true],
    ['http://localhost/mcp', 'localhost:80', true],
    ['http://localhost:80/mcp', 'localhost', true],
    ['https://localhost/mcp', 'localhost:443', true],
    ['http://localhost/mcp', 'localhost:443', false],
    ['http://localhost:81/mcp', 'localhost', false],
    ['http://localhost/mcp', 'x@localhost', false],
  ])('[ROBUSTNESS-2] reads the host of the target "%s" as hosts are compared: with Host "%s" %s', async (target, host, isOne) => {
    serving = await serve('node', new ScriptedEndpoint());
    const answer = await raw(
      serving.port,
      `GET ${target} HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\nconnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(isOne ? /^HTTP\/1\.1 400[\s\S]*Mcp-Session-Id/ : /^HTTP\/1\.1 400[\s\S]*one host/);
  });

  it('[ROBUSTNESS-2] refuses a body that is not UTF-8', async () => {
    for (const face of FACES) {
      serving = await serve(face, new ScriptedEndpoint());
      const request = modernRequest('tools/list');
      const body = Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
      const answer = await send(serving.port, { headers: { 'content-type': 'application/json', ...modernHeaders(request) }, body });
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: -32700 } }]);
      await serving.close();
    }
  });

  it('[ROBUSTNESS-7] refuses too many headers with 431', async () => {
    serving = await serve('node', new ScriptedEndpoint());
    const headers = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`x-${at}`, '1']));
    expect((await send(serving.port, { headers })).status).toBe(431);
    const long = new Request('http://localhost/mcp', { method: 'POST', headers: { 'mcp-session-id': 'x'.repeat(20_000) } });
    expect((await serving.handler.fetch(long)).status).toBe(431);
  });

  it('knows no host on the web face unless the platform tells or the program does', async () => {
    serving = await serve('node', new ScriptedEndpoint());
    const request = modernRequest('tools/list');
    const ask = (host: string, options: HttpHandlerOptions, info: { readonly isLoopback?: boolean }): Promise<Response> =>
      createHttpHandler(new ScriptedEndpoint(), options).fetch(
        new Request(`http://${host}/mcp`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...modernHeaders(request) },
          body: JSON.stringify(request),
        }),
        info,
      );
    expect((await ask('mcp.example', {}, {})).status).toBe(403);
    expect((await ask('mcp.example', { allowedHosts: ['mcp.example'] }, {})).status).toBe(200);
    expect((await ask('mcp.example', {}, { isLoopback: false })).status).toBe(200);
    expect((await ask('localhost:3000', {}, {})).status).toBe(200);
  });
});

function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.on('end', () => resolve(received));
    socket.on('error', reject);
  });
}
