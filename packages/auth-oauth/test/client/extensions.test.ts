import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader, generateKeyPair, importJWK, type JWK, jwtVerify } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import {
  clientCredentials,
  clientCredentialsExtension,
  enterpriseManaged,
  enterpriseManagedExtension,
  findAuthorization,
  MemoryCredentialStore,
  oauth,
  workloadIdentity,
} from '@mortise/auth-oauth/client';
import { connectInMemory } from '@mortise/client/in-memory';
import type { Connectable } from '@mortise/jsonrpc-core';
import type { McpEndpoint } from '@mortise/protocol/contracts';
import { McpServer } from '@mortise/server';
import { Peer } from '../support/authorization-server.ts';
import { agreeing, ask, createWorld, type World } from '../support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(async () => {
  await world.close();
});

const tokenRequests = () => world.as.to('/token');

describe('client credentials', () => {
  const withSecret = (issuer: string) => ({ issuer, clientId: 'robot', clientSecret: 'hush' });

  it('[XCC-002][XCC-003] asks for a token with its resource and scope, and registers nothing', async () => {
    const { as, server } = world;
    as.metadata = { token_endpoint_auth_methods_supported: ['client_secret_basic'] };
    server.challenge = 'Bearer scope="run"';
    expect(await ask(clientCredentials(server.url, { client: withSecret(as.issuer) }), server.url)).toBe(200);
    expect(tokenRequests()[0]?.body).toEqual({ grant_type: 'client_credentials', resource: server.url, scope: 'run' });
    expect(tokenRequests()[0]?.headers['content-type']).toContain('application/x-www-form-urlencoded');
    expect(as.to('/register')).toEqual([]);
  });

  it('[XCC-001] finds its authorization server as the core rules say, and sends nothing to another', async () => {
    const { server, as } = world;
    const client = withSecret('https://other.example');
    await expect(ask(clientCredentials(server.url, { client }), server.url)).rejects.toMatchObject({ code: 'ERR_CLIENT_MISMATCH' });
    expect(tokenRequests()).toEqual([]);
    expect(as.to('/.well-known/oauth-authorization-server')).toHaveLength(1);
  });

  it.each([
    [['client_secret_post'], 'body'],
    [['client_secret_basic', 'client_secret_post'], 'header'],
    [undefined, 'header'],
  ])('[XCC-009] shows the secret as the metadata %j takes it', async (methods, place) => {
    const { as, server } = world;
    as.metadata = { token_endpoint_auth_methods_supported: methods };
    expect(await ask(clientCredentials(server.url, { client: withSecret(as.issuer) }), server.url)).toBe(200);
    expect(tokenRequests()[0]?.body['client_secret']).toBe(place === 'body' ? 'hush' : undefined);
    expect(tokenRequests()[0]?.headers['authorization']).toBe(place === 'header' ? `Basic ${btoa('robot:hush')}` : undefined);
  });

  it('[XCC-004][XCC-005][XCC-006] signs an assertion that names the client, which the body does not', async () => {
    const { as, server } = world;
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    as.metadata = { token_endpoint_auth_methods_supported: ['private_key_jwt', 'client_secret_basic'] };
    const client = { issuer: as.issuer, clientId: 'robot', privateKey: { key: privateKey, keyId: 'k1' } };
    expect(await ask(clientCredentials(server.url, { client }), server.url)).toBe(200);
    const { client_assertion: assertion, client_assertion_type: type, client_id: clientId } = tokenRequests()[0]?.body ?? {};
    expect([type, clientId]).toEqual(['urn:ietf:params:oauth:client-assertion-type:jwt-bearer', undefined]);
    const { payload, protectedHeader } = await jwtVerify(String(assertion), publicKey);
    expect(protectedHeader).toMatchObject({ alg: 'ES256', kid: 'k1' });
    expect(payload).toMatchObject({ iss: 'robot', sub: 'robot', aud: as.issuer });
    expect([payload.exp, payload.iat, payload.jti]).toEqual([expect.any(Number), expect.any(Number), expect.any(String)]);
  });

  it('[XCC-008] signs only with an algorithm that is taken', async () => {
    const { as, server } = world;
    const { privateKey } = await generateKeyPair('ES256');
    as.metadata = {
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['RS256'],
    };
    const client = { issuer: as.issuer, clientId: 'robot', privateKey: { key: privateKey } };
    await expect(ask(clientCredentials(server.url, { client }), server.url)).rejects.toMatchObject({ code: 'ERR_CLIENT_MISMATCH' });
    expect(tokenRequests()).toEqual([]);
  });

  it('[XCC-011] asks for another token before the first ends', async () => {
    const { as, server } = world;
    const clock = new FakeClock(1_800_000_000_000);
    as.metadata = { token_endpoint_auth_methods_supported: ['client_secret_basic'] };
    const one = clientCredentials(server.url, { client: withSecret(as.issuer), clock });
    expect(await ask(one, server.url)).toBe(200);
    clock.advance(3_595_000);
    expect(await ask(one, server.url)).toBe(200);
    expect(tokenRequests()).toHaveLength(2);
    expect(server.to('/mcp').filter(({ headers }) => headers['authorization'] === undefined)).toHaveLength(1);
  });

  it('[XCC-010][XEMA-001] is declared in the capabilities of every request', async () => {
    const server = new McpServer({ name: 'server', version: '1.0.0' });
    const seen: unknown[] = [];
    const endpoint: McpEndpoint & Connectable = {
      handle: (request, call) => {
        const meta = request.params?.['_meta'] as Record<string, { extensions?: unknown }>;
        seen.push(meta['io.modelcontextprotocol/clientCapabilities']?.extensions);
        return server.handle(request, call);
      },
      openSession: (link, saved) => server.openSession(link, saved),
      paramHeaders: (tool) => server.paramHeaders(tool),
      nameParam: (method) => server.nameParam(method),
      connect: (transport) => server.connect(transport),
    };
    const client = await connectInMemory(endpoint, { extensions: [clientCredentialsExtension, enterpriseManagedExtension] });
    await client.discover();
    await client.close();
    expect(seen.length).toBeGreaterThan(1);
    const declared = {
      'io.modelcontextprotocol/oauth-client-credentials': {},
      'io.modelcontextprotocol/enterprise-managed-authorization': {},
    };
    for (const extensions of seen) expect(extensions).toEqual(declared);
  });
});

