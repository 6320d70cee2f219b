/** Peers that lie: each is refused with a named error, in bounded time, and nothing goes to the wrong place. ROBUSTNESS rules 8, 11, 12, 14. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryCredentialStore, oauth, type OAuthOptions, redirectSignIn } from '@mortise/auth-oauth/client';
import { checkedFetch } from '@mortise/auth-oauth/node';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { countCpuMs } from '../../../scripts/test/cpu-time.ts';
import { Peer, type TestAuthorizationServer } from './support/authorization-server.ts';
import { agreeing, ask, createWorld, REDIRECT_URL, type World } from './support/world.ts';

let world: World;
let opened: string[];
beforeEach(async () => {
  world = await createWorld();
  opened = [];
});
afterEach(async () => {
  await world.close();
});

/** Every request that any peer of the world got but those to the protected server itself. */
const secretsOf = (as: TestAuthorizationServer): readonly string[] => [...as.accessTokens.keys(), ...as.refreshTokens.keys()];

/** A person whose browser writes down what it is sent to. */
function watched(as: TestAuthorizationServer) {
  return redirectSignIn({
    redirectUrl: REDIRECT_URL,
    authorize: async (url) => {
      opened.push(url.href);
      return await as.agree(url);
    },
  });
}

async function refusalOf(options: OAuthOptions = {}, url: string = world.server.url): Promise<{ code: string; message: string }> {
  const authorizer = oauth(url, { signIn: watched(world.as), fetch: checkedFetch(url), ...options });
  const outcome = await ask(authorizer, url).catch((reason: unknown) => reason);
  expect(outcome).toBeInstanceOf(Error);
  const { code, message } = outcome as Error & { code: string };
  return { code, message };
}

const PRIVATE = [
  'https://10.0.0.1/x',
  'https://192.168.1.1/x',
  'https://172.16.0.1/x',
  'https://169.254.169.254/latest/meta-data/',
  'http://169.254.169.254/latest/meta-data/',
  'https://2852039166/x',
  'https://0xa9fea9fe/x',
  'https://0251.0376.0251.0376/x',
  'https://169.254.43518/x',
  'https://169.254.169.254./x',
  'https://[::ffff:169.254.169.254]/x',
  'https://[::ffff:a9fe:a9fe]/x',
  'https://[64:ff9b::a9fe:a9fe]/x',
  'https://[fd00::1]/x',
  'https://[fe80::1]/x',
  'https://metadata.google.internal/x',
  'https://printer.local/x',
  'https://intranet/x',
];

describe('metadata that points at addresses which are not public', () => {
  it.each(PRIVATE)('[SEC-006][SEC-008] is not fetched from %s', async (url) => {
    world.server.challenge = `Bearer resource_metadata="${url}"`;
    expect((await refusalOf()).code).toBe('ERR_UNSAFE_URL');
    expect(opened).toEqual([]);
  });

  it.each(PRIVATE)('[SEC-006][SEC-012] names no authorization server at %s', async (url) => {
    world.server.metadata = { authorization_servers: [url] };
    expect((await refusalOf()).code).toBe('ERR_UNSAFE_URL');
    expect(opened).toEqual([]);
  });

  it.each(['token_endpoint', 'registration_endpoint', 'authorization_endpoint'])('[SEC-006][SEC-012] has no %s there', async (endpoint) => {
    world.as.metadata = { [endpoint]: 'https://169.254.169.254/latest' };
    expect((await refusalOf()).code).toBe('ERR_UNSAFE_URL');
    expect(opened).toHaveLength(endpoint === 'token_endpoint' ? 1 : 0);
  });

  it.each(['https://127.0.0.1:1/x', 'http://localhost:1/x', 'https://[::1]/x', 'https://2130706433/x'])(
    '[SEC-008] is not fetched from this machine for a server elsewhere: %s',
    async (url) => {
      const authorizer = oauth('https://mcp.example.com/mcp', { signIn: watched(world.as), fetch: refuseToFetch });
      const header = (name: string) => (name === 'www-authenticate' ? `Bearer resource_metadata="${url}"` : undefined);
      const asked = authorizer.onChallenge({ status: 401, url: 'https://mcp.example.com/mcp', attempt: 1, header });
      await expect(asked).rejects.toMatchObject({ code: 'ERR_UNSAFE_URL' });
    },
  );

  it.each(['10.0.0.7', '169.254.169.254', '127.0.0.1', '::1', '::ffff:10.0.0.7'])(
    '[SEC-009] is not fetched by a public name that resolves to %s',
    async (address) => {
      const url = 'https://mcp.example.com/mcp';
      const resolve = async (name: string) => (name === 'mcp.example.com' ? ['93.184.216.34'] : ['93.184.216.34', address]);
      const authorizer = oauth(url, { signIn: watched(world.as), fetch: checkedFetch(url, {}, resolve) });
      const header = (name: string) =>
        name === 'www-authenticate' ? 'Bearer resource_metadata="https://rebind.example.net/x"' : undefined;
      await expect(authorizer.onChallenge({ status: 401, url, attempt: 1, header })).rejects.toMatchObject({ code: 'ERR_UNSAFE_URL' });
    },
  );

  it('[SEC-009] connects to the very address that was judged', async () => {
    const asked: string[] = [];
    const port = new URL(world.server.origin).port;
    const url = `http://pinned.localhost:${port}/mcp`;
    const resolve = async (name: string) => {
      asked.push(name);
      return ['127.0.0.1'];
    };
    const answer = await checkedFetch(url, {}, resolve)(`${url.replace('/mcp', '/gone')}`, {});
    expect([answer.status, asked]).toEqual([404, ['pinned.localhost']]);
  });

  it('[SEC-007] is not fetched without TLS from a server elsewhere', async () => {
    world.server.metadata = { authorization_servers: ['http://as.example.com'] };
    expect((await refusalOf()).code).toBe('ERR_UNSAFE_URL');
  });
});

