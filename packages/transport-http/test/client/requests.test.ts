/** What every request has in common: authorization, redirects, headers, the ways to send, and options that cannot hold. */

import {
  type HttpClientOptions,
  createFetchSender,
  httpTransport,
  type HttpSender,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from '@mortise/transport-http/client';
import type { Authorizer, Challenge } from '@mortise/protocol/contracts';
import { isExchangeTransport, isLegacyOpener } from '@mortise/jsonrpc-core/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerHandshake, hear, note, request, shakeHands } from './support/legacy.ts';
import { callRequest, complete } from './support/modern.ts';
import { ScriptedHttp } from './support/scripted-http.ts';
import { SENDERS } from './support/senders.ts';
import { turns, until } from './support/wait.ts';

let server: ScriptedHttp;
let transport: StreamableHTTPClientTransport;
beforeEach(async () => {
  server = await ScriptedHttp.listen();
});
afterEach(async () => {
  await transport?.close();
  await server.close();
});

/** Remembers what it is asked, and hands out `token-1`, `token-2`, one for each challenge. */
class Keeper implements Authorizer {
  readonly asked: unknown[] = [];
  readonly challenges: Challenge[] = [];
  verdict: 'retry' | 'fail' = 'retry';
  count = 0;

  async headers(asked: { readonly method: string; readonly url: string }): Promise<Record<string, string>> {
    this.asked.push(asked);
    return this.count === 0 ? {} : { Authorization: `Bearer token-${this.count}` };
  }

  async onChallenge(challenge: Challenge): Promise<'retry' | 'fail'> {
    this.challenges.push(challenge);
    this.count++;
    return this.verdict;
  }
}

describe.each(SENDERS)('over $name', ({ options }) => {
  function open(more: HttpClientOptions = {}, url: string | URL = server.url): StreamableHTTPClientTransport {
    transport = new StreamableHTTPClientTransport(url, { ...options, ...more });
    return transport;
  }

  describe('authorization', () => {
    it('is asked for before every request, of every kind', async () => {
      const keeper = new Keeper();
      keeper.count = 7;
      open({ authorizer: keeper });
      answerHandshake(server, { getStream: () => undefined });
      await shakeHands(transport);
      await until(() => server.visits.length === 3);
      await transport.close();
      expect(server.visits.map(({ headers }) => headers.authorization)).toEqual(Array(4).fill('Bearer token-7'));
      expect(keeper.asked).toEqual(['POST', 'POST', 'GET', 'DELETE'].map((method) => ({ method, url: server.url })));
    });

    it.each([401, 403])('answers a challenge (%i) and asks again', async (status) => {
      const keeper = new Keeper();
      open({ authorizer: keeper });
      server.on('tools/call', (visit) =>
        visit.headers.authorization === 'Bearer token-2'
          ? visit.result(complete)
          : visit.reply(status, { 'WWW-Authenticate': 'Bearer realm="x"' }),
      );
      expect(await transport.exchange(callRequest('a'))).toMatchObject({ result: complete });
      expect(keeper.challenges.map(({ attempt, status: told, url }) => ({ attempt, told, url }))).toEqual([
        { attempt: 1, told: status, url: server.url },
        { attempt: 2, told: status, url: server.url },
      ]);
      expect(keeper.challenges[0]?.header('WWW-Authenticate')).toBe('Bearer realm="x"');
    });

    it('answers three challenges a call, and no more', async () => {
      const keeper = new Keeper();
      open({ authorizer: keeper });
      server.on('tools/call', (visit) => visit.reply(401));
      await expect(transport.exchange(callRequest('a'))).rejects.toMatchObject({ code: 'ERR_EXCHANGE_HTTP', status: 401 });
      expect(keeper.challenges).toHaveLength(3);
      expect(server.visits).toHaveLength(4);
      await expect(transport.exchange(callRequest('b'))).rejects.toMatchObject({ status: 401 });
      expect(keeper.challenges).toHaveLength(6);
    });

    it('gives the answer back where the challenge cannot be met', async () => {
      const keeper = new Keeper();
      keeper.verdict = 'fail';
      open({ authorizer: keeper });
      server.on('tools/call', (visit) => visit.json({ error: 'insufficient_scope' }, 403, { 'www-authenticate': 'Bearer scope="x"' }));
      await expect(transport.exchange(callRequest('a'))).rejects.toMatchObject({
        status: 403,
        headers: { 'www-authenticate': 'Bearer scope="x"' },
      });
      expect(server.visits).toHaveLength(1);
    });

    it('rejects with what the authorizer rejects with', async () => {
      const failure = new Error('no browser');
      open({ authorizer: { headers: () => Promise.reject(failure), onChallenge: () => Promise.resolve('fail') } });
      await expect(transport.exchange(callRequest('a'))).rejects.toBe(failure);
    });

    it('is given up with the call', async () => {
      let signal: AbortSignal | undefined;
      open({
        authorizer: {
          headers: (_, context) => {
            signal = context?.signal;
            return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal?.reason as Error)));
          },
          onChallenge: () => Promise.resolve('fail'),
        },
      });
      const controller = new AbortController();
      const exchange = transport.exchange(callRequest('a'), { signal: controller.signal });
      controller.abort(new Error('enough'));
      await expect(exchange).rejects.toThrow('enough');
      expect(signal?.aborted).toBe(true);
      expect(server.visits).toHaveLength(0);
    });
  });

  describe('redirects', () => {
    it.each([307, 308])('follows a %i within the origin, as the POST it was', async (status) => {
      open({ headers: { authorization: 'Bearer secret' } });
      server.on(
        (visit) => visit.path === '/mcp',
        (visit) => visit.reply(status, { location: '/mcp/' }),
      );
      server.on(
        (visit) => visit.path === '/mcp/',
        (visit) => visit.result(complete),
      );
      const sent = callRequest('a');
      expect(await transport.exchange(sent)).toMatchObject({ result: complete });
      expect(server.visits[1]).toMatchObject({
        method: 'POST',
        message: sent,
        headers: { authorization: 'Bearer secret', 'mcp-name': 'a' },
      });
    });

    it.each([301, 302, 303])('does not turn a POST into a GET on a %i', async (status) => {
      open();
      server.on('tools/call', (visit) => visit.reply(status, { location: '/elsewhere?secret=1' }));
      const origin = new URL(server.url).origin;
      await expect(transport.exchange(callRequest('a'))).rejects.toMatchObject({
        code: 'ERR_HTTP_REDIRECT',
        message: `POST ${origin}/mcp: the server redirects with status ${status}, which turns a POST into a GET: the target is ${origin}/elsewhere. If that is the MCP server and you trust it, use that URL`,
      });
      expect(server.visits).toHaveLength(1);
    });

    it.each([301, 302, 303, 307, 308])('names where a %i leads outside the origin, and what to do', async (status) => {
      open();
      server.on('tools/call', (visit) => visit.reply(status, { location: 'https://login.example.com/sign-in?state=secret' }));
      await expect(transport.exchange(callRequest('a'))).rejects.toMatchObject({
        code: 'ERR_HTTP_REDIRECT',
        message: expect.stringMatching(/another origin: the target is https:\/\/login\.example\.com\/sign-in\. If that .* use that URL/),
      });
      expect(server.visits).toHaveLength(1);
    });

    it('[ROBUSTNESS-11] follows none to another origin', async () => {
      const other = await ScriptedHttp.listen();
      try {
        open({ headers: { authorization: 'Bearer secret' } });
        server.on('tools/call', (visit) => visit.reply(307, { location: other.url }));
        await expect(transport.exchange(callRequest('a'))).rejects.toMatchObject({
          code: 'ERR_HTTP_REDIRECT',
          message: expect.stringContaining(new URL(other.url).origin),
        });
        await turns();
        expect(other.visits).toHaveLength(0);
      } finally {
        await other.close();
      }
    });

    it.each(['http://user:pass@127.0.0.1', 'javascript:alert(1)', 'file:///etc/passwd'])(
      '[ROBUSTNESS-11] follows none to %s',
      async (location) => {
        open();
        server.on('tools/call', (visit) => visit.reply(307, { location: location.replace('127.0.0.1', `127.0.0.1:${server.port}`) }));
        await expect(transport.exchange(callRequest('a'))).rejects.toMatchObject({ code: 'ERR_HTTP_REDIRECT' });
        expect(server.visits).toHaveLength(1);
      },
    );

    it('[ROBUSTNESS-7] follows five at most', async () => {
      open();
      server.on('tools/call', (visit) => visit.reply(307, { location: `/mcp?again=${server.visits.length}` }));
      await expect(transport.exchange(callRequest('a'))).rejects.toMatchObject({
        code: 'ERR_HTTP_REDIRECT',
        message: expect.stringContaining('the redirects form a loop'),
      });
      expect(server.visits).toHaveLength(6);
    });
  });

  describe('headers', () => {
    it('sends those of the program with every request, but none that the protocol needs', async () => {
      open({
        headers: { 'X-Tenant': 't', Accept: 'text/html', 'Mcp-Method': 'x' },
        requestInit: { headers: { 'X-Init': 'i', 'x-tenant': 'overridden' } },
      });
      server.on('tools/call', (visit) => visit.result(complete));
      await transport.exchange(callRequest('a'), { headers: { 'x-call': 'c' } });
      expect(server.visits[0]?.headers).toMatchObject({
        'x-tenant': 't',
        'x-init': 'i',
        'x-call': 'c',
        accept: 'application/json, text/event-stream',
        'mcp-method': 'tools/call',
      });
    });

    it.each([
      ['Headers', new Headers({ Authorization: 'Bearer t' })],
      ['a Map', new Map([['Authorization', 'Bearer t']])],
      ['pairs', [['Authorization', 'Bearer t']] as const],
      ['an object', { Authorization: 'Bearer t' }],
    ])('takes them as %s', async (_what, headers) => {
      open({ headers });
      server.on('tools/call', (visit) => visit.result(complete));
      await transport.exchange(callRequest('a'));
      expect(server.visits[0]?.headers.authorization).toBe('Bearer t');
    });
  });

  it('says in one line that a server does not speak TLS', async () => {
    open({}, server.url.replace('http:', 'https:'));
    await expect(transport.exchange(callRequest('a'))).rejects.toMatchObject({
      code: 'ERR_CONNECTION_CLOSED',
      message: `POST https://127.0.0.1:${server.port}/mcp got no response: the server does not speak TLS at this port. Begin the address with "http://", or name the port that does`,
    });
  });

  it('names the address of what answers with JSON that is no response', async () => {
    open();
    server.on('tools/call', (visit) => visit.json({ ok: true }));
    await expect(transport.exchange(callRequest('a', {}, 'x'))).rejects.toMatchObject({
      code: 'ERR_INVALID_RESPONSE',
      message: `The HTTP response of POST ${server.url} to "tools/call" (id "x") does not contain the JSON-RPC response: check that this is the URL of an MCP server`,
    });
  });

  it('uses a connection again', async () => {
    open();
    await transport.start();
    server.on(
      () => true,
      (visit) => visit.accept(),
    );
    server.on('tools/call', (visit) => visit.result(complete));
    let connections = 0;
    server.server.on('connection', () => connections++);
    for (let n = 0; n < 5; n++) await transport.exchange(callRequest('a'));
    expect(connections).toBeLessThanOrEqual(2);
    // What is only accepted is done with at its head, so the next may go out before its end has come.
    for (let n = 0; n < 20; n++) await transport.send(note('x'));
    expect(connections).toBeLessThanOrEqual(2);
  });

  it('speaks to an address with a query, and to IPv6', async () => {
    open({}, `${server.url}?a=1&b=%20#fragment`);
    server.on('tools/call', (visit) => visit.result(complete));
    await transport.exchange(callRequest('a'));
    expect(server.visits[0]?.path).toBe('/mcp?a=1&b=%20');
    expect(server.visits[0]?.headers.host).toBe(`127.0.0.1:${server.port}`);
  });
});

