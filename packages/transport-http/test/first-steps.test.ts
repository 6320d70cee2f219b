/** What those who begin get wrong, and what they are told. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import fastify from 'fastify';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Logger } from '@mortise/jsonrpc-core';
import { McpClient } from '@mortise/client';
import type { McpEndpoint } from '@mortise/protocol/contracts';
import { McpServer } from '@mortise/server';
import { HttpOptionError } from '@mortise/transport-http';
import { httpTransport, SSEClientTransport, StreamableHTTPClientTransport } from '@mortise/transport-http/client';
import { nodeHttpSender, serveHttp, type ServeHttpOptions } from '@mortise/transport-http/node';
import { mountOnExpress } from '@mortise/transport-http/express';
import { fastifyMcp } from '@mortise/transport-http/fastify';
import { mountOnHono } from '@mortise/transport-http/hono';
import { createHttpHandler, type HttpHandlerOptions, StreamableHTTPServerTransport } from '@mortise/transport-http/server';
import { send } from './support/send.ts';
import { FACES, serve, type Serving } from './support/serve.ts';
import { ScriptedEndpoint } from './support/scripted-endpoint.ts';

const ME = { name: 'test', version: '1' };

describe('serveHttp', () => {
  const server = new McpServer(ME);

  it.each([undefined, {}, { host: '127.0.0.1' }])('says how to name a port where it is given %j', async (options) => {
    await expect(serveHttp(server, options as unknown as ServeHttpOptions)).rejects.toMatchObject({
      code: 'ERR_HTTP_OPTION',
      message: expect.stringMatching(/"port" is missing: .*\{ port: 3000 \}.* 0 for any/),
    });
  });

  it.each([70_000, -1, 1.5, NaN, '3000', null])('refuses the port %j', async (port) => {
    await expect(serveHttp(server, { port } as unknown as ServeHttpOptions)).rejects.toMatchObject({
      code: 'ERR_HTTP_OPTION',
      message: expect.stringMatching(/"port" cannot be .*: give a whole number from 0 to 65535/),
    });
  });

  it.each([NaN, -1, '1000', null])('refuses %j for the time that answers have when it closes', async (drainMs) => {
    await expect(serveHttp(server, { port: 0, drainMs } as unknown as ServeHttpOptions)).rejects.toMatchObject({
      code: 'ERR_HTTP_OPTION',
      message: expect.stringMatching(/"drainMs" must be a number, 0 or more, got /),
    });
  });

  it('names host, port, reason and remedy where the port is in use', async () => {
    await using first = await serveHttp(server, { port: 0 });
    const { port } = first;
    const error: unknown = await serveHttp(server, { port }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(HttpOptionError);
    expect(error).toMatchObject({ code: 'ERR_LISTEN', errno: 'EADDRINUSE', cause: { code: 'EADDRINUSE' } });
    expect((error as Error).message).toBe(
      `Cannot listen on 127.0.0.1:${port}: another program listens there: end it, give another "port", or 0 for any that is free`,
    );
  });

  it('names the host where that is no address of this machine', async () => {
    // Of a block that is kept for documents: RFC 5737.
    const error: unknown = await serveHttp(server, { port: 0, host: '203.0.113.7' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'ERR_LISTEN', errno: 'EADDRNOTAVAIL' });
    expect((error as Error).message).toContain('"203.0.113.7" is not an address of this machine');
  });

  it.each([undefined, {}, 'server', { port: 0 }])('refuses to serve %j, which is no server', async (nothing) => {
    const message = expect.stringContaining('The first argument of serveHttp and createHttpHandler must be a server');
    await expect(serveHttp(nothing as unknown as McpEndpoint, { port: 0 })).rejects.toMatchObject({ code: 'ERR_HTTP_OPTION', message });
    await expect(serveHttp(nothing as unknown as McpEndpoint, undefined as never)).rejects.toMatchObject({ message });
    expect(() => createHttpHandler(nothing as unknown as McpEndpoint)).toThrow(
      expect.objectContaining({ code: 'ERR_HTTP_OPTION', message }),
    );
  });

  it.each(['allowedHosts', 'allowedOrigins'])('wants a list for "%s", and says so of a text', async (name) => {
    await expect(serveHttp(server, { port: 0, [name]: '*' })).rejects.toMatchObject({
      code: 'ERR_HTTP_OPTION',
      message: `options of an HTTP server: "${name}" must be an array, got "*"`,
    });
  });

  describe('where a handler throws', () => {
    /** A call that fails, of a server that has no logger unless it is given one. */
    async function fail(own: Logger | undefined, options: Partial<ServeHttpOptions>): Promise<void> {
      const failing = new McpServer(ME, { logger: own });
      failing.registerTool('t', {}, () => {
        throw new TypeError('a fault within');
      });
      await using serving = await serveHttp(failing, { port: 0, ...options });
      const client = await McpClient.connect(httpTransport(serving.url), ME);
      expect(await client.callTool('t')).toMatchObject({ isError: true });
      await client.close();
      await failing.close();
    }

    const keep = (kept: unknown[]): Logger => ({ log: (_level, _message, data) => kept.push(data?.['error']) });
    const fault = [expect.objectContaining({ message: 'a fault within' })];

    it('writes the error with its stack to standard error', async () => {
      const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
      try {
        await fail(undefined, {});
        expect(written.mock.calls.join('')).toMatch(/^error: .*\n? *(?:error: )?TypeError: a fault within\n\s+at .*first-steps/s);
      } finally {
        written.mockRestore();
      }
    });

    it('tells its own logger, or else that of the server alone', async () => {
      const ofHttp: unknown[] = [];
      await fail(undefined, { logger: keep(ofHttp) });
      expect(ofHttp).toEqual(fault);
      const ofServer: unknown[] = [];
      await fail(keep(ofServer), { logger: keep(ofHttp) });
      expect(ofServer).toEqual(fault);
      expect(ofHttp).toHaveLength(1);
    });
  });
});