const refuseToFetch = async (): Promise<Response> => {
  throw new Error('was fetched');
};

describe('URLs that are none to fetch or open', () => {
  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'vbscript:x',
    'ms-settings:',
    'https://user:pass@as.example.com/authorize',
  ])('[SEC-010][SEC-012] never opens %s', async (url) => {
    world.as.metadata = { authorization_endpoint: url };
    expect((await refusalOf()).code).toBe('ERR_UNSAFE_URL');
    expect(opened).toEqual([]);
  });

  it.each(['file:///etc/passwd', 'javascript:alert(1)', 'gopher://x/'])('[SEC-012] never fetches %s', async (url) => {
    world.server.challenge = `Bearer resource_metadata="${url}"`;
    expect((await refusalOf()).code).toBe('ERR_UNSAFE_URL');
  });
});

describe('mix-ups', () => {
  it('[AUTH-025] a document that speaks for another issuer gives nothing to it, and takes nothing from it', async () => {
    const honest = await world.addServer();
    world.as.metadata = { issuer: honest.issuer };
    expect((await refusalOf()).code).toBe('ERR_ISSUER_MISMATCH');
    expect([...honest.seen, ...world.as.to('/register'), ...world.as.to('/token')]).toEqual([]);
    expect(opened).toEqual([]);
  });

  it('[AUTH-053][SEC-006] a code of an honest server is not sent to the attacker who relayed the sign-in', async () => {
    const { as: attacker } = world;
    const honest = await world.addServer();
    // The attacker's page sends the browser on to the honest server, which answers as itself.
    attacker.metadata = { authorization_endpoint: `${honest.origin}/authorize` };
    honest.response = { iss: honest.issuer };
    const { code } = await refusalOf({ signIn: watched(honest) });
    expect(code).toBe('ERR_RESPONSE_ISSUER');
    expect(attacker.to('/token')).toEqual([]);
  });

  it('[AUTH-054] an answer without the promised issuer is not used', async () => {
    world.as.metadata = { authorization_response_iss_parameter_supported: true };
    expect((await refusalOf()).code).toBe('ERR_RESPONSE_ISSUER');
    expect(world.as.to('/token')).toEqual([]);
  });

  it('[AUTH-016] a server cannot have tokens made for another resource', async () => {
    world.server.metadata = { resource: 'https://bank.example/mcp' };
    expect((await refusalOf()).code).toBe('ERR_RESOURCE_MISMATCH');
    expect(world.as.seen).toEqual([]);
  });

  it('[AUTH-041] a server that moves to an attacker gets no client, no token and no refresh token of before', async () => {
    const { as, server } = world;
    const clients = [{ issuer: as.issuer, clientId: 'ours', clientSecret: 'hush-hush' }];
    as.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
    const authorizer = oauth(server.url, { signIn: watched(as), clients });
    expect(await ask(authorizer, server.url)).toBe(200);
    const attacker = await world.addServer();
    server.authorizationServer = attacker;
    await expect(ask(authorizer, server.url)).rejects.toMatchObject({ code: 'ERR_CLIENT_MISMATCH' });
    const shown = attacker.seen.map(({ text, query }) => `${text}${query}`).join('\n');
    for (const secret of ['ours', 'hush-hush', ...secretsOf(as)]) expect(shown).not.toContain(secret);
  });
});