describe('enterprise-managed authorization', () => {
  const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
  let provider: Peer;
  beforeEach(async () => {
    provider = await new Peer().listen();
    provider.routes.set('/token', () => ({
      body: { access_token: 'the-id-jag', issued_token_type: ID_JAG, token_type: 'N_A', expires_in: 60 },
    }));
    world.as.metadata = {
      token_endpoint_auth_methods_supported: ['client_secret_basic'],
      authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
    };
  });
  afterEach(async () => {
    await provider.close();
  });

  const authorizer = (more: object = {}) =>
    enterpriseManaged(world.server.url, {
      client: { issuer: world.as.issuer, clientId: 'desk', clientSecret: 'hush' },
      identityProvider: { tokenEndpoint: `${provider.origin}/token`, clientId: 'desk-at-idp', clientSecret: 'idp-hush' },
      identity: async () => ({ token: 'the-id-token' }),
      ...more,
    });

  it('[XEMA-003][XEMA-004][XEMA-005] exchanges the sign-on for an assertion to the authorization server, for the resource', async () => {
    const { as, server } = world;
    server.challenge = 'Bearer scope="read"';
    expect(await ask(authorizer(), server.url)).toBe(200);
    expect(provider.to('/token')[0]?.body).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: ID_JAG,
      audience: as.issuer,
      resource: server.url,
      scope: 'read',
      subject_token: 'the-id-token',
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    });
  });

  it('[XEMA-002] can be found out beforehand', async () => {
    expect((await findAuthorization(world.server.url)).takesEnterpriseAssertions).toBe(true);
    world.as.metadata = {};
    expect((await findAuthorization(world.server.url)).takesEnterpriseAssertions).toBe(false);
  });

  it('[XEMA-012] may be known to the authorization server by its metadata document, signed with its key', async () => {
    const { as, server } = world;
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    as.metadata = { client_id_metadata_document_supported: true, token_endpoint_auth_methods_supported: ['private_key_jwt'] };
    const client = { issuer: as.issuer, clientId: 'https://app.example.com/client.json', privateKey: { key: privateKey } };
    expect(await ask(authorizer({ client }), server.url)).toBe(200);
    const { payload } = await jwtVerify(String(tokenRequests()[0]?.body['client_assertion']), publicKey);
    expect(payload).toMatchObject({ iss: client.clientId, sub: client.clientId });
    expect(as.to('/register')).toEqual([]);
  });

  it('[XEMA-006] names SAML where the sign-on was that', async () => {
    expect(await ask(authorizer({ identity: async () => ({ token: 'saml', type: 'saml2' }) }), world.server.url)).toBe(200);
    expect(provider.to('/token')[0]?.body).toMatchObject({
      subject_token: 'saml',
      subject_token_type: 'urn:ietf:params:oauth:token-type:saml2',
    });
    expect(provider.to('/token')[0]?.body).not.toHaveProperty('actor_token');
  });

  it('[XEMA-007] authenticates to the identity provider as its client', async () => {
    expect(await ask(authorizer(), world.server.url)).toBe(200);
    expect(provider.to('/token')[0]?.headers['authorization']).toBe(`Basic ${btoa('desk-at-idp:idp-hush')}`);
  });

  it('[XEMA-011] gives the assertion to the authorization server as its own client, and asks no person', async () => {
    const { as, server } = world;
    expect(await ask(authorizer(), server.url)).toBe(200);
    expect(tokenRequests()[0]?.body).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: 'the-id-jag',
      resource: server.url,
    });
    expect(tokenRequests()[0]?.headers['authorization']).toBe(`Basic ${btoa('desk:hush')}`);
    expect(as.to('/authorize')).toEqual([]);
  });

  it.each([
    ['an access token', { issued_token_type: 'urn:ietf:params:oauth:token-type:access_token', token_type: 'Bearer' }],
    ['nothing said', { token_type: 'N_A' }],
  ])('[XEMA-009] takes no %s for an assertion, and sends it nowhere', async (_, more) => {
    provider.routes.set('/token', () => ({ body: { access_token: 'not-an-id-jag', ...more } }));
    await expect(ask(authorizer(), world.server.url)).rejects.toMatchObject({ code: 'ERR_TOKEN_REQUEST' });
    expect(tokenRequests()).toEqual([]);
  });

  it('[XEMA-018] puts neither the sign-on nor the assertion into an error or a URL', async () => {
    world.as.routes.set('/token', () => ({ status: 400, body: { error: 'invalid_grant' } }));
    const error = await ask(authorizer(), world.server.url).catch((reason: unknown) => reason);
    const shown = `${JSON.stringify(error)} ${(error as Error).stack}`;
    const urls = [...world.as.seen, ...provider.seen, ...world.server.seen].map(({ path, query }) => `${path}?${query}`).join('\n');
    for (const secret of ['the-id-jag', 'the-id-token', 'hush']) expect(shown + urls).not.toContain(secret);
  });

  it('[XEMA-018] sends to no identity provider without TLS', () => {
    const identityProvider = { tokenEndpoint: 'http://idp.example/token', clientId: 'desk' };
    expect(() => authorizer({ identityProvider })).toThrow(/not https/);
  });

  it('sends the assertion to no other authorization server', async () => {
    const other = await world.addServer();
    world.server.authorizationServer = other;
    await expect(ask(authorizer(), world.server.url)).rejects.toMatchObject({ code: 'ERR_CLIENT_MISMATCH' });
    expect([...provider.seen, ...other.to('/token')]).toEqual([]);
  });
});

