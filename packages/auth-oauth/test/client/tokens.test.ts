import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { clientCredentials, MemoryCredentialStore, oauth } from '@mortise/auth-oauth/client';
import { agreeing, ask, createWorld, type World } from '../support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(async () => {
  await world.close();
});

const scopesAsked = (): (string | null)[] => world.as.to('/authorize').map(({ query }) => query.get('scope'));
const grants = (): unknown[] => world.as.to('/token').map(({ body }) => body['grant_type']);

describe('which scopes are asked for', () => {
  it('[AUTH-062][AUTH-063] those of the challenge, whatever the metadata lists', async () => {
    const { server, authorizer } = world;
    server.challenge = 'Bearer scope="files:read"';
    server.metadata = { scopes_supported: ['other', 'more'] };
    expect(await ask(authorizer(), server.url)).toBe(200);
    expect(scopesAsked()).toEqual(['files:read']);
  });

  it('[AUTH-062] all that the metadata lists, where the challenge names none', async () => {
    const { server, authorizer } = world;
    server.metadata = { scopes_supported: ['one', 'two'] };
    expect(await ask(authorizer(), server.url)).toBe(200);
    expect(scopesAsked()).toEqual(['one two']);
  });

  it('[AUTH-062] none where neither names any: the parameter is left out', async () => {
    const { as, server, authorizer } = world;
    as.metadata = { scopes_supported: ['offline_access'] };
    expect(await ask(authorizer(), server.url)).toBe(200);
    expect(scopesAsked()).toEqual([null]);
  });

  it('[AUTH-082] offline_access too, where the authorization server lists it', async () => {
    const { as, server, authorizer } = world;
    as.metadata = { scopes_supported: ['offline_access'] };
    server.challenge = 'Bearer scope="one"';
    expect(await ask(authorizer(), server.url)).toBe(200);
    expect(scopesAsked()).toEqual(['one offline_access']);
    expect(as.to('/authorize')[0]?.query.get('prompt')).toBe('consent');
  });

  it('[AUTH-082] never offline_access where the authorization server does not list it', async () => {
    const { server, authorizer } = world;
    server.challenge = 'Bearer scope="one offline_access"';
    expect(await ask(authorizer(), server.url)).toBe(200);
    expect(scopesAsked()).toEqual(['one']);
  });

  it('[SEC-021] no wildcard, and nothing that nobody asked for', async () => {
    const { as, server, authorizer } = world;
    as.metadata = { scopes_supported: ['admin', '*', 'one'] };
    server.challenge = 'Bearer scope="one"';
    expect(await ask(authorizer(), server.url)).toBe(200);
    expect(scopesAsked()).toEqual(['one']);
  });
});