describe('injection', () => {
  it.each([
    ['a code of another sign-in', { state: 'of-another' }, 'ERR_STATE_MISMATCH'],
    ['no state', { state: null }, 'ERR_STATE_MISMATCH'],
    ['a made-up code', { code: 'made-up' }, 'ERR_TOKEN_REQUEST'],
    ['neither code nor error', { code: null }, 'ERR_AUTHORIZATION_RESPONSE'],
    ['a token in place of a code', { access_token: 'injected', code: null }, 'ERR_AUTHORIZATION_RESPONSE'],
  ])('[AUTH-047] an answer with %s is refused', async (_, response, code) => {
    world.as.response = response;
    expect((await refusalOf()).code).toBe(code);
  });

  it.each(['code', 'state', 'iss'])('[AUTH-047] an answer with two values of %s is refused', async (name) => {
    const { as } = world;
    const signIn = redirectSignIn({
      redirectUrl: REDIRECT_URL,
      authorize: async (url) => {
        const back = await as.agree(url);
        back.searchParams.append(name, back.searchParams.get(name) ?? as.issuer);
        back.searchParams.append(name, 'https://second.example');
        return back;
      },
    });
    expect((await refusalOf({ signIn })).code).toBe('ERR_AUTHORIZATION_RESPONSE');
    expect(as.to('/token')).toEqual([]);
  });

  it('[AUTH-043] a code that another client was given cannot be used here: PKCE does not fit', async () => {
    const { as, server } = world;
    let stolen: string | undefined;
    const victim = redirectSignIn({
      redirectUrl: REDIRECT_URL,
      authorize: async (url) => {
        stolen = (await as.agree(url)).searchParams.get('code') ?? '';
        throw new Error('the victim never came back');
      },
    });
    await oauth(server.url, { signIn: victim })
      .signIn()
      .catch(() => undefined);
    as.response = { code: stolen ?? '' };
    expect(await refusalOf()).toMatchObject({ code: 'ERR_TOKEN_REQUEST' });
    expect(as.accessTokens.size).toBe(0);
  });

  it('what a peer says is shown on one line and cut short', async () => {
    world.as.routes.set('/token', () => ({
      status: 400,
      body: { error: 'invalid_grant', error_description: `\u001b[31mred\n${'x'.repeat(5000)}` },
    }));
    const { message } = await refusalOf();
    expect(message).not.toMatch(/[\u0000-\u001f]/);
    expect(message.length).toBeLessThan(500);
  });
});

describe('what would spoil a header or a URL', () => {
  it.each(['line\r\nbreak', 'ключ', 'with space', ''])('[AUTH-079] a token %j is refused, and is in no error', async (token) => {
    world.as.routes.set('/token', () => ({ body: { access_token: `secret${token}`.slice(token === '' ? 6 : 0), token_type: 'Bearer' } }));
    const { code, message } = await refusalOf();
    expect(code).toBe('ERR_TOKEN_REQUEST');
    expect(message).not.toContain('secret');
  });

  it('[SEC-021] ten thousand scopes, and what is no scope, are not asked for', async () => {
    const scopes = Array.from({ length: 10_000 }, (_, n) => `scope-${n}`);
    world.server.metadata = { scopes_supported: ['"quoted"', 'new\nline', ...scopes] };
    expect(await ask(oauth(world.server.url, { signIn: watched(world.as) }), world.server.url)).toBe(200);
    const asked = new URL(opened[0] ?? '').searchParams.get('scope')?.split(' ');
    expect([asked?.length, asked?.[0]]).toEqual([100, 'scope-0']);
  });
});

