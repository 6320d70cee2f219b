import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateKeyPair } from 'jose';
import { clientMetadataDocument, MemoryCredentialStore, oauth, redirectSignIn } from '@mortise/auth-oauth/client';
import { agreeing, ask, createWorld, REDIRECT_URL, type World } from '../support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(async () => {
  await world.close();
});

const documentUrl = 'https://app.example.com/client.json';
const usedClient = (): string | null | undefined => world.as.to('/authorize').at(-1)?.query.get('client_id');

describe('the order of ways', () => {
  it('[AUTH-026][AUTH-027][VERS-016] takes a client that was registered by hand before all others', async () => {
    const { as, server, authorizer } = world;
    as.metadata = { client_id_metadata_document_supported: true };
    const clients = [{ issuer: as.issuer, clientId: 'by-hand' }];
    expect(await ask(authorizer({ clients, clientMetadataUrl: documentUrl }), server.url)).toBe(200);
    expect(usedClient()).toBe('by-hand');
    expect(as.to('/register')).toEqual([]);
  });

  it('[AUTH-026][AUTH-032][AUTH-039] takes the metadata document where such ids are taken', async () => {
    const { as, server, authorizer } = world;
    as.metadata = { client_id_metadata_document_supported: true };
    expect(await ask(authorizer({ clientMetadataUrl: documentUrl }), server.url)).toBe(200);
    expect(usedClient()).toBe(documentUrl);
    expect(as.to('/register')).toEqual([]);
  });

  it('[AUTH-028][AUTH-029][AUTH-039] registers dynamically where no document is taken', async () => {
    const { as, server, authorizer } = world;
    expect(await ask(authorizer({ clientMetadataUrl: documentUrl }), server.url)).toBe(200);
    expect(as.to('/register')).toHaveLength(1);
    expect(usedClient()).toMatch(/^client-/);
  });

  it('[AUTH-026] asks the program last', async () => {
    const { as, server, authorizer } = world;
    as.metadata = { registration_endpoint: undefined };
    const asked: string[] = [];
    const askForClient = async (issuer: string) => {
      asked.push(issuer);
      return { issuer, clientId: 'typed-in' };
    };
    expect(await ask(authorizer({ askForClient }), server.url)).toBe(200);
    expect([asked[0], usedClient()]).toEqual([as.issuer, 'typed-in']);
  });

  it('says what to do where there is no way', async () => {
    const { as, server, authorizer } = world;
    as.metadata = { registration_endpoint: undefined };
    await expect(ask(authorizer(), server.url)).rejects.toMatchObject({ code: 'ERR_REGISTRATION' });
    expect(as.to('/authorize')).toEqual([]);
  });
});

describe('dynamic registration', () => {
  it.each([
    ['native', REDIRECT_URL],
    ['native', 'http://localhost:8080/back'],
    ['native', 'http://[::1]:8080/back'],
    ['web', 'https://app.example.com/back'],
  ])('[AUTH-030] says %s for %s', async (type, redirectUrl) => {
    const { as, server } = world;
    const signIn = redirectSignIn({ redirectUrl, authorize: as.agree });
    expect(await ask(oauth(server.url, { signIn }), server.url)).toBe(200);
    expect(as.to('/register')[0]?.body).toMatchObject({ application_type: type, redirect_uris: [redirectUrl] });
  });

  it('[AUTH-048][AUTH-081] registers the redirect URL, and that it wants refresh tokens', async () => {
    const { as, server, authorizer } = world;
    const clientMetadata = { client_uri: 'https://app.example.com' };
    expect(await ask(authorizer({ clientName: 'Test', clientMetadata }), server.url)).toBe(200);
    expect(as.to('/register')[0]?.body).toMatchObject({
      client_name: 'Test',
      client_uri: 'https://app.example.com',
      redirect_uris: [REDIRECT_URL],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
    expect(as.to('/authorize')[0]?.query.get('redirect_uri')).toBe(REDIRECT_URL);
  });

  it.each([
    [['authorization_code'], ['authorization_code', 'implicit']],
    [
      ['authorization_code', 'refresh_token'],
      ['authorization_code', 'refresh_token', 'client_credentials'],
    ],
  ])('registers the grant types %j where %j are supported, whatever clientMetadata has', async (registered, supported) => {
    const { as, server, authorizer } = world;
    as.metadata = { grant_types_supported: supported };
    expect(await ask(authorizer({ clientMetadata: { grant_types: ['implicit'] } }), server.url)).toBe(200);
    expect(as.to('/register')[0]?.body).toMatchObject({ grant_types: registered });
  });

  it('[AUTH-031] names the refusal of a redirect URL', async () => {
    const { as, server, authorizer } = world;
    as.routes.set('/register', () => ({
      status: 400,
      body: { error: 'invalid_redirect_uri', error_description: 'loopback\u0000 is not for web clients' },
    }));
    const error = await ask(authorizer(), server.url).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'ERR_REGISTRATION', status: 400, error: 'invalid_redirect_uri' });
    expect((error as Error).message).toContain('loopback  is not for web clients');
  });

  it.each([{}, { client_secret: null }, { client_secret: '' }])('takes %j for a public client', async (secret) => {
    const { as, server, authorizer } = world;
    as.metadata = { token_endpoint_auth_methods_supported: ['none'] };
    as.routes.set('/register', () => ({ status: 201, body: { client_id: 'public', ...secret } }));
    expect(await ask(authorizer(), server.url)).toBe(200);
    const [sent] = as.to('/token');
    expect(sent?.body).toMatchObject({ client_id: 'public' });
    expect(sent?.body).not.toHaveProperty('client_secret');
    expect(sent?.headers['authorization']).toBeUndefined();
  });

  it('registers again when the secret has ended', async () => {
    const { as, server } = world;
    const store = new MemoryCredentialStore();
    as.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
    as.routes.set('/register', () => ({ status: 201, body: { client_id: 'short', client_secret: 's', client_secret_expires_at: 1 } }));
    expect(await ask(oauth(server.url, { store, signIn: agreeing(as) }), server.url)).toBe(200);
    await store.delete(server.url);
    expect(await ask(oauth(server.url, { store, signIn: agreeing(as) }), server.url)).toBe(200);
    expect(as.to('/register')).toHaveLength(2);
  });

  it('registers again, once, when the authorization server has forgotten the client', async () => {
    const { as, server, authorizer } = world;
    as.routes.set('/token', ({ body }) =>
      body['client_id'] === 'forgotten' ? { status: 401, body: { error: 'invalid_client' } } : undefined,
    );
    let count = 0;
    as.routes.set('/register', () => (count++ === 0 ? { status: 201, body: { client_id: 'forgotten' } } : undefined));
    expect(await ask(authorizer(), server.url)).toBe(200);
    expect(as.to('/register')).toHaveLength(2);
  });
});

