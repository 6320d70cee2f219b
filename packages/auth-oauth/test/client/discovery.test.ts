import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findAuthorization } from '@mortise/auth-oauth/client';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { ask, createWorld, type World } from '../support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(async () => {
  await world.close();
});

const pathsOf = (peer: World['as'] | World['server']): readonly string[] => peer.seen.map(({ path }) => path);
const wellKnown = '/.well-known/oauth-protected-resource';

describe('protected resource metadata', () => {
  it('[AUTH-010][AUTH-022] finds the authorization server through the metadata of the server', async () => {
    expect(await findAuthorization(world.server.url)).toEqual({
      issuer: world.as.issuer,
      resource: world.server.url,
      scopesSupported: undefined,
      takesEnterpriseAssertions: false,
    });
    expect(pathsOf(world.server)).toEqual([`${wellKnown}/mcp`]);
  });

  it('[AUTH-013] reads the challenge among several, with quoted strings and parameters in any order', async () => {
    const { server, authorizer } = world;
    server.metadataPath = '/elsewhere/metadata';
    server.challenge = `Basic realm="a, \\"b\\"", DPoP algs="ES256", bearer Scope="one  two" , resource_metadata="${server.origin}/elsewhere/metadata",error=invalid_token`;
    expect(await ask(authorizer(), server.url)).toBe(200);
    expect(world.as.to('/authorize')[0]?.query.get('scope')).toBe('one two');
    expect(server.to(`${wellKnown}/mcp`)).toEqual([]);
  });

  it('[AUTH-014][AUTH-015] looks where the challenge says, at the path, then at the root', async () => {
    const { server, authorizer } = world;
    server.path = '/public/mcp';
    server.metadataPath = wellKnown;
    server.metadata = { resource: server.origin };
    server.challenge = `Bearer resource_metadata="${server.origin}/gone"`;
    expect(await ask(authorizer({}), server.url)).toBe(200);
    expect(pathsOf(server).filter((path) => path !== '/public/mcp')).toEqual(['/gone', `${wellKnown}/public/mcp`, wellKnown]);
  });

  it('[AUTH-014][AUTH-012] asks no well-known place where the challenge gives the metadata', async () => {
    const { server, authorizer } = world;
    server.metadataPath = '/custom';
    server.challenge = `Bearer resource_metadata="${server.origin}/custom"`;
    expect(await ask(authorizer(), server.url)).toBe(200);
    expect(pathsOf(server).filter((path) => path.startsWith('/.well-known'))).toEqual([]);
  });

  it('[AUTH-016] discards metadata that speaks of another resource and asks nobody to sign in', async () => {
    const { server, as, authorizer } = world;
    server.metadata = { resource: 'https://other.example/mcp' };
    await expect(ask(authorizer(), server.url)).rejects.toMatchObject({ code: 'ERR_RESOURCE_MISMATCH' });
    expect(as.seen).toEqual([]);
  });

  it.each([
    ['a sibling', '/.well-known/oauth-protected-resource/mcp', (origin: string) => `${origin}/mc`],
    ['the origin, at the place of the path', '/.well-known/oauth-protected-resource/mcp', (origin: string) => origin],
    ['the server with a fragment', '/.well-known/oauth-protected-resource/mcp', (origin: string) => `${origin}/mcp#x`],
    ['the server below', '/.well-known/oauth-protected-resource/mcp', (origin: string) => `${origin}/mcp/below`],
    ['no URL', '/.well-known/oauth-protected-resource/mcp', () => 'mcp'],
  ])('[AUTH-016] takes no metadata for %s', async (_, place, toResource) => {
    const { server } = world;
    server.metadataPath = place;
    server.metadata = { resource: toResource(server.origin) };
    await expect(findAuthorization(server.url)).rejects.toMatchObject({ code: 'ERR_RESOURCE_MISMATCH' });
  });

  it('[AUTH-016] takes only the identifier that the program names, where it names one', async () => {
    const { server } = world;
    server.metadata = { resource: server.origin };
    expect((await findAuthorization(server.url, { resource: server.origin })).resource).toBe(server.origin);
    await expect(findAuthorization(server.url, { resource: server.url })).rejects.toMatchObject({ code: 'ERR_RESOURCE_MISMATCH' });
  });

  it('[AUTH-017] lists every URL that was tried and what each answered', async () => {
    const { server } = world;
    server.metadataPath = undefined;
    server.routes.set(wellKnown, () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: '<p>welcome</p>' }));
    const error = await findAuthorization(server.url).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'AuthError', code: 'ERR_DISCOVERY' });
    const [, ...attempts] = (error as Error).message.split('\n  ');
    expect(attempts).toEqual([`${server.origin}${wellKnown}/mcp: 404`, `${server.origin}${wellKnown}: 200, but not a JSON object`]);
  });

  it.each([400, 401, 403, 404, 405, 410, 429])('[AUTH-014] takes %i for a miss and looks on', async (status) => {
    const { server } = world;
    server.metadataPath = wellKnown;
    server.metadata = { resource: server.origin };
    server.routes.set(`${wellKnown}/mcp`, () => ({ status, body: 'no' }));
    expect((await findAuthorization(server.url)).issuer).toBe(world.as.issuer);
  });

  it('stops at a server in trouble, and says so', async () => {
    const { server } = world;
    server.routes.set(`${wellKnown}/mcp`, () => ({ status: 503, body: 'later' }));
    await expect(findAuthorization(server.url)).rejects.toMatchObject({ code: 'ERR_DISCOVERY', message: expect.stringMatching(/: 503$/) });
    expect(server.to(wellKnown)).toEqual([]);
  });

  it('[AUTH-018] lets the program choose among several authorization servers', async () => {
    const { server, as, addServer } = world;
    const other = await addServer();
    server.metadata = { authorization_servers: [as.issuer, other.issuer] };
    expect((await findAuthorization(server.url)).issuer).toBe(as.issuer);
    expect((await findAuthorization(server.url, { chooseIssuer: (issuers) => issuers[1] ?? '' })).issuer).toBe(other.issuer);
    await expect(findAuthorization(server.url, { chooseIssuer: () => 'https://third.example' })).rejects.toMatchObject({
      code: 'ERR_CLIENT_MISMATCH',
    });
  });
});

