/** A protected server as clients meet it: exact statuses and challenges, what handlers see, and whose sessions are whose. */

import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@mortise/server';
import { MemoryMessageBus } from '@mortise/protocol';
import type { AuthInfo } from '@mortise/protocol/contracts';
import { MemoryEventStore, MemorySessionStore } from '@mortise/protocol/edge';
import { createHttpHandler, type HttpHandler, type HttpHandlerOptions } from '@mortise/transport-http/server';
import { type JWTPayload, UnsecuredJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { jwtVerifier, protect, type ProtectOptions } from '../../src/server.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { ISSUER, RESOURCE, TestIssuer } from './support/test-issuer.ts';

const WHERE = 'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"';
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
};

let issuer: TestIssuer;
let clock: FakeClock;
let seen: (AuthInfo | undefined)[];
const handlers: HttpHandler[] = [];
beforeEach(async () => {
  issuer = await TestIssuer.create();
  clock = new FakeClock(1_800_000_000_000);
  seen = [];
});
afterEach(() => Promise.all(handlers.splice(0).map((handler) => handler.close({ drainMs: 0 }))));

function createServer(): McpServer {
  const server = new McpServer({ name: 'protected', version: '1.0.0' });
  server.registerTool('who', {}, (ctx) => {
    seen.push(ctx.auth);
    return `${ctx.auth?.subject}`;
  });
  server.registerTool('erase', { scopes: ['files:write', 'files:erase'] }, (ctx) => {
    seen.push(ctx.auth);
    return 'erased';
  });
  server.registerTool('name', {}, async (ctx) => {
    const { content } = await ctx.elicit({
      message: 'What name?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    });
    return `${ctx.auth?.subject} says ${content?.['name']}`;
  });
  return server;
}

function serve(options: Partial<ProtectOptions> = {}, more: HttpHandlerOptions = {}): HttpHandler {
  const tokens = jwtVerifier({ issuer: ISSUER, audience: RESOURCE, fetch: issuer.fetch, clock });
  const { verifier, metadata } = protect({
    resource: RESOURCE,
    authorizationServers: [ISSUER],
    verifier: tokens,
    scopes: ['mcp'],
    ...options,
  });
  const handler = createHttpHandler(createServer(), {
    path: '/mcp',
    allowedHosts: ['mcp.example'],
    baseUrl: 'https://mcp.example',
    tokenVerifier: verifier,
    resourceMetadata: metadata,
    ...more,
  });
  handlers.push(handler);
  return handler;
}

const sign = (claims: JWTPayload = {}) => issuer.sign(claims, { atMs: clock.now() });

function send(
  handler: HttpHandler,
  token: string | undefined,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return handler.fetch(
    new Request(RESOURCE, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      headers: {
        host: 'mcp.example',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
    }),
  );
}

/** A call in the modern era. */
function call(handler: HttpHandler, token: string | undefined, name = 'who', more: object = {}): Promise<Response> {
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
  return send(handler, token, { id: 1, method: 'tools/call', params: { name, arguments: {}, _meta: META, ...more } }, headers);
}

async function refusalOf(response: Promise<Response>): Promise<readonly [number, string | null]> {
  const { status, headers } = await response;
  return [status, headers.get('www-authenticate')];
}

const invalid = (description: string) => [401, `Bearer error="invalid_token", error_description="${description}", scope="mcp", ${WHERE}`];

describe('a protected server over HTTP', () => {
  it('[AUTH-003][AUTH-011][AUTH-061] sends whoever brings no token to its authorization server', async () => {
    const handler = serve();
    expect(await refusalOf(call(handler, undefined))).toEqual([401, `Bearer scope="mcp", ${WHERE}`]);
    const where = /resource_metadata="([^"]+)"/.exec(WHERE)?.[1] ?? '';
    const metadata = await handler.fetch(new Request(where, { headers: { host: 'mcp.example' } }));
    expect(await metadata.json()).toMatchObject({ resource: RESOURCE, authorization_servers: [ISSUER], scopes_supported: ['mcp'] });
  });

  it.each<{ readonly what: string; readonly make: () => Promise<string>; readonly says: string }>([
    { what: 'for another audience', make: () => sign({ aud: 'https://other.example' }), says: 'The token was issued for another audience' },
    { what: 'of another issuer', make: () => sign({ iss: 'https://evil.example' }), says: 'The issuer of the token is not accepted' },
    { what: 'that has expired', make: () => sign({ exp: clock.now() / 1000 - 31 }), says: 'The token has expired' },
    {
      what: 'of the algorithm none',
      make: () =>
        Promise.resolve(new UnsecuredJWT({ iss: ISSUER, aud: RESOURCE, sub: 'ada', scope: 'mcp', exp: clock.now() / 1000 + 60 }).encode()),
      says: 'The token is signed with an algorithm that is not accepted',
    },
    {
      what: 'signed by a key that was rotated out',
      make: async () => {
        const token = await sign();
        await issuer.rotate();
        return token;
      },
      says: 'The token is signed with a key that the issuer does not publish',
    },
  ])('[AUTH-074][AUTH-075][AUTH-085] refuses a token $what, and no handler sees any of it', async ({ make, says }) => {
    const handler = serve();
    expect(await refusalOf(call(handler, await make()))).toEqual(invalid(says));
    expect(seen).toEqual([]);
  });

  it('[AUTH-064][AUTH-085] refuses a token without the scope of every request with 403', async () => {
    expect(await refusalOf(call(serve(), await sign({ scope: 'other' })))).toEqual([
      403,
      `Bearer error="insufficient_scope", error_description="The token lacks a scope that every request to this server needs", scope="mcp", ${WHERE}`,
    ]);
    expect(seen).toEqual([]);
  });

  it("[AUTH-064][AUTH-065][SEC-021] refuses a tool's call with 403 and all of the tool's scopes", async () => {
    const handler = serve();
    const token = await sign({ scope: 'mcp files:write' });
    const expected = [403, `Bearer error="insufficient_scope", scope="mcp files:write files:erase", ${WHERE}`];
    expect(await refusalOf(call(handler, token, 'erase'))).toEqual(expected);
    expect(seen).toEqual([]);
    expect((await call(handler, token)).status).toBe(200);
    expect((await call(handler, await sign({ scope: 'mcp files:write files:erase' }), 'erase')).status).toBe(200);
  });

  it('[AUTH-066] repeats what was granted already, for clients that do not add up scopes', async () => {
    const [, challenge] = await refusalOf(call(serve(), await sign({ scope: 'mcp mail:read' }), 'erase'));
    expect(challenge).toContain('scope="mcp files:write files:erase mail:read"');
  });

  it('[AUTH-071] lets a broader scope stand for those of a tool', async () => {
    const handler = serve({ impliedScopes: { admin: ['files:write', 'files:erase', 'mcp'] } });
    expect((await call(handler, await sign({ scope: 'admin' }), 'erase')).status).toBe(200);
  });

  it('[AUTH-085] answers a malformed header with 400', async () => {
    expect((await send(serve(), undefined, {}, { authorization: 'Bearer' })).status).toBe(400);
  });

  it('gives handlers what was verified', async () => {
    expect(await (await call(serve(), await sign({ tenant: 't1' }))).text()).toContain('ada');
    expect(seen[0]).toMatchObject({
      issuer: ISSUER,
      subject: 'ada',
      clientId: 'cli',
      scopes: ['mcp'],
      resource: RESOURCE,
      claims: { tenant: 't1' },
    });
  });

  it('[XWIF-006] takes the token of a workload as any other', async () => {
    const workload = { sub: 'spiffe://example/agent', client_id: undefined };
    expect((await call(serve(), await sign(workload))).status).toBe(200);
    expect(seen[0]).toMatchObject({ subject: 'spiffe://example/agent', scopes: ['mcp'] });
    expect((await call(serve(), await sign({ ...workload, aud: 'https://other.example' }))).status).toBe(401);
  });

  it('[SEC-004] takes a request state from the principal it was made for alone', async () => {
    const handler = serve();
    const asked = (await (await call(handler, await sign(), 'name')).json()) as {
      readonly result: { readonly requestState: string; readonly inputRequests: Readonly<Record<string, unknown>> };
    };
    const { requestState, inputRequests } = asked.result;
    const [key = ''] = Object.keys(inputRequests);
    const retry = { requestState, inputResponses: { [key]: { action: 'accept', content: { name: 'Ada' } } } };
    for (const claims of [{ sub: 'eve' }, { client_id: 'other' }]) {
      const answer = (await (await call(handler, await sign(claims), 'name', retry)).json()) as object;
      expect([JSON.stringify(answer).includes('says'), 'error' in answer]).toEqual([false, true]);
    }
    expect(await (await call(handler, await sign(), 'name', retry)).text()).toContain('ada says Ada');
  });

  it('[SEC-020] on this machine listens on loopback, and wants a token there too', async () => {
    const handler = serve({}, { baseUrl: 'http://127.0.0.1' });
    const server = createHttpServer((request, response) => void handler.node(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', body: '{}' });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Bearer')]);
    server.close();
  });

  it('[ROBUSTNESS-14] says nothing of the cause where the keys cannot be had, and repeats no token', async () => {
    issuer.fails = true;
    const token = await sign();
    const response = await call(serve(), token);
    const text = await response.text();
    expect([response.status, text.includes('fetch failed'), text.includes(token), response.headers.get('www-authenticate')]).toEqual([
      500,
      false,
      false,
      null,
    ]);
  });
});

