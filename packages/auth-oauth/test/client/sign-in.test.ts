import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { MemoryCredentialStore, oauth, redirectSignIn } from '@mortise/auth-oauth/client';
import { SignInPendingError } from '@mortise/auth-oauth';
import { agreeing, ask, createWorld, REDIRECT_URL, type World } from '../support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(async () => {
  await world.close();
});

describe('the authorization code flow', () => {
  it('[AUTH-003][AUTH-072][AUTH-073] signs in after a 401, and sends the token in the header of every request', async () => {
    const { server, authorizer } = world;
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(200);
    for (const method of ['GET', 'DELETE', 'POST']) expect(await ask(one, server.url, method)).toBe(200);
    const asked = server.to('/mcp');
    expect(asked.map(({ headers }) => headers['authorization'])).toEqual([
      undefined,
      ...Array(4).fill(expect.stringMatching(/^Bearer access-/)),
    ]);
    expect(asked.every(({ query }) => query.size === 0)).toBe(true);
  });

  it('[AUTH-043][AUTH-044] proves with PKCE S256 that it began the flow', async () => {
    const { as, server, authorizer } = world;
    expect(await ask(authorizer(), server.url)).toBe(200);
    const query = as.to('/authorize')[0]?.query;
    const verifier = String(as.to('/token')[0]?.body['code_verifier']);
    expect(query?.get('code_challenge_method')).toBe('S256');
    expect(query?.get('code_challenge')).toBe(createHash('sha256').update(verifier).digest('base64url'));
    expect(verifier.length).toBeGreaterThanOrEqual(43);
  });

  it.each([
    ['says nothing of PKCE', undefined],
    ['lists plain alone', ['plain']],
    ['lists nothing', []],
  ])('[AUTH-045] refuses an authorization server that %s', async (_, methods) => {
    const { as, server, authorizer } = world;
    as.metadata = { code_challenge_methods_supported: methods };
    await expect(ask(authorizer(), server.url)).rejects.toMatchObject({ code: 'ERR_PKCE_UNSUPPORTED' });
    expect(as.seen.map(({ path }) => path)).toEqual(['/.well-known/oauth-authorization-server']);
  });

  it('[AUTH-047] sends a state that cannot be guessed, another each time', async () => {
    const { as, server, authorizer } = world;
    for (let round = 0; round < 2; round++) expect(await ask(authorizer(), server.url)).toBe(200);
    const states = as.to('/authorize').map(({ query }) => query.get('state') ?? '');
    expect(new Set(states).size).toBe(2);
    expect(states.every((state) => state.length >= 32)).toBe(true);
  });

  it.each([
    ['none', { state: null }],
    ['another', { state: 'guessed' }],
  ])('[AUTH-047] drops an answer with %s for a state', async (_, response) => {
    const { as, server, authorizer } = world;
    as.response = response;
    await expect(ask(authorizer(), server.url)).rejects.toMatchObject({ code: 'ERR_STATE_MISMATCH' });
    expect(as.to('/token')).toEqual([]);
  });

  it('[AUTH-058][AUTH-059] sends the resource, as the server spells it, with every request', async () => {
    const { as, server, authorizer } = world;
    const clock = new FakeClock(1_800_000_000_000);
    server.path = '/mcp/';
    server.metadata = { resource: `${server.origin}/mcp` };
    const one = authorizer({ clock });
    expect(await ask(one, server.url)).toBe(200);
    clock.advance(3_595_000);
    expect(await ask(one, server.url)).toBe(200);
    expect(as.to('/authorize')[0]?.query.get('resource')).toBe(`${server.origin}/mcp`);
    expect(as.to('/token').map(({ body }) => [body['grant_type'], body['resource']])).toEqual([
      ['authorization_code', `${server.origin}/mcp`],
      ['refresh_token', `${server.origin}/mcp`],
    ]);
  });

  it('[AUTH-060] knows its server under an upper-case scheme and host', async () => {
    const { as, server } = world;
    const shouted = server.url.replace('http://', 'HTTP://');
    server.metadata = { resource: shouted };
    expect(await ask(oauth(shouted, { signIn: agreeing(as) }), server.url)).toBe(200);
    expect(as.to('/authorize')[0]?.query.get('resource')).toBe(shouted);
  });

  it.each([
    ['http://app.example.com/back'],
    ['myapp://callback'],
    ['https://app.example.com/back#x'],
    ['http://localhost.evil.example/back'],
    ['javascript:alert(1)'],
  ])('[AUTH-050] comes back to no %s', (redirectUrl) => {
    expect(() => redirectSignIn({ redirectUrl, authorize: async () => undefined })).toThrow(/redirect URL/);
  });

  it.each(['http://localhost:1/x', 'http://127.0.0.1:1/x', 'http://[::1]:1/x', 'https://app.example.com/x'])(
    '[AUTH-050] may come back to %s',
    (redirectUrl) => {
      expect(() => redirectSignIn({ redirectUrl, authorize: async () => undefined })).not.toThrow();
    },
  );

  it('keeps the query that an authorization endpoint has', async () => {
    const { as, server, authorizer } = world;
    as.metadata = { authorization_endpoint: `${as.origin}/authorize?tenant=7` };
    expect(await ask(authorizer(), server.url)).toBe(200);
    expect(as.to('/authorize')[0]?.query.get('tenant')).toBe('7');
  });
});