describe('authorization server metadata', () => {
  it('[AUTH-023] tries three places for an issuer with a path, in order', async () => {
    const { as, server } = world;
    as.issuerPath = '/t';
    as.routes.set('/.well-known/oauth-authorization-server/t', () => ({ status: 404 }));
    as.routes.set('/t/.well-known/openid-configuration', () => ({ body: as.document }));
    expect((await findAuthorization(server.url)).issuer).toBe(`${as.origin}/t`);
    expect(pathsOf(as)).toEqual([
      '/.well-known/oauth-authorization-server/t',
      '/.well-known/openid-configuration/t',
      '/t/.well-known/openid-configuration',
    ]);
  });

  it('[AUTH-024][AUTH-022] tries two places for an issuer without a path, in order', async () => {
    const { as, server } = world;
    as.routes.set('/.well-known/oauth-authorization-server', () => ({ status: 404 }));
    as.routes.set('/.well-known/openid-configuration', () => ({ body: as.document }));
    expect((await findAuthorization(server.url)).issuer).toBe(as.issuer);
    expect(pathsOf(as)).toEqual(['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']);
  });

  it.each([
    ['another issuer', 'https://honest.example'],
    ['a closing slash more', undefined],
  ])('[AUTH-025] refuses a document that names %s, and uses nothing of it', async (_, issuer) => {
    const { as, server, authorizer } = world;
    as.metadata = { issuer: issuer ?? `${as.issuer}/` };
    await expect(ask(authorizer(), server.url)).rejects.toMatchObject({ code: 'ERR_ISSUER_MISMATCH' });
    expect(pathsOf(as)).toEqual(['/.well-known/oauth-authorization-server']);
  });

  it('[AUTH-017] lists what was tried where an authorization server has no metadata', async () => {
    const { as, server } = world;
    as.routes.set('/.well-known/oauth-authorization-server', () => ({ status: 404 }));
    await expect(findAuthorization(server.url)).rejects.toMatchObject({
      code: 'ERR_DISCOVERY',
      message: expect.stringMatching(/: 404\n.*: 404$/),
    });
  });
});

describe('authorization server metadata that was read before', () => {
  it('is good for ten minutes, and read again after them', async () => {
    const { as, server, authorizer } = world;
    const clock = new FakeClock(1_800_000_000_000);
    const one = authorizer({ clock });
    const readings: number[] = [];
    for (const passedMs of [0, 599_999, 1, 599_999, 1]) {
      clock.advance(passedMs);
      as.accessTokens.clear();
      expect(await ask(one, server.url)).toBe(200);
      readings.push(as.to('/.well-known/oauth-authorization-server').length);
    }
    expect(readings).toEqual([1, 1, 2, 2, 3]);
  });
});

describe('servers of the first revision with authorization', () => {
  const atOrigin = async (): Promise<World['as']> => {
    const { as, server } = world;
    server.metadataPath = undefined;
    // The server is its own authorization server: its endpoints are those of the other peer.
    for (const path of ['/authorize', '/token', '/register']) {
      server.routes.set(path, (request) => (as as unknown as { handle(request: unknown): never }).handle(request));
    }
    return as;
  };

  it('[AUTH-004][AUTH-005] [AUTH-007] looks for metadata at the origin, where the program allows it, and names the revision', async () => {
    const as = await atOrigin();
    const { server } = world;
    server.routes.set('/.well-known/oauth-authorization-server', () => ({
      body: { ...as.document, issuer: server.origin },
    }));
    expect(await ask(world.authorizer({ assumesOwnServer: true }), server.url)).toBe(200);
    expect(server.to('/.well-known/oauth-authorization-server')[0]?.headers['mcp-protocol-version']).toBe('2025-03-26');
    expect(as.to('/authorize')).toHaveLength(1);
  });

  it('[AUTH-006] uses the endpoints of old where there is no metadata', async () => {
    await atOrigin();
    const { server } = world;
    expect(await ask(world.authorizer({ assumesOwnServer: true }), server.url)).toBe(200);
    expect(['/register', '/authorize', '/token'].map((path) => server.to(path).length)).toEqual([1, 1, 1]);
  });

  it('[AUTH-017] assumes nothing of the kind by itself', async () => {
    await atOrigin();
    await expect(ask(world.authorizer(), world.server.url)).rejects.toMatchObject({ code: 'ERR_DISCOVERY' });
  });
});
