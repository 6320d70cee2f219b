import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { AuthChallengeError } from '@mortise/protocol';
import type { AuthInfo, TokenRequest, TokenVerifier } from '@mortise/protocol/contracts';
import { aborted, gate, ScriptedEndpoint, text } from '../support/scripted-endpoint.ts';
import { createHttpHandler } from '@mortise/transport-http/server';
import { initializeRequest } from '../support/legacy-client.ts';
import { modern, modernHeaders, modernRequest, modernTool } from '../support/modern.ts';
import { ACCEPT, post, send } from '../support/send.ts';
import { FACES, serve, type Serving } from '../support/serve.ts';

let serving: Serving;
afterEach(() => serving.close());

const EXPOSED = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, DPoP-Nonce, Retry-After';
const METADATA = { resource: 'http://localhost/mcp', authorization_servers: ['https://as.example'] };

/** Knows one token, and remembers what it was asked. */
class OneToken implements TokenVerifier {
  readonly asked: TokenRequest[] = [];

  verify(request: TokenRequest): Promise<{ readonly principal: string; readonly scopes: readonly string[] }> {
    this.asked.push(request);
    if (request.token === 'good') return Promise.resolve({ principal: 'ada', scopes: ['all'] });
    if (request.token === 'weak') {
      return Promise.reject(
        new AuthChallengeError('More scope is needed', {
          status: 403,
          challenge: 'Bearer error="insufficient_scope", scope="all"',
          headers: { 'DPoP-Nonce': 'n1' },
        }),
      );
    }
    return Promise.reject(new AuthChallengeError('A token is needed', { status: 401, challenge: 'Bearer' }));
  }
}