describe('credentials and issuers', () => {
  it('[AUTH-040] keeps a registration by its issuer and uses it again there', async () => {
    const { as, server } = world;
    const store = new MemoryCredentialStore();
    expect(await ask(oauth(server.url, { store, signIn: agreeing(as) }), server.url)).toBe(200);
    expect(await store.get(as.issuer, 'client')).toMatchObject({ issuer: as.issuer });
    const again = oauth(server.url, { store, signIn: agreeing(as) });
    await again.signIn();
    expect(as.to('/register')).toHaveLength(1);
    expect(new Set(as.to('/authorize').map(({ query }) => query.get('client_id'))).size).toBe(1);
  });

  it('[AUTH-019][AUTH-041][AUTH-078] registers anew with another authorization server, and shows neither anything of the other', async () => {
    const { as, server, addServer } = world;
    const store = new MemoryCredentialStore();
    const authorizer = oauth(server.url, { store, signIn: agreeing(as) });
    expect(await ask(authorizer, server.url)).toBe(200);
    const first = await store.get(as.issuer, 'client');
    const tokens = [...as.accessTokens.keys(), ...as.refreshTokens.keys()];
    const second = await addServer();
    server.authorizationServer = second;
    expect(await ask(authorizer, server.url)).toBe(200);
    expect(second.to('/register')).toHaveLength(1);
    const shown = second.seen.map(({ text, query, headers }) => `${text} ${query} ${JSON.stringify(headers)}`).join('\n');
    for (const secret of [String(first?.['clientId']), ...tokens]) expect(shown).not.toContain(secret);
    expect(as.to('/token')).toHaveLength(1);
    server.authorizationServer = as;
    expect(await ask(authorizer, server.url)).toBe(200);
    expect(as.to('/register')).toHaveLength(1);
    expect(as.to('/authorize').at(-1)?.query.get('client_id')).toBe(first?.['clientId']);
  });

  it('[AUTH-041] uses a metadata document with any authorization server', async () => {
    const { as, server, addServer, authorizer } = world;
    const second = await addServer();
    for (const peer of [as, second]) peer.metadata = { client_id_metadata_document_supported: true };
    const one = authorizer({ clientMetadataUrl: documentUrl });
    expect(await ask(one, server.url)).toBe(200);
    server.authorizationServer = second;
    expect(await ask(one, server.url)).toBe(200);
    expect(second.to('/authorize')[0]?.query.get('client_id')).toBe(documentUrl);
    expect(second.to('/token').map(({ body }) => body['grant_type'])).toEqual(['authorization_code']);
    expect(second.to('/register')).toEqual([]);
  });

  it('[AUTH-042][AUTH-041] refuses to use a client of another issuer, and sends nothing', async () => {
    const { as, server, authorizer } = world;
    const clients = [{ issuer: 'https://other.example', clientId: 'theirs', clientSecret: 'theirs-alone' }];
    await expect(ask(authorizer({ clients }), server.url)).rejects.toMatchObject({ code: 'ERR_CLIENT_MISMATCH' });
    expect(as.to('/authorize')).toEqual([]);
    expect(as.to('/token')).toEqual([]);
    expect(as.to('/register')).toEqual([]);
  });

  it('prefers the authorization server that it has credentials for', async () => {
    const { as, server, addServer, authorizer } = world;
    const second = await addServer();
    server.metadata = { authorization_servers: [second.issuer, as.issuer] };
    const clients = [{ issuer: as.issuer, clientId: 'by-hand' }];
    expect(await ask(authorizer({ clients }), server.url)).toBe(200);
    expect(second.seen).toEqual([]);
  });
});