describe('a fetch of one’s own', () => {
  it('is called for every request, with a signal of its own for each', async () => {
    const calls: RequestInit[] = [];
    const response = Response.json({ jsonrpc: '2.0', id: 'x', result: complete });
    transport = new StreamableHTTPClientTransport('https://host.example/mcp', {
      requestInit: { credentials: 'include', method: 'PUT', redirect: 'follow' },
      fetch: async (_, init = {}) => {
        calls.push(init);
        return response.clone();
      },
    });
    await transport.exchange(callRequest('a', {}, 'x'));
    await transport.exchange(callRequest('a', {}, 'x'));
    expect(calls[0]).toMatchObject({ credentials: 'include', method: 'POST', redirect: 'manual' });
    expect(calls[0]?.signal).toBeInstanceOf(AbortSignal);
    expect(calls[0]?.signal).not.toBe(calls[1]?.signal);
  });

  it('[ROBUSTNESS-11] may not follow a redirect to another origin', async () => {
    const followed = Object.defineProperties(Response.json({ jsonrpc: '2.0', id: 'x', result: complete }), {
      redirected: { value: true },
      url: { value: 'https://evil.example/mcp' },
    });
    transport = new StreamableHTTPClientTransport('https://host.example/mcp', { fetch: async () => followed });
    await expect(transport.exchange(callRequest('a', {}, 'x'))).rejects.toMatchObject({ code: 'ERR_HTTP_REDIRECT' });
  });

  it('[ROBUSTNESS-11] may not hide where a redirect leads, as that of browsers does', async () => {
    const opaque = Object.defineProperties(Response.error(), { type: { value: 'opaqueredirect' } });
    transport = new StreamableHTTPClientTransport('https://host.example/mcp', { fetch: async () => opaque });
    await expect(transport.exchange(callRequest('a', {}, 'x'))).rejects.toMatchObject({ code: 'ERR_HTTP_REDIRECT' });
  });

  it('is the platform’s of that moment where none is given', async () => {
    const { fetch } = globalThis;
    transport = new StreamableHTTPClientTransport('https://host.example/mcp');
    globalThis.fetch = async () => Response.json({ jsonrpc: '2.0', id: 'x', result: complete });
    try {
      expect(await transport.exchange(callRequest('a', {}, 'x'))).toMatchObject({ result: complete });
    } finally {
      globalThis.fetch = fetch;
    }
  });

  it('may be part of a sender of one’s own', async () => {
    const seen: string[] = [];
    const inner = createFetchSender(async () => Response.json({ jsonrpc: '2.0', id: 'x', result: complete }));
    const sender: HttpSender = (call) => {
      seen.push(`${call.method} ${call.url}`);
      return inner(call);
    };
    transport = new StreamableHTTPClientTransport('https://host.example/mcp', { sender });
    await transport.exchange(callRequest('a', {}, 'x'));
    expect(seen).toEqual(['POST https://host.example/mcp']);
  });
});