describe('an authorization URL', () => {
  it('[SEC-011] has no character that substitutes, quotes or pipes in a shell, also in the path that the issuer names', async () => {
    const { as, server } = world;
    as.metadata = { authorization_endpoint: `${as.origin}/a$(touch)'x'\`y\`|z^?q=$(touch)'|` };
    const begun = await ask(
      oauth(server.url, { signIn: redirectSignIn({ redirectUrl: REDIRECT_URL, authorize: async () => undefined }) }),
      server.url,
    ).catch((reason: unknown) => reason);
    const { authorizationUrl } = begun as SignInPendingError;
    expect(authorizationUrl).toMatch(/\/a%24%28touch%29%27x%27%60y%60%7Cz%5E\?q=%24%28touch%29%27%7C&/i);
    expect(authorizationUrl).not.toMatch(/[$()|^'`]/);
  });

  it.each(['$(id).example.com', "'a'.example.com", 'a`b`.example.com'])('[SEC-011] with the host %s is refused', async (host) => {
    const { as, server, authorizer } = world;
    as.metadata = { authorization_endpoint: `https://${host}/authorize` };
    await expect(ask(authorizer(), server.url)).rejects.toMatchObject({ code: 'ERR_UNSAFE_URL' });
  });
});

describe('the server URL', () => {
  it.each(['https://user@mcp.example/mcp', 'https://:password@mcp.example/mcp', 'https://user:password@mcp.example/mcp'])(
    '[ROBUSTNESS-14] has neither a user name nor a password: %s is refused, and the password not repeated',
    (url) => {
      const message = 'The server URL must be an absolute http(s) or ws(s) URL without a user name or password';
      expect(() => oauth(url, { signIn: agreeing(world.as) })).toThrow(new TypeError(message));
    },
  );
});

describe('the issuer of an answer', () => {
  const promised = { authorization_response_iss_parameter_supported: true };

  it('[AUTH-053] goes on with its own issuer, promised or not', async () => {
    const { as, server, authorizer } = world;
    as.response = { iss: as.issuer };
    expect(await ask(authorizer(), server.url)).toBe(200);
    as.metadata = promised;
    expect(await ask(authorizer(), server.url)).toBe(200);
  });

  it('[AUTH-054] refuses an answer without the issuer that was promised, and goes on where none was', async () => {
    const { as, server, authorizer } = world;
    as.metadata = promised;
    await expect(ask(authorizer(), server.url)).rejects.toMatchObject({ code: 'ERR_RESPONSE_ISSUER' });
    expect(as.to('/token')).toEqual([]);
    as.metadata = {};
    expect(await ask(authorizer(), server.url)).toBe(200);
  });

  it.each([[promised], [{}]])('[AUTH-053] refuses another issuer before any token request, with metadata %j', async (metadata) => {
    const { as, server, authorizer } = world;
    as.metadata = metadata;
    as.response = { iss: 'https://attacker.example' };
    await expect(ask(authorizer(), server.url)).rejects.toMatchObject({ code: 'ERR_RESPONSE_ISSUER' });
    expect(as.to('/token')).toEqual([]);
  });

  it.each([
    ['a closing slash', (issuer: string) => `${issuer}/`],
    ['an upper-case scheme', (issuer: string) => issuer.replace('http', 'HTTP')],
    ['percent-encoding', (issuer: string) => issuer.replace('127', '%31%32%37')],
  ])('[AUTH-055] compares letter by letter: %s differs', async (_, change) => {
    const { as, server, authorizer } = world;
    as.response = { iss: change(as.issuer) };
    await expect(ask(authorizer(), server.url)).rejects.toMatchObject({ code: 'ERR_RESPONSE_ISSUER' });
  });

  it('[AUTH-055] does not take a default port for none', async () => {
    const { as, server, authorizer } = world;
    as.response = { iss: `${as.issuer}:80` };
    await expect(ask(authorizer(), server.url)).rejects.toMatchObject({ code: 'ERR_RESPONSE_ISSUER' });
  });

  it('[AUTH-056] shows nothing of an error from another issuer', async () => {
    const { as, server, authorizer } = world;
    as.response = { code: null, iss: 'https://attacker.example', error: 'access_denied', error_description: 'call +1 555 0100' };
    const error = await ask(authorizer(), server.url).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'ERR_RESPONSE_ISSUER' });
    expect(String(error)).not.toMatch(/access_denied|555/);
  });

  it('[AUTH-056] shows an error from its own issuer, on one line', async () => {
    const { as, server, authorizer } = world;
    as.response = { code: null, iss: as.issuer, error: 'access_denied', error_description: 'not\nyou' };
    await expect(ask(authorizer(), server.url)).rejects.toMatchObject({
      code: 'ERR_SIGN_IN_DENIED',
      error: 'access_denied',
      message: 'The issuer refused the sign-in: access_denied: not you',
    });
  });
});