describe('a mount', () => {
  const server = new McpServer(ME);
  const app = { all: () => undefined };

  it.each([
    [
      'an application that comes second',
      () => mountOnExpress(server as never, app as never),
      /first argument must be an application or a router/,
    ],
    [
      'an application of Hono that comes second',
      () => mountOnHono(server as never, app as never),
      /first argument must be an application or a router/,
    ],
    [
      'a path for its options',
      () => mountOnExpress(app, server, '/mcp' as never),
      /options of an HTTP server must be an object, got "\/mcp"/,
    ],
    ['null for its options', () => fastifyMcp(server, null as never)(app as never), /must be an object, got null/],
    ['no server', () => mountOnExpress(app, {} as never), /must be a server/],
  ])('refuses %s and says what it wants', (_what, mount, message) => {
    expect(mount).toThrow(expect.objectContaining({ code: 'ERR_HTTP_OPTION', message: expect.stringMatching(message) as string }) as Error);
  });

  async function onExpress(served: McpEndpoint): Promise<{ url: string } & AsyncDisposable> {
    const application = express();
    const handler = mountOnExpress(application, served);
    const http = createServer(application);
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
      [Symbol.asyncDispose]: async () => {
        await handler.close();
        http.closeAllConnections();
        await new Promise((resolve) => http.close(resolve));
      },
    };
  }

  async function onFastify(served: McpEndpoint): Promise<{ url: string } & AsyncDisposable> {
    const application = fastify();
    application.register(fastifyMcp(served));
    const url = await application.listen({ port: 0, host: '127.0.0.1' });
    return { url: `${url}/mcp`, [Symbol.asyncDispose]: () => application.close() };
  }

  it('of Express or Fastify writes faults to standard error, as serveHttp does', async () => {
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      const failing = new McpServer(ME);
      failing.registerTool('fail', {}, () => {
        throw new TypeError('a fault within');
      });
      for (const mount of [onExpress, onFastify]) {
        written.mockClear();
        await using serving = await mount(failing);
        const client = await McpClient.connect(httpTransport(serving.url), ME);
        expect(await client.callTool('fail')).toMatchObject({ isError: true });
        await client.close();
        expect(written.mock.calls.join('')).toContain('TypeError: a fault within');
      }
    } finally {
      written.mockRestore();
    }
  });
});