describe.each(FACES)('authorization over the %s face', (face) => {
  it('[HTTP-005][AUTH-003][AUTH-011] answers a request without a good token with 401, a challenge and where the metadata is', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { tokenVerifier: new OneToken(), resourceMetadata: METADATA });
    const answer = await modernTool(serving.port, 'echo');
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([
      401,
      `Bearer resource_metadata="http://127.0.0.1:${serving.port}/.well-known/oauth-protected-resource/mcp"`,
    ]);
  });

  it('passes a challenge on as the verifier wrote it, with its headers', async () => {
    serving = await serve(face, new ScriptedEndpoint(), {
      tokenVerifier: new OneToken(),
      resourceMetadata: METADATA,
      baseUrl: 'https://mcp.example/',
    });
    const answer = await modernTool(serving.port, 'echo', {}, { authorization: 'Bearer weak' });
    expect([answer.status, answer.headers['www-authenticate'], answer.headers['dpop-nonce']]).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="all", resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"',
      'n1',
    ]);
  });

  it('logs once that the verifier failed and what it must do, unless it refused the token', async () => {
    const lines: unknown[] = [];
    const logger = { log: (...line: readonly unknown[]): void => void lines.push(line) };
    const verify = async ({ token }: TokenRequest): Promise<never> => {
      if (token === 'weak') return new OneToken().verify({ token } as TokenRequest) as Promise<never>;
      if (token === 'bad') throw new Error('no such key');
      return undefined as never;
    };
    serving = await serve(face, new ScriptedEndpoint(), { tokenVerifier: { verify }, logger });
    const ask = async (token: string) => (await post(serving.port, initializeRequest(), { authorization: `Bearer ${token}` })).status;
    expect([await ask('weak'), await ask('bad'), await ask('good')]).toEqual([403, 500, 500]);
    const failed = (error: string): unknown => [
      'error',
      'A request failed',
      { error: expect.stringMatching(`The token verifier failed with ${error}.*AuthInfo.*InvalidTokenError`) as string },
    ];
    expect(lines).toEqual([failed('Error: no such key'), failed('TypeError: The tokenVerifier must resolve to')]);
  });

  it.each([undefined, null, false, true, {}, { principal: '' }, { principal: 'ada' }])(
    '[ROBUSTNESS-8] lets nobody in where the verifier says %j',
    async (info) => {
      const endpoint = new ScriptedEndpoint();
      serving = await serve(face, endpoint, { tokenVerifier: { verify: async () => info as never } });
      expect((await post(serving.port, initializeRequest(), { authorization: 'Bearer good' })).status).toBe(500);
      expect(endpoint.received).toEqual([]);
      expect(() => createHttpHandler(endpoint, { tokenVerifier: {} as never })).toThrow(/tokenVerifier/);
    },
  );

  it.each([
    [
      { principal: 'ada', scopes: ['read'] },
      { principal: 'ada', scopes: ['read'] },
    ],
    [
      { principal: 'ada', scopes: 'read-all' },
      { principal: 'ada', scopes: [] },
    ],
    [{ principal: 'ada' }, { principal: 'ada', scopes: [] }],
    [
      { clientId: 'c', scopes: ['read', 1], expiresAt: 5 },
      { principal: 'client c', clientId: 'c', scopes: ['read'], expiresAtMs: 5000 },
    ],
    [
      { clientId: 'c', scopes: 'read-all' },
      { principal: 'client c', clientId: 'c', scopes: [] },
    ],
    [{ principal: '', scopes: ['read'] }, undefined],
    ['ada', undefined],
  ])('takes %j that a framework in front has found out for %j', async (given, taken) => {
    const endpoint = new ScriptedEndpoint();
    serving = await serve(face, endpoint);
    const info = { auth: given as unknown as AuthInfo };
    const { handler, server } = serving;
    server.removeAllListeners('request');
    server.on('request', (request, response) => void (face === 'node' ? handler.node(request, response, info) : respond(response)));
    const respond = async (response: ServerResponse): Promise<void> => {
      const call = modernRequest('tools/call', { name: 'echo' });
      const headers = { ...modernHeaders(call), 'content-type': 'application/json', accept: ACCEPT };
      const request = new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(call) });
      response.end(await (await handler.fetch(request, info)).text());
    };
    await (await modernTool(serving.port, 'echo')).response();
    expect(endpoint.calls.map(({ auth }) => auth)).toEqual([taken]);
  });

  it('[SEC-001] asks the verifier at every door, with what the request is', async () => {
    const tokenVerifier = new OneToken();
    serving = await serve(face, new ScriptedEndpoint(), { tokenVerifier, sse: true });
    const doors = [
      send(serving.port, { headers: { 'content-type': 'application/json' }, body: '{}' }),
      send(serving.port, { method: 'GET', headers: { accept: 'text/event-stream' } }),
      send(serving.port, { method: 'DELETE', headers: { 'mcp-session-id': 'x' } }),
      send(serving.port, { method: 'GET', path: '/sse' }),
      send(serving.port, { path: '/messages?sessionId=x', headers: { 'content-type': 'application/json' }, body: '{}' }),
    ];
    expect((await Promise.all(doors)).map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    const good = await modernTool(serving.port, 'echo', {}, { authorization: 'bearer  good', 'x-more': '1' });
    const asked = tokenVerifier.asked.at(-1);
    expect([good.status, asked?.scheme, asked?.token, asked?.method, asked?.url, asked?.header('X-More')]).toEqual([
      200,
      'Bearer',
      'good',
      'POST',
      `http://127.0.0.1:${serving.port}/mcp`,
      '1',
    ]);
  });

  it.each(['Bearer', 'Bearer a b', 'Bearer a,b', '"', 'Bearer tok\u00e9n'])('never takes %j for a token', async (authorization) => {
    serving = await serve(face, new ScriptedEndpoint(), { tokenVerifier: new OneToken() });
    const value = Buffer.from(authorization, 'latin1').toString('latin1');
    expect([400, 401]).toContain((await modernTool(serving.port, 'echo', {}, { authorization: value })).status);
  });

  it('looks at the token before it reads the body', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { tokenVerifier: new OneToken(), maxBodyBytes: 10 });
    expect((await modernTool(serving.port, 'echo')).status).toBe(401);
  });

  it('tells the endpoint who calls', async () => {
    const endpoint = new ScriptedEndpoint();
    endpoint.tools.set('who', ({ call }) =>
      text(`${call.principal} ${call.auth?.scopes.join()} ${call.origin?.header('X-Tenant')} ${call.origin?.method}`),
    );
    serving = await serve(face, endpoint, { tokenVerifier: new OneToken() });
    const answer = await modernTool(serving.port, 'who', {}, { authorization: 'Bearer good', 'x-tenant': 't1' });
    expect(await answer.text()).toContain('ada all t1 POST');
  });

  it('aborts the verifier when the client leaves', async () => {
    const begun = gate();
    const given = gate();
    const tokenVerifier: TokenVerifier = {
      verify: async (_request, { signal }) => {
        begun.open();
        await aborted(signal);
        given.open();
        throw new AuthChallengeError('too late', { status: 401, challenge: 'Bearer' });
      },
    };
    serving = await serve(face, new ScriptedEndpoint(), { tokenVerifier });
    const left = new AbortController();
    const sent = send(serving.port, { headers: { 'content-type': 'application/json' }, body: '{}', signal: left.signal }).catch(
      () => undefined,
    );
    await begun.promise;
    left.abort();
    await Promise.all([given.promise, sent]);
  });

  describe('of a call that lacks scope', () => {
    const WHERE = 'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"';
    const options = { resourceMetadata: METADATA, baseUrl: 'https://mcp.example' };

    /** A tool that refuses as the registry does, perhaps after it has said something. */
    function refusing(data: JsonObject, isTalkative = false): ScriptedEndpoint {
      const endpoint = new ScriptedEndpoint();
      endpoint.tools.set('admin', async ({ call }) => {
        if (isTalkative) await call.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } });
        throw new ProtocolError(403, 'more scope is needed', data);
      });
      return endpoint;
    }

    const ask = async (authorization: string) => {
      const { status, headers } = await modernTool(serving.port, 'admin', {}, { authorization });
      return [status, headers['www-authenticate']];
    };

    it('[AUTH-064] answers 403 with a challenge of the scheme that was used', async () => {
      serving = await serve(face, refusing({ requiredScopes: ['a', 'b'] }), { ...options, tokenVerifier: new OneToken() });
      expect(await ask('Bearer good')).toEqual([403, `Bearer error="insufficient_scope", scope="a b", ${WHERE}`]);
      expect(await ask('DPoP good')).toEqual([403, `DPoP error="insufficient_scope", scope="a b", ${WHERE}`]);
    });

    it('lets a verifier that can word it do so', async () => {
      const challengeScopes = ({ principal }: AuthInfo, scopes: readonly string[], { scheme }: { readonly scheme: string }) =>
        `${scheme} scope="${[principal, ...scopes].join(' ')}"`;
      const verifier = new OneToken();
      const tokenVerifier = { verify: verifier.verify.bind(verifier), challengeScopes };
      serving = await serve(face, refusing({ requiredScopes: ['a'] }), { ...options, tokenVerifier });
      expect(await ask('Bearer good')).toEqual([403, 'Bearer scope="ada a"']);
    });

    it.each([{}, { requiredScopes: [] }, { requiredScopes: 'a' }, { requiredScopes: ['a"'] }, { requiredScopes: [1] }])(
      'takes an error with %j for any other',
      async (data) => {
        serving = await serve(face, refusing(data as JsonObject), { ...options, tokenVerifier: new OneToken() });
        expect(await ask('Bearer good')).toEqual([200, undefined]);
      },
    );

    it('says it in the stream where one has begun', async () => {
      serving = await serve(face, refusing({ requiredScopes: ['a'] }, true), { ...options, tokenVerifier: new OneToken() });
      expect(await ask('Bearer good')).toEqual([200, undefined]);
    });
  });

  it('[AUTH-009][AUTH-012][AUTH-015] serves the metadata at its well-known paths, without a token', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { tokenVerifier: new OneToken(), resourceMetadata: METADATA });
    for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
      const answer = await send(serving.port, { method: 'GET', path });
      expect([answer.status, answer.headers['content-type'], await answer.json()]).toEqual([200, 'application/json', METADATA]);
    }
    expect((await send(serving.port, { method: 'GET', path: '/.well-known/oauth-protected-resource/other' })).status).toBe(404);
  });
});