describe('a protected session', () => {
  const VERSION = '2025-11-25';

  async function open(handler: HttpHandler, token: string): Promise<Readonly<Record<string, string>>> {
    const params = { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'c', version: '1' } };
    const response = await send(handler, token, { id: 1, method: 'initialize', params });
    const session = { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': VERSION };
    await response.text();
    await send(handler, token, { method: 'notifications/initialized' }, session);
    return session;
  }

  const listTools = { id: 2, method: 'tools/list' };

  it('[SEC-001] wants a token with each request: its id proves nothing', async () => {
    const handler = serve();
    const token = await sign();
    const session = await open(handler, token);
    expect((await send(handler, token, listTools, session)).status).toBe(200);
    expect((await send(handler, undefined, listTools, session)).status).toBe(401);
    clock.advance(11 * 60_000);
    expect(await refusalOf(send(handler, token, listTools, session))).toEqual(invalid('The token has expired'));
  });

  it("[SEC-003] is nobody else's, whether another person or another client", async () => {
    const handler = serve();
    const session = await open(handler, await sign());
    for (const claims of [{ sub: 'eve' }, { client_id: 'other' }])
      expect((await send(handler, await sign(claims), listTools, session)).status).toBe(404);
    expect((await send(handler, await sign(), listTools, session)).status).toBe(200);
  });

  it('[AUTH-064] answers the call of a tool whose scopes are lacking with 403', async () => {
    const handler = serve();
    const token = await sign();
    const session = await open(handler, token);
    const response = await send(handler, token, { id: 3, method: 'tools/call', params: { name: 'erase', arguments: {} } }, session);
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      403,
      `Bearer error="insufficient_scope", scope="mcp files:write files:erase", ${WHERE}`,
    ]);
    expect(await response.json()).toMatchObject({ id: 3, error: { data: { requiredScopes: ['files:write', 'files:erase'] } } });
  });

  it('[SEC-003] takes no event that another user puts in by way of a second server', async () => {
    const parts = { sessionStore: new MemorySessionStore(), eventStore: new MemoryEventStore(), messageBus: new MemoryMessageBus() };
    const [first, second] = [serve({}, parts), serve({}, parts)];
    const [victim, attacker] = [await sign(), await sign({ sub: 'eve' })];
    const session = await open(first, victim);
    const headers = { host: 'mcp.example', accept: 'text/event-stream', ...session };
    const listen = (handler: HttpHandler, token: string, more: Readonly<Record<string, string>> = {}) =>
      handler.fetch(new Request(RESOURCE, { headers: { ...headers, authorization: `Bearer ${token}`, ...more } }));
    const stream = await listen(first, victim);
    const events: string[] = [];
    const reading = collect(stream, events);

    // The second server knows the session, so only the principal keeps the attacker out.
    expect((await send(second, victim, listTools, session)).status).toBe(200);
    const attacks = [
      { id: 9, method: 'tools/call', params: { name: 'who', arguments: {}, _meta: { progressToken: 1 } } },
      { method: 'notifications/cancelled', params: { requestId: 2 } },
      { method: 'notifications/roots/list_changed' },
      { id: 1, result: { action: 'accept', content: {} } },
    ];
    for (const attack of attacks) expect((await send(second, attacker, attack, session)).status).toBe(404);
    expect((await listen(second, attacker)).status).toBe(404);
    expect((await listen(second, attacker, { 'last-event-id': 'get-1' })).status).toBe(404);
    const end = await second.fetch(
      new Request(RESOURCE, { method: 'DELETE', headers: { ...headers, authorization: `Bearer ${attacker}` } }),
    );
    expect(end.status).toBe(404);

    expect(seen).toEqual([]);
    expect((await send(first, victim, listTools, session)).status).toBe(200);
    await first.close({ drainMs: 0 });
    await reading;
    expect(events.filter((event) => event.includes('"jsonrpc"'))).toEqual([]);
  });
});

async function collect(response: Response, events: string[]): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) events.push(decoder.decode(chunk as Uint8Array));
  } catch {
    // The server has closed.
  }
}