describe('a sign-in that ends elsewhere', () => {
  const away = redirectSignIn({ redirectUrl: REDIRECT_URL, authorize: async () => undefined });

  it('[AUTH-052] keeps issuer, verifier and state together, and finishes in another process', async () => {
    const { as, server } = world;
    const store = new MemoryCredentialStore();
    const begun = await ask(oauth(server.url, { store, signIn: away }), server.url).catch((reason: unknown) => reason);
    expect(begun).toBeInstanceOf(SignInPendingError);
    const url = new URL((begun as SignInPendingError).authorizationUrl);
    const state = url.searchParams.get('state');
    expect(await store.get(server.url, 'sign-ins')).toMatchObject({ list: [{ state, issuer: as.issuer, verifier: expect.any(String) }] });

    const other = oauth(server.url, { store, signIn: away });
    const back = await as.agree(url);
    await other.finishSignIn(back);
    expect(await ask(other, server.url)).toBe(200);
    await expect(other.finishSignIn(back)).rejects.toMatchObject({ code: 'ERR_STATE_MISMATCH' });
  });

  it('[AUTH-052][AUTH-053] compares with the issuer that was recorded, not with what metadata says meanwhile', async () => {
    const { as, server, addServer } = world;
    const store = new MemoryCredentialStore();
    const one = oauth(server.url, { store, signIn: away });
    const begun = (await one.signIn().catch((reason: unknown) => reason)) as SignInPendingError;
    const attacker = await addServer();
    server.authorizationServer = attacker;
    as.response = { iss: attacker.issuer };
    await expect(one.finishSignIn(await as.agree(new URL(begun.authorizationUrl)))).rejects.toMatchObject({ code: 'ERR_RESPONSE_ISSUER' });
    expect([...as.to('/token'), ...attacker.to('/token')]).toEqual([]);
  });

  it('keeps no more than ten sign-ins that nobody came back to', async () => {
    const { server } = world;
    const store = new MemoryCredentialStore();
    const one = oauth(server.url, { store, signIn: away });
    for (let round = 0; round < 13; round++) await one.signIn().catch(() => undefined);
    expect((await store.get(server.url, 'sign-ins'))?.['list']).toHaveLength(10);
  });

  it('takes no answer after a quarter of an hour', async () => {
    const { as, server } = world;
    const clock = new FakeClock(1_800_000_000_000);
    const one = oauth(server.url, { signIn: away, clock });
    const begun = (await one.signIn().catch((reason: unknown) => reason)) as SignInPendingError;
    clock.advance(16 * 60_000);
    await expect(one.finishSignIn(await as.agree(new URL(begun.authorizationUrl)))).rejects.toMatchObject({ code: 'ERR_STATE_MISMATCH' });
    expect(as.to('/token')).toEqual([]);
  });
});

describe('without a person', () => {
  it('says that somebody has to sign in', async () => {
    await expect(ask(oauth(world.server.url), world.server.url)).rejects.toMatchObject({ code: 'ERR_SIGN_IN_REQUIRED' });
  });

  it('[AUTH-001] sends nothing until a server asks for it', async () => {
    expect(await world.authorizer().headers({ method: 'POST', url: world.server.url })).toEqual({});
    expect(world.as.seen).toEqual([]);
  });
});