describe('options', () => {
  it.each(['not a url', '/mcp', 'ftp://host/mcp', 'javascript:alert(1)', 'https://user:pass@host/mcp', 'https://user@host/mcp'])(
    'refuses the address %s',
    (url) => {
      for (const make of [() => httpTransport(url), () => new StreamableHTTPClientTransport(url), () => new SSEClientTransport(url)]) {
        expect(make).toThrow(expect.objectContaining({ code: 'ERR_HTTP_OPTION' }));
      }
    },
  );

  it.each(['maxMessageBytes'])('refuses %s of 0', (name) => {
    expect(() => httpTransport('https://host/mcp', { [name]: 0 })).toThrow(expect.objectContaining({ code: 'ERR_HTTP_OPTION' }));
  });

  it.each(['Bearer secret\nx', 'secret\r', 'secret\u0000', 'secret\u0100'])(
    '[ROBUSTNESS-14] refuses the header value %j without showing it',
    (authorization) => {
      const make = (): unknown => httpTransport('https://host/mcp', { headers: { authorization } });
      expect(make).toThrow('The header "authorization" in the option "headers" has a character that is not valid in a header');
      expect(make).not.toThrow('secret');
    },
  );

  it('no error holds a password', () => {
    expect(() => httpTransport('https://user:pass@host/mcp')).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('pass@') }),
    );
  });
});