describe('workload identity', () => {
  const authorizer = (more: object = {}) =>
    workloadIdentity(world.server.url, { issuer: world.as.issuer, assertion: async () => 'the-workload-jwt', ...more });

  it("[XWIF-001] asks with the workload's token and the resource, and no client", async () => {
    const { as, server } = world;
    expect(await ask(authorizer(), server.url)).toBe(200);
    expect(tokenRequests()[0]?.body).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: 'the-workload-jwt',
      resource: server.url,
    });
    expect(tokenRequests()[0]?.headers['authorization']).toBeUndefined();
    expect(as.to('/register')).toEqual([]);
  });

  it('[XWIF-002] tells the platform the audience that its token must have', async () => {
    const asked: object[] = [];
    const assertion = async ({ issuer, tokenEndpoint }: { issuer: string; tokenEndpoint: string }) => {
      asked.push({ issuer, tokenEndpoint });
      return 'the-workload-jwt';
    };
    expect(await ask(authorizer({ assertion }), world.server.url)).toBe(200);
    expect(asked).toEqual([{ issuer: world.as.issuer, tokenEndpoint: `${world.as.origin}/token` }]);
  });

  it('[XWIF-007] asks the platform each time, keeps its token nowhere and names it in no error', async () => {
    const store = new MemoryCredentialStore();
    let count = 0;
    const one = authorizer({ store, assertion: async () => `the-workload-jwt-${++count}` });
    expect(await ask(one, world.server.url)).toBe(200);
    expect(JSON.stringify([await store.get(world.as.issuer, `tokens ${world.server.url}`)])).not.toContain('the-workload-jwt');
    world.as.accessTokens.clear();
    world.as.routes.set('/token', () => ({ status: 400, body: { error: 'invalid_grant' } }));
    const error = await ask(one, world.server.url).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST', error: 'invalid_grant' });
    expect(`${JSON.stringify(error)} ${(error as Error).stack}`).not.toContain('the-workload-jwt');
    expect(count).toBe(2);
  });

  it('asks once and in no other way where the token is refused', async () => {
    world.as.routes.set('/token', () => ({ status: 400, body: { error: 'unauthorized_client' } }));
    await expect(ask(authorizer(), world.server.url)).rejects.toMatchObject({ error: 'unauthorized_client' });
    expect(tokenRequests()).toHaveLength(1);
  });

  it('[XWIF-007] sends nothing to another authorization server', async () => {
    await expect(ask(authorizer({ issuer: 'https://trusted.example' }), world.server.url)).rejects.toMatchObject({
      code: 'ERR_CLIENT_MISMATCH',
    });
    expect(tokenRequests()).toEqual([]);
  });
});