describe.each(FACES)('CORS over the %s face', (face) => {
  const PAGE = 'https://app.example';

  it('answers a preflight before authorization, with every header of MCP', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { allowedOrigins: [PAGE], tokenVerifier: new OneToken() });
    const asked = 'content-type, mcp-param-region, x-other, mcp-param-bad name';
    const answer = await send(serving.port, {
      method: 'OPTIONS',
      headers: { origin: PAGE, 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
    });
    expect([
      answer.status,
      answer.headers['access-control-allow-origin'],
      answer.headers['vary'],
      answer.headers['access-control-allow-methods'],
    ]).toEqual([204, PAGE, 'Origin', 'GET, POST, DELETE, OPTIONS']);
    const allowed = answer.headers['access-control-allow-headers']?.split(', ') ?? [];
    for (const name of [
      'Content-Type',
      'Authorization',
      'Mcp-Session-Id',
      'MCP-Protocol-Version',
      'Last-Event-ID',
      'Mcp-Method',
      'Mcp-Name',
      'mcp-param-region',
    ])
      expect(allowed).toContain(name);
    expect(allowed).not.toContain('x-other');
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('lets a page read answers, streams and refusals, with the headers that it needs', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { allowedOrigins: [PAGE] });
    const answers = await Promise.all([
      modernTool(serving.port, 'echo', {}, { origin: PAGE }),
      modern(serving.port, 'subscriptions/listen', { notifications: {} }, { origin: PAGE }),
      send(serving.port, { headers: { origin: PAGE, 'content-type': 'text/plain' }, body: 'x' }),
    ]);
    expect(
      answers.map(({ status, headers }) => [status, headers['access-control-allow-origin'], headers['access-control-expose-headers']]),
    ).toEqual([200, 200, 415].map((status) => [status, PAGE, EXPOSED]));
    const refused = await serve(face, new ScriptedEndpoint(), { allowedOrigins: [PAGE], tokenVerifier: new OneToken() });
    const { status, headers } = await modernTool(refused.port, 'echo', {}, { origin: PAGE, authorization: 'Bearer weak' });
    expect([status, headers['dpop-nonce'], headers['access-control-expose-headers']]).toEqual([403, 'n1', EXPOSED]);
    await refused.close();
  });

  it('[ROBUSTNESS-14] allows any origin only where the program says so, and then without credentials', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { allowedOrigins: ['*'] });
    const answer = await modernTool(serving.port, 'echo', {}, { origin: 'https://anyone.example' });
    expect([answer.headers['access-control-allow-origin'], answer.headers['access-control-allow-credentials']]).toEqual(['*', undefined]);
  });

  it('shares its list with the guard: a foreign page gets neither an answer nor a header', async () => {
    serving = await serve(face, new ScriptedEndpoint(), { allowedOrigins: [PAGE] });
    const request = modernRequest('tools/list');
    for (const method of ['OPTIONS', 'POST']) {
      const answer = await send(serving.port, {
        method,
        headers: { 'content-type': 'application/json', ...modernHeaders(request), origin: 'https://other.example' },
      });
      expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    }
  });

  it('says nothing of CORS to programs', async () => {
    serving = await serve(face, new ScriptedEndpoint());
    const answer = await modernTool(serving.port, 'echo');
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});