describe('step-up', () => {
  it('[AUTH-067][AUTH-068][AUTH-069] asks for what it had and what is needed', async () => {
    const { server, authorizer } = world;
    server.challenge = 'Bearer scope="read"';
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(200);
    server.neededScope = 'write';
    expect(await ask(one, server.url)).toBe(200);
    expect(scopesAsked()).toEqual(['read', 'read write']);
  });

  it('[AUTH-067] asks for them again when the person signs in anew', async () => {
    const { as, server, authorizer } = world;
    server.challenge = 'Bearer scope="read"';
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(200);
    server.neededScope = 'write';
    expect(await ask(one, server.url)).toBe(200);
    as.accessTokens.clear();
    as.refreshTokens.clear();
    expect(await ask(one, server.url)).toBe(200);
    expect(scopesAsked()).toEqual(['read', 'read write', 'read write']);
  });

  it('[AUTH-070] gives up on scopes that asking does not bring, and remembers that', async () => {
    const { as, server, authorizer } = world;
    as.grantedScope = 'read';
    server.challenge = 'Bearer scope="read"';
    server.routes.set('/mcp', ({ headers }) =>
      headers['authorization'] === undefined
        ? undefined
        : { status: 403, headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="write"' }, body: 'no' },
    );
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(403);
    await expect(ask(one, server.url)).rejects.toMatchObject({ code: 'ERR_INSUFFICIENT_SCOPE', scopes: ['write'] });
    expect(scopesAsked()).toEqual(['read', 'read write', 'read write']);
    await expect(ask(one, server.url)).rejects.toMatchObject({ code: 'ERR_INSUFFICIENT_SCOPE' });
    expect(as.to('/authorize')).toHaveLength(3);
  });

  it('keeps its token when the user declines more scopes, and asks twice', async () => {
    const { as, server, authorizer } = world;
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(200);
    server.neededScope = 'write';
    as.response = { code: null, iss: as.issuer, error: 'access_denied' };
    await expect(ask(one, server.url)).rejects.toMatchObject({ code: 'ERR_SIGN_IN_DENIED' });
    await expect(ask(one, server.url)).rejects.toMatchObject({ code: 'ERR_SIGN_IN_DENIED' });
    await expect(ask(one, server.url)).rejects.toMatchObject({ code: 'ERR_INSUFFICIENT_SCOPE' });
    server.neededScope = undefined;
    expect(await ask(one, server.url)).toBe(200);
    expect([as.to('/authorize').length, as.to('/token').length]).toEqual([3, 1]);
  });

  it('[AUTH-070] asks once more when the program signs in again', async () => {
    const { as, server, authorizer } = world;
    server.neededScope = 'write';
    as.grantedScope = 'read';
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(403);
    await expect(ask(one, server.url)).rejects.toMatchObject({ code: 'ERR_INSUFFICIENT_SCOPE' });
    as.grantedScope = undefined;
    await one.signIn({ scopes: ['write'] });
    expect(await ask(one, server.url)).toBe(200);
  });

  it('says so when neither the 403 nor the metadata names a scope', async () => {
    const { as, server, authorizer } = world;
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(200);
    const challenge = { 'www-authenticate': 'Bearer error="insufficient_scope"' };
    server.routes.set('/mcp', () => ({ status: 403, headers: challenge, body: 'no' }));
    await expect(ask(one, server.url)).rejects.toMatchObject({
      code: 'ERR_INSUFFICIENT_SCOPE',
      message: expect.stringContaining('name none'),
      scopes: [],
    });
    expect(as.to('/authorize')).toHaveLength(1);
  });

  it('leaves a 403 alone that asks for no scope', async () => {
    const { as, server, authorizer } = world;
    server.routes.set('/mcp', () => ({ status: 403, headers: { 'www-authenticate': 'Bearer error="access_denied"' }, body: 'no' }));
    expect(await ask(authorizer(), server.url)).toBe(403);
    expect(as.seen).toEqual([]);
  });
});

describe('refresh', () => {
  it('renews a token before it ends, and takes the new refresh token', async () => {
    const { as, server, authorizer } = world;
    const clock = new FakeClock(1_800_000_000_000);
    const one = authorizer({ clock });
    for (let round = 0; round < 3; round++) {
      expect(await ask(one, server.url)).toBe(200);
      clock.advance(3_595_000);
    }
    expect(grants()).toEqual(['authorization_code', 'refresh_token', 'refresh_token']);
    const used = as.to('/token').map(({ body }) => body['refresh_token']);
    expect(new Set(used.slice(1)).size).toBe(2);
    expect(server.to('/mcp').filter(({ headers }) => headers['authorization'] === undefined)).toHaveLength(1);
  });

  it('keeps the refresh token where the answer brings no new one', async () => {
    const { as, server, authorizer } = world;
    as.rotates = false;
    const clock = new FakeClock(1_800_000_000_000);
    const one = authorizer({ clock });
    for (let round = 0; round < 3; round++) {
      expect(await ask(one, server.url)).toBe(200);
      clock.advance(3_595_000);
    }
    expect(grants()).toEqual(['authorization_code', 'refresh_token', 'refresh_token']);
  });

  it('refreshes after a 401 too, where the token was good before', async () => {
    const { as, server, authorizer } = world;
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(200);
    as.accessTokens.clear();
    expect(await ask(one, server.url)).toBe(200);
    expect(grants()).toEqual(['authorization_code', 'refresh_token']);
  });

  it('[AUTH-083] signs in again where no refresh token was issued', async () => {
    const { as, server, authorizer } = world;
    as.givesRefresh = false;
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(200);
    as.accessTokens.clear();
    expect(await ask(one, server.url)).toBe(200);
    expect(grants()).toEqual(['authorization_code', 'authorization_code']);
  });

  it('signs in again where the refresh token is not taken any more', async () => {
    const { as, server, authorizer } = world;
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(200);
    as.accessTokens.clear();
    as.refreshTokens.clear();
    expect(await ask(one, server.url)).toBe(200);
    expect(grants()).toEqual(['authorization_code', 'refresh_token', 'authorization_code']);
  });

  it('keeps the refresh token while the authorization server is in trouble', async () => {
    const { as, server, authorizer } = world;
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(200);
    as.accessTokens.clear();
    as.routes.set('/token', () => ({ status: 503, body: 'later' }));
    await expect(ask(one, server.url)).rejects.toMatchObject({ code: 'ERR_TOKEN_REQUEST' });
    as.routes.delete('/token');
    expect(await ask(one, server.url)).toBe(200);
    expect(as.to('/authorize')).toHaveLength(1);
  });

  it('refreshes once for many calls at once', async () => {
    const { as, server, authorizer } = world;
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(200);
    as.accessTokens.clear();
    const statuses = await Promise.all(Array.from({ length: 20 }, () => ask(one, server.url)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(grants()).toEqual(['authorization_code', 'refresh_token']);
  });

  it('refreshes once for all authorizers that share a store', async () => {
    const { as, server } = world;
    const store = new MemoryCredentialStore();
    const many = Array.from({ length: 5 }, () => oauth(server.url, { store, signIn: agreeing(as) }));
    for (const one of many) expect(await ask(one, server.url)).toBe(200);
    as.accessTokens.clear();
    expect(await Promise.all(many.map((one) => ask(one, server.url)))).toEqual([200, 200, 200, 200, 200]);
    expect(grants()).toEqual(['authorization_code', 'refresh_token']);
  });

  it('goes on waiting for the others when one caller leaves', async () => {
    const { as, server, authorizer } = world;
    const one = authorizer();
    let release = (): void => undefined;
    as.routes.set('/token', async () => await new Promise<undefined>((resolve) => (release = () => resolve(undefined))));
    const leaver = new AbortController();
    const challenge = { status: 401, url: server.url, attempt: 1, header: () => undefined };
    const left = one.onChallenge(challenge, { signal: leaver.signal }).catch((reason: unknown) => reason);
    const stays = one.onChallenge(challenge);
    await expect.poll(() => as.to('/token').length).toBe(1);
    leaver.abort(new Error('gone'));
    expect(await left).toMatchObject({ message: 'gone' });
    release();
    expect(await stays).toBe('retry');
  });
});

describe('a store that flows share', () => {
  it('gives no flow the tokens of another client', async () => {
    const { as, server, authorizer } = world;
    const store = new MemoryCredentialStore();
    expect(await ask(authorizer({ store }), server.url)).toBe(200);
    const robot = clientCredentials(server.url, { store, client: { issuer: as.issuer, clientId: 'robot', clientSecret: 'hush' } });
    const other = authorizer({ store, clients: [{ issuer: as.issuer, clientId: 'by-hand' }] });
    for (const one of [robot, other]) expect(await one.headers({ method: 'POST', url: server.url })).toEqual({});
  });
});

describe('an end to every loop', () => {
  it('refuses to sign in again and again at a server that refuses new tokens', async () => {
    const { as, server, authorizer } = world;
    server.routes.set('/mcp', () => ({ status: 401, body: 'no' }));
    const one = authorizer();
    await expect(ask(one, server.url)).rejects.toMatchObject({ code: 'ERR_TOKEN_REJECTED' });
    await expect(ask(one, server.url)).rejects.toMatchObject({ code: 'ERR_TOKEN_REJECTED' });
    expect(as.to('/authorize')).toHaveLength(1);
  });

  it('lets a call try again with what another call got meanwhile', async () => {
    const { as, server, authorizer } = world;
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(200);
    const challenge = { status: 401, url: server.url, attempt: 1, header: () => undefined };
    expect(await one.onChallenge({ ...challenge, given: { authorization: 'Bearer of-old' } })).toBe('retry');
    expect(grants()).toEqual(['authorization_code']);
    expect(as.to('/authorize')).toHaveLength(1);
  });
});

describe('where tokens go', () => {
  it('[AUTH-078] to the origin of their server and nowhere else', async () => {
    const { as, server, authorizer } = world;
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(200);
    expect(await one.headers({ method: 'POST', url: `${server.origin}/messages?session=1` })).toHaveProperty('authorization');
    for (const url of [as.origin, 'https://other.example/mcp', server.url.replace('127.0.0.1', 'localhost'), 'mcp'])
      expect(await one.headers({ method: 'POST', url })).toEqual({});
    const challenge = { status: 401, attempt: 1, header: () => undefined };
    expect(await one.onChallenge({ ...challenge, url: as.origin })).toBe('fail');
  });

  it('[AUTH-079] into no error and no URL', async () => {
    const { as, server, authorizer } = world;
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(200);
    const secrets = [...as.accessTokens.keys(), ...as.refreshTokens.keys()];
    server.routes.set('/mcp', () => ({ status: 401, body: 'no' }));
    as.routes.set('/token', () => ({ status: 500, body: 'broken' }));
    const error = await ask(one, server.url).catch((reason: unknown) => reason);
    const shown = `${JSON.stringify(error)} ${(error as Error).stack} ${String((error as Error).cause)}`;
    for (const secret of secrets) expect(shown).not.toContain(secret);
    expect(as.seen.every(({ query }) => secrets.every((secret) => !query.toString().includes(secret)))).toBe(true);
  });
});

describe('signing out', () => {
  it('forgets the tokens and revokes them', async () => {
    const { as, server, authorizer } = world;
    const store = new MemoryCredentialStore();
    const one = authorizer({ store });
    expect(await ask(one, server.url)).toBe(200);
    const issued = [[...as.refreshTokens.keys()][0], [...as.accessTokens.keys()][0]];
    await one.signOut();
    expect(as.revoked).toEqual(issued);
    expect(await one.headers({ method: 'POST', url: server.url })).toEqual({});
    expect(await store.get(as.issuer, `tokens ${server.url}`)).toBeUndefined();
  });

  it('forgets them also where revocation fails, and says so', async () => {
    const { as, server, authorizer } = world;
    const one = authorizer();
    expect(await ask(one, server.url)).toBe(200);
    as.routes.set('/revoke', () => ({ status: 503, body: { error: 'temporarily_unavailable' } }));
    await expect(one.signOut()).rejects.toMatchObject({ code: 'ERR_TOKEN_REQUEST' });
    expect(await one.headers({ method: 'POST', url: server.url })).toEqual({});
  });
});