describe('httpTransport', () => {
  it.each([
    ['ECONNREFUSED', 'check that the server runs on this port'],
    ['ENOTFOUND', 'check the spelling of the host'],
  ])('says what to do about %s, with a message of the platform and without one', async (code, remedy) => {
    for (const message of ['connect failed', '']) {
      const cause = Object.assign(new Error(message), { code });
      const source = httpTransport(server.url, { fetch: () => Promise.reject(new TypeError('fetch failed', { cause })) });
      await source.start();
      await expect(source.exchange(callRequest('a'))).rejects.toMatchObject({
        message: `POST ${server.url} got no response: ${message || code}: ${remedy}`,
      });
      await source.close();
    }
  });

  it('is a transport with every ability, and a factory of unstarted ones', async () => {
    const source = httpTransport(server.url);
    expect([isExchangeTransport(source), isLegacyOpener(source), typeof source]).toEqual([true, true, 'function']);
    const other = source();
    expect([isExchangeTransport(other), isLegacyOpener(other)]).toEqual([true, true]);
    await source.start();
    await expect(source.start()).rejects.toMatchObject({ code: 'ERR_ALREADY_STARTED' });
    await other.start();
    await source.close();
    await other.close();
  });

  it('carries the callbacks of a plain transport, the session and its version', async () => {
    const source = httpTransport(server.url);
    const heard = hear(source);
    answerHandshake(server);
    await shakeHands(source);
    expect(source.sessionId).toBe('session-1');
    const sent = source.send(request(1, 'x'));
    (await server.next()).result({});
    await sent;
    expect(heard.messages).toHaveLength(2);
    expect(source.onmessage).toBeTypeOf('function');
    await source.close();
    await source.close();
    expect(heard.closes).toBe(1);
  });
});