describe('DPoP', () => {
  /** Checks a proof as a server does. @returns Its claims and the thumbprint of its key. */
  async function verifyProof(proof: string | undefined) {
    const { typ, alg, jwk } = decodeProtectedHeader(proof ?? '');
    expect(typ).toBe('dpop+jwt');
    expect(alg).toBe('ES256');
    expect(jwk).not.toHaveProperty('d');
    const { payload } = await jwtVerify(proof ?? '', await importJWK(jwk as JWK, alg));
    return { payload, thumbprint: await calculateJwkThumbprint(jwk as JWK) };
  }

  const bindTokens = (): void => {
    const { as } = world;
    as.metadata = { dpop_signing_alg_values_supported: ['ES256'] };
    as.routes.set('/token', async ({ body }) => {
      const answer = await (as as unknown as { handle(request: unknown): { body: object } }).handle({ path: '/token', body });
      return { ...answer, body: { ...answer.body, token_type: 'DPoP' } };
    });
  };

  it('[XDPOP-001][XDPOP-002] proves every request anew, with its method, its address and its token', async () => {
    const { as, server } = world;
    bindTokens();
    const one = oauth(server.url, { dpop: true, signIn: agreeing(as) });
    for (let round = 0; round < 2; round++) expect(await ask(one, `${server.url}?x=1`)).toBe(200);
    const [first, second] = server.to('/mcp').slice(1);
    const token = first?.headers['authorization']?.replace(/^DPoP /, '') ?? '';
    expect(first?.headers['authorization']).toMatch(/^DPoP access-/);
    const proofs = [await verifyProof(first?.headers['dpop']), await verifyProof(second?.headers['dpop'])];
    const ath = createHash('sha256').update(token).digest('base64url');
    for (const { payload } of proofs) expect(payload).toMatchObject({ htm: 'POST', htu: server.url, ath, iat: expect.any(Number) });
    expect(new Set(proofs.map(({ payload }) => payload.jti)).size).toBe(2);
    const atTokenEndpoint = await verifyProof(tokenRequests()[0]?.headers['dpop']);
    expect(atTokenEndpoint.thumbprint).toBe(proofs[0]?.thumbprint);
    expect(as.to('/register')[0]?.body).toMatchObject({ dpop_bound_access_tokens: true });
  });

  it('[XDPOP-005] proves no digest of the content', async () => {
    const { as, server } = world;
    bindTokens();
    expect(await ask(oauth(server.url, { dpop: true, signIn: agreeing(as) }), server.url)).toBe(200);
    expect(Object.keys(decodeJwt(server.to('/mcp').at(-1)?.headers['dpop'] ?? '')).toSorted()).toEqual(['ath', 'htm', 'htu', 'iat', 'jti']);
  });

  it('[XDPOP-004] proves with the nonce that either server asks for', async () => {
    const { as, server } = world;
    bindTokens();
    const issue = as.routes.get('/token');
    as.routes.set('/token', async (request, response) =>
      decodeJwt(String(request.headers['dpop']))['nonce'] === 'as-nonce'
        ? await issue?.(request, response)
        : { status: 400, headers: { 'dpop-nonce': 'as-nonce' }, body: { error: 'use_dpop_nonce' } },
    );
    server.routes.set('/mcp', ({ headers }) => {
      const { dpop } = headers;
      if (dpop === undefined || decodeJwt(dpop)['nonce'] === 'rs-nonce') return undefined;
      return { status: 401, headers: { 'dpop-nonce': 'rs-nonce', 'www-authenticate': 'DPoP error="use_dpop_nonce"' }, body: 'nonce' };
    });
    const one = oauth(server.url, { dpop: true, signIn: agreeing(as) });
    expect(await ask(one, server.url)).toBe(200);
    expect(tokenRequests()).toHaveLength(2);
    const proofs = server.to('/mcp').flatMap(({ headers }) => (headers['dpop'] === undefined ? [] : [decodeJwt(headers['dpop']).jti]));
    expect(new Set(proofs).size).toBe(2);
  });

  it('renews a token that is refused right after a nonce was asked for, as a server does that was started again', async () => {
    const { as, server } = world;
    bindTokens();
    let wanted = 'first';
    server.routes.set('/mcp', ({ headers: { dpop } }) => {
      if (dpop === undefined || decodeJwt(dpop)['nonce'] === wanted) return undefined;
      return { status: 401, headers: { 'dpop-nonce': wanted, 'www-authenticate': 'DPoP error="use_dpop_nonce"' }, body: 'nonce' };
    });
    const one = oauth(server.url, { dpop: true, signIn: agreeing(as) });
    expect(await ask(one, server.url)).toBe(200);
    wanted = 'second';
    for (const token of as.accessTokens.keys()) server.refused.add(token);
    expect(await ask(one, server.url)).toBe(200);
    expect(tokenRequests().map(({ body }) => body['grant_type'])).toEqual(['authorization_code', 'refresh_token']);
  });

  it('[XDPOP-001] takes no token that anyone could use', async () => {
    const { as, server } = world;
    await expect(ask(oauth(server.url, { dpop: true, signIn: agreeing(as) }), server.url)).rejects.toMatchObject({
      code: 'ERR_TOKEN_REQUEST',
    });
    expect(server.to('/mcp').every(({ headers }) => headers['authorization'] === undefined)).toBe(true);
  });

  it('[XDPOP-007] keeps its key where it cannot be read, and what is bound to it in memory', async () => {
    const { as, server } = world;
    bindTokens();
    const store = new MemoryCredentialStore();
    expect(await ask(oauth(server.url, { dpop: true, store, signIn: agreeing(as) }), server.url)).toBe(200);
    expect(await store.get(as.issuer, `tokens ${server.url}`)).toBeUndefined();
  });

  it('uses the tokens again with a key of the program', async () => {
    const { as, server } = world;
    bindTokens();
    const store = new MemoryCredentialStore();
    const keyPair = await generateKeyPair('ES256');
    for (let run = 0; run < 2; run++) {
      expect(await ask(oauth(server.url, { dpop: keyPair, store, signIn: agreeing(as) }), server.url)).toBe(200);
    }
    expect(tokenRequests()).toHaveLength(1);
  });

  it('names an algorithm that is not taken', async () => {
    const { as, server } = world;
    as.metadata = { dpop_signing_alg_values_supported: ['RS256'] };
    await expect(ask(oauth(server.url, { dpop: true, signIn: agreeing(as) }), server.url)).rejects.toMatchObject({
      code: 'ERR_CLIENT_MISMATCH',
    });
  });
});