describe('how the client proves itself', () => {
  const withSecret = (issuer: string, more: object = {}) => [{ issuer, clientId: 'a-b.c_d', clientSecret: 's+p a/ä', ...more }];

  it('sends Basic, form-encoded as browsers do it', async () => {
    const { as, server, authorizer } = world;
    as.metadata = { token_endpoint_auth_methods_supported: undefined };
    expect(await ask(authorizer({ clients: withSecret(as.issuer) }), server.url)).toBe(200);
    const [scheme, value] = as.to('/token')[0]?.headers['authorization']?.split(' ') ?? [];
    expect([scheme, atob(value ?? '')]).toEqual(['Basic', 'a-b.c_d:s%2Bp+a%2F%C3%A4']);
  });

  it('sends the secret in the body where that alone is taken', async () => {
    const { as, server, authorizer } = world;
    as.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
    expect(await ask(authorizer({ clients: withSecret(as.issuer) }), server.url)).toBe(200);
    expect(as.to('/token')[0]?.body).toMatchObject({ client_id: 'a-b.c_d', client_secret: 's+p a/ä' });
    expect(as.to('/token')[0]?.headers['authorization']).toBeUndefined();
  });

  it('[AUTH-035] signs an assertion with its key', async () => {
    const { as, server, authorizer } = world;
    const { privateKey } = await generateKeyPair('ES256');
    as.metadata = { token_endpoint_auth_methods_supported: ['private_key_jwt'] };
    const clients = [{ issuer: as.issuer, clientId: 'keyed', privateKey: { key: privateKey, keyId: 'k1' } }];
    expect(await ask(authorizer({ clients }), server.url)).toBe(200);
    expect(as.to('/token')[0]?.body['client_assertion_type']).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
  });

  it('[AUTH-035] signs for its metadata document where it has a key', async () => {
    const { as, server, authorizer } = world;
    const { privateKey } = await generateKeyPair('ES256');
    as.metadata = { client_id_metadata_document_supported: true, token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'] };
    expect(await ask(authorizer({ clientMetadataUrl: documentUrl, clientMetadataKey: { key: privateKey } }), server.url)).toBe(200);
    expect(as.to('/token')[0]?.body['client_assertion']).toBeTypeOf('string');
  });

  it('refreshes as the client of the issuer that the tokens come from, among all that the program gave', async () => {
    const { as, server, authorizer } = world;
    as.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
    const others = [
      ...withSecret('https://other.example', { clientSecret: 'theirs' }),
      ...withSecret(as.issuer, { clientId: 'second', clientSecret: '2nd' }),
    ];
    const one = authorizer({ clients: [...withSecret(as.issuer), ...others] });
    for (let round = 0; round < 2; round++) {
      as.accessTokens.clear();
      expect(await ask(one, server.url)).toBe(200);
    }
    const used = as.to('/token').map(({ body }) => [body['grant_type'], body['client_id'], body['client_secret']]);
    expect(used).toEqual(['authorization_code', 'refresh_token'].map((grant) => [grant, 'a-b.c_d', 's+p a/ä']));
  });

  it('names what the two have not in common', async () => {
    const { as, server, authorizer } = world;
    as.metadata = { token_endpoint_auth_methods_supported: ['tls_client_auth'] };
    await expect(ask(authorizer({ clients: withSecret(as.issuer) }), server.url)).rejects.toMatchObject({ code: 'ERR_CLIENT_MISMATCH' });
    expect(as.to('/token')).toEqual([]);
  });
});

describe('the metadata document', () => {
  it('[AUTH-034] holds its own URL, a name and the redirect URLs', () => {
    expect(
      clientMetadataDocument({ url: documentUrl, clientName: 'Test', redirectUrls: [REDIRECT_URL], more: { client_id: 'x' } }),
    ).toEqual({
      client_id: documentUrl,
      client_name: 'Test',
      redirect_uris: [REDIRECT_URL],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
  });

  it.each([
    'http://app.example.com/client.json',
    'https://app.example.com',
    'https://app.example.com/',
    'https://a:b@c.example/x',
    'client',
  ])('[AUTH-033] is not at %s', (url) => {
    expect(() => clientMetadataDocument({ url, clientName: 'Test', redirectUrls: [] })).toThrow(/clientMetadataUrl/);
    expect(() => oauth('https://mcp.example.com', { clientMetadataUrl: url })).toThrow(/clientMetadataUrl/);
  });
});