describe('bounds', () => {
  const metadataPath = '/.well-known/oauth-protected-resource/mcp';

  it.each([301, 302, 303, 307, 308])('[SEC-009] endless redirects (%i) end', async (status) => {
    const { server } = world;
    let count = 0;
    server.routes.set(metadataPath, () => ({ status, headers: { location: `${metadataPath}?${++count}` } }));
    // Nothing is waited for: no time passes.
    const { code } = await refusalOf({ clock: new FakeClock() });
    expect(code).toBe('ERR_REDIRECT_REFUSED');
    expect(count).toBeLessThanOrEqual(4);
  });

  it.each(['https://169.254.169.254/x', 'http://10.0.0.1/x', 'file:///etc/passwd', 'https://intranet/x'])(
    '[SEC-009] a redirect to %s is judged like any URL',
    async (location) => {
      world.server.routes.set(metadataPath, () => ({ status: 302, headers: { location } }));
      expect((await refusalOf()).code).toBe('ERR_UNSAFE_URL');
    },
  );

  it.each(['/token', '/register'])('[SEC-009] a redirect of %s is not followed: what it carries is not for others', async (path) => {
    const thief = await new Peer().listen();
    world.as.routes.set(path, () => ({ status: 307, headers: { location: `${thief.origin}/take` } }));
    expect((await refusalOf()).code).toBe('ERR_REDIRECT_REFUSED');
    expect(thief.seen).toEqual([]);
    await thief.close();
  });

  it.each(['server', 'authorization server'])('10 MiB of metadata of the %s are not read', async (whose) => {
    const peer = whose === 'server' ? world.server : world.as;
    const path = whose === 'server' ? metadataPath : '/.well-known/oauth-authorization-server';
    let written = 0;
    peer.routes.set(path, async (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (; written < 10 && !response.destroyed; written++) {
        const isFull = !response.write(Buffer.alloc(1_048_576, 0x20));
        if (isFull) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
      }
      response.end('{}');
      return 'hang' as const;
    });
    const { code } = await refusalOf({ clock: new FakeClock() });
    expect(code).toBe('ERR_DOCUMENT_TOO_LARGE');
    expect(written).toBeLessThan(10);
  });

  it('bytes count after decompression', async () => {
    const { gzipSync } = await import('node:zlib');
    const bomb = gzipSync(Buffer.alloc(10 * 1_048_576, 0x20));
    world.server.routes.set(metadataPath, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(bomb);
      return 'hang';
    });
    const { code } = await refusalOf({ fetch: (url, init) => fetch(url, init) });
    expect(code).toBe('ERR_DOCUMENT_TOO_LARGE');
  });

  it.each([
    ['never answers', false],
    ['begins and never ends', true],
  ])('metadata that %s is given up', async (_, begins) => {
    const clock = new FakeClock();
    const left: number[] = [];
    const passTime = (): void => {
      clock.advance(199);
      left.push(...clock.delaysMs);
      clock.advance(1);
    };
    world.server.routes.set(metadataPath, (_request, response) => {
      if (begins) response.writeHead(200, { 'content-type': 'application/json' }).write('{');
      else passTime();
      return 'hang';
    });
    const own = checkedFetch(world.server.url);
    const fetch: typeof own = async (url, init) => {
      const response = await own(url, init);
      // It has begun: its body is read from here on.
      if (url.endsWith(metadataPath)) setImmediate(passTime);
      return response;
    };
    const { code } = await refusalOf({ clock, fetch, timeoutMs: 200 });
    expect(code).toBe('ERR_AUTH_TIMEOUT');
    expect(left).toEqual([1]);
  });

  it('a caller who leaves is let go at once', async () => {
    world.server.routes.set(metadataPath, () => 'hang');
    const authorizer = oauth(world.server.url, { signIn: agreeing(world.as) });
    const leaver = new AbortController();
    const asked = authorizer.onChallenge(
      { status: 401, url: world.server.url, attempt: 1, header: () => undefined },
      { signal: leaver.signal },
    );
    leaver.abort(new Error('gone'));
    await expect(asked).rejects.toThrow('gone');
  });

  it.each([
    ['quotes without end', `Bearer scope="${'a'.repeat(8000)}`],
    ['a hundred thousand characters', `Bearer ${'x=y, '.repeat(20_000)}`],
    ['backslashes', `Bearer scope="${'\\"'.repeat(4000)}`],
    ['spaces', `Bearer${' '.repeat(8000)}x`],
  ])('a challenge of %s is read in linear time', async (_, challenge) => {
    const authorizer = oauth(world.server.url, { signIn: agreeing(world.as) });
    const cpuMs = countCpuMs();
    const header = (name: string) => (name === 'www-authenticate' ? challenge : undefined);
    expect(await authorizer.onChallenge({ status: 401, url: world.server.url, attempt: 1, header })).toBe('retry');
    expect(cpuMs()).toBeLessThan(2000);
  });
});

describe('what is kept', () => {
  it.each(['__proto__', 'constructor', 'toString'])('an issuer or key that is called %s finds nothing', async (name) => {
    const store = new MemoryCredentialStore();
    expect([await store.get(name, 'client'), await store.get('https://issuer.example', name)]).toEqual([undefined, undefined]);
  });

  it('a record that something else wrote is no token', async () => {
    const { as, server } = world;
    const store = new MemoryCredentialStore();
    await store.put(server.url, 'server', { issuer: as.issuer, resource: server.url });
    await store.put(as.issuer, `tokens ${server.url}`, { accessToken: { toString: 'x' }, scheme: 'Basic' } as never);
    expect(await oauth(server.url, { store }).headers({ method: 'POST', url: server.url })).toEqual({});
  });
});