describe('an option that there is not', () => {
  const server = new McpServer(ME);
  const url = 'http://127.0.0.1/mcp';
  const misspelt = { tokenVerifer: { verify: () => undefined } };
  const refusal = (name: string, whose: string): unknown =>
    expect.objectContaining({
      code: 'ERR_HTTP_OPTION',
      message: expect.stringContaining(`options of an HTTP ${whose}: unknown option "${name}" (known: `) as string,
    });

  it('is refused by name where a server is served, so that nobody serves without the token that was meant', async () => {
    const error = refusal('tokenVerifer', 'server');
    const options = { port: 0, ...misspelt };
    await expect(serveHttp(server, options)).rejects.toEqual(error);
    expect(() => createHttpHandler(server, misspelt as object)).toThrow(error as Error);
    expect(() => mountOnExpress({ all: () => undefined }, server, misspelt as object)).toThrow(error as Error);
    expect(() => new StreamableHTTPServerTransport(misspelt as object)).toThrow(error as Error);
  });

  it.each([
    ['httpTransport', () => httpTransport(url, { header: {} } as object)],
    ['StreamableHTTPClientTransport', () => new StreamableHTTPClientTransport(url, { header: {} } as object)],
    ['SSEClientTransport', () => new SSEClientTransport(url, { header: {} } as object)],
  ])('is refused by name where a client is given it: %s', (_, make) => {
    expect(make).toThrow(refusal('header', 'client') as Error);
  });

  it('is refused as a path of HTTP+SSE that no request has', () => {
    expect(() => createHttpHandler(server, { sse: 'old' })).toThrow('The option "sse" must begin with "/", got "old"');
  });

  it.each([
    ['tokenVerifier', 'verify'],
    ['sessionStore', 'get'],
    ['messageBus', 'publish'],
    ['eventStore', 'append'],
  ])('is refused where an object lacks its functions: %s', (name, method) => {
    const error = new RegExp(`"${name}" must be an object with a function "${method}"`);
    expect(() => createHttpHandler(server, { [name]: {} })).toThrow(error);
    const refused = expect.objectContaining({ code: 'ERR_HTTP_OPTION' }) as Error;
    expect(() => httpTransport(url, { authorizer: {} } as object)).toThrow(refused);
  });

  it('is refused where a signal is none', async () => {
    const error = expect.objectContaining({
      code: 'ERR_HTTP_OPTION',
      message: expect.stringContaining('"signal" must be an AbortSignal') as string,
    });
    await expect(serveHttp(server, { port: 0, signal: {} as AbortSignal })).rejects.toEqual(error);
  });

  it.each([{ agents: {} }, { agent: 'keep' }])('is refused where requests are sent by node:http: %j', (options) => {
    expect(() => nodeHttpSender(options as object)).toThrow(expect.objectContaining({ code: 'ERR_HTTP_OPTION' }) as Error);
  });

  it('is refused where a client, or a server, is given no revision', async () => {
    const connecting = McpClient.connect(httpTransport(url), ME, { revisions: [] });
    await expect(connecting).rejects.toThrow('The option "revisions" must contain a revision');
    expect(() => new McpServer(ME, { revisions: [] })).toThrow('revisions: give values of @mortise/protocol, at least one');
  });

  it('is not one that is undefined, nor one of the other function that the same options are for', async () => {
    const { signal } = new AbortController();
    // Each that `serveHttp` has beside those of `createHttpHandler`: the compiler sees to it.
    const ofServeHttp = { port: 0, host: '127.0.0.1', drainMs: 1, signal };
    const whole: Record<Exclude<keyof ServeHttpOptions, keyof HttpHandlerOptions>, unknown> = ofServeHttp;
    const ofServers = { ...ofServeHttp, legacy: true, nothing: undefined };
    await using serving = await serveHttp(server, ofServers);
    expect(new URL(serving.url).hostname).toBe(whole.host);
    await createHttpHandler(server, ofServers).close();
    const ofClients = { sessionId: 's', keepsSession: true, reconnectionOptions: {}, nothing: undefined };
    await httpTransport(url, ofClients).close();
    await new StreamableHTTPClientTransport(url, ofClients).renew().close();
    await new SSEClientTransport(url, ofClients as object).renew().close();
  });
});

describe('an option that is a number', () => {
  const server = new McpServer(ME);
  const url = 'http://127.0.0.1/mcp';
  const refusal = (name: string, whose: string, rule: string): Error =>
    expect.objectContaining({ code: 'ERR_HTTP_OPTION', message: `${whose}: "${name}" must be a number, ${rule}` }) as Error;
  /** What they are not, and how that is shown. A text would be compared as if it were none, so that nothing is over the bound. */
  const bad = [
    ['4mb', '"4mb"'],
    [NaN, 'NaN'],
    [null, 'null'],
  ] as const;

  const ofServers = [...['maxBodyBytes', 'maxSessions', 'maxSessionsPerKey', 'sessionIdleMs', 'stallMs']];
  it.each(ofServers)('[ROBUSTNESS-7] is refused by name where a server is given something else: %s', (name) => {
    for (const [value, shown] of [...bad, [0, '0'] as const]) {
      const make = (): unknown => createHttpHandler(server, { [name]: value });
      expect(make).toThrow(refusal(name, 'options of an HTTP server', `1 or more, got ${shown}`));
    }
  });

  it.each(['maxMessageBytes'])('[ROBUSTNESS-7] is refused by name where a client is given something else: %s', (name) => {
    for (const [value, shown] of [...bad, [0, '0'] as const]) {
      const make = (): unknown => httpTransport(url, { [name]: value });
      expect(make).toThrow(refusal(name, 'options of an HTTP client', `1 or more, got ${shown}`));
    }
  });

  it('[ROBUSTNESS-10] is refused where it says how calmly streams are opened again', () => {
    for (const [value, shown] of bad) {
      const error = refusal('maxRetries', 'options of an HTTP client, reconnectionOptions', `0 or more, got ${shown}`);
      const options = { reconnectionOptions: { maxRetries: value as number } };
      expect(() => httpTransport(url, options)).toThrow(error);
      expect(() => new StreamableHTTPClientTransport(url, options)).toThrow(error);
    }
  });

  it('may be without end', async () => {
    const endless = Object.fromEntries([...ofServers, 'drainMs'].map((name) => [name, Infinity]));
    await createHttpHandler(server, { ...endless, maxBodyBytes: 1 }).close();
    await httpTransport(url, { maxMessageBytes: Infinity, reconnectionOptions: { maxRetries: Infinity } }).close();
  });
});

describe.each([undefined, 'modern', 'legacy'] as const)('a client of the era %s that is turned away unread', (era) => {
  it('learns status and address where the path is wrong, and nothing of an era', async () => {
    await using serving = await serveHttp(new McpServer(ME), { port: 0 });
    const url = new URL('/', serving.url);
    await expect(McpClient.connect(httpTransport(url), ME, { era })).rejects.toMatchObject({
      code: 'ERR_EXCHANGE_HTTP',
      status: 404,
      rpcError: { code: -32600 },
      message: `POST ${url.origin}/ was answered with HTTP status 404: There is nothing at this path: the MCP endpoint is at "/mcp"`,
    });
  });

  it('learns status and address where its message is too long', async () => {
    const server = new McpServer(ME);
    server.registerTool('echo', {}, () => 'done');
    await using serving = await serveHttp(server, { port: 0, maxBodyBytes: 2000 });
    await using client = await McpClient.connect(httpTransport(serving.url), ME, { era });
    await expect(client.callTool('echo', { text: 'x'.repeat(3000) })).rejects.toMatchObject({
      code: 'ERR_EXCHANGE_HTTP',
      status: 413,
      message: expect.stringContaining(`POST ${serving.url} was answered with HTTP status 413: The body is longer than 2000 bytes`),
    });
  });
});

describe.each(FACES)('a wrong path over the %s face', (face) => {
  let serving: Serving;
  afterEach(() => serving.close());

  it('is answered with 404 and the path that is right', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { path: '/mcp' });
    const answer = await send(serving.port, { path: '/' });
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { jsonrpc: '2.0', error: { code: -32600, message: 'There is nothing at this path: the MCP endpoint is at "/mcp"' } },
    ]);
  });

  it('is answered with the path of HTTP+SSE too where that is on, and told to whoever connects', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { path: '/mcp', sse: '/old' });
    const connecting = McpClient.connect(httpTransport(`http://127.0.0.1:${serving.port}/`), ME);
    await expect(connecting).rejects.toMatchObject({
      message: expect.stringContaining('the MCP endpoint is at "/mcp", that of HTTP+SSE at "/old"'),
    });
  });
});

describe('httpTransport', () => {
  it.each([
    ['localhost:3000/mcp', '"localhost:3000/mcp"'],
    ['127.0.0.1:3000/mcp', '"127.0.0.1:3000/mcp"'],
    ['/mcp', '"/mcp"'],
    ['ws://host/mcp', '"ws://host/mcp"'],
    ['host/mcp?token=secret', '"host/mcp"'],
    ['me:secret@host/mcp', 'a URL with a user name'],
  ])('says what it got for an address where %j was given, without secrets', (url, shown) => {
    expect(() => httpTransport(url)).toThrow(
      expect.objectContaining({
        code: 'ERR_HTTP_OPTION',
        message: `The URL must begin with "https://" or "http://", such as https://host/mcp, got ${shown}`,
      }),
    );
  });

  it.each([undefined, null, 7])('says which header has no text where it is given %j', (value) => {
    const headers = { 'X-Api-Key': value } as unknown as Record<string, string>;
    const message = expect.stringMatching(/^The header "x-api-key" in the option "headers" must be a string/);
    expect(() => httpTransport('http://127.0.0.1/mcp', { headers })).toThrow(expect.objectContaining({ code: 'ERR_HTTP_OPTION', message }));
  });

  let site: Server | undefined;
  afterEach(() => {
    site?.closeAllConnections();
    site?.close();
  });

  const eras = [undefined, 'modern', 'legacy'] as const;
  const pages = [200, 404, 405, 500].flatMap((status) => eras.map((era) => ({ status, era })));
  it.each(pages)('says that it got a web page, where a site answers with $status (era: $era)', async ({ status, era }) => {
    site = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
      response.end('<html><title>Welcome</title></html>');
    });
    const server = site;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/mcp`;
    await expect(McpClient.connect(httpTransport(url), ME, { era })).rejects.toMatchObject({
      code: 'ERR_EXCHANGE_HTTP',
      status,
      message: `POST ${url} was answered with HTTP status ${status} and a body of type "text/html": that is a web page and no MCP server: check the URL`,
    });
  });
});
