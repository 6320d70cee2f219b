/** OAuth on both sides: a program with compat's authorization server, a proxy of it, a protected MCP server, and clients that sign in. */

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { auth, discoverAuthorizationServerMetadata, type OAuthClientProvider, UnauthorizedError } from '@mortise/compat-v1/client/auth.js';
import { ClientCredentialsProvider, createPrivateKeyJwtAuth } from '@mortise/compat-v1/client/auth-extensions.js';
import { applyMiddlewares, withLogging, withOAuth } from '@mortise/compat-v1/client/middleware.js';
import { StreamableHTTPClientTransport } from '@mortise/compat-v1/client/streamableHttp.js';
import { Client } from '@mortise/compat-v1/client/index.js';
import { InvalidTokenError } from '@mortise/compat-v1/server/auth/errors.js';
import { requireBearerAuth } from '@mortise/compat-v1/server/auth/middleware/bearerAuth.js';
import type { AuthorizationParams, OAuthServerProvider } from '@mortise/compat-v1/server/auth/provider.js';
import { ProxyOAuthServerProvider } from '@mortise/compat-v1/server/auth/providers/proxyProvider.js';
import { getOAuthProtectedResourceMetadataUrl, mcpAuthRouter } from '@mortise/compat-v1/server/auth/router.js';
import type { AuthInfo } from '@mortise/compat-v1/server/auth/types.js';
import { McpServer } from '@mortise/compat-v1/server/mcp.js';
import { StreamableHTTPServerTransport } from '@mortise/compat-v1/server/streamableHttp.js';
import type { FetchLike } from '@mortise/compat-v1/shared/transport.js';
import type { OAuthClientInformationFull, OAuthClientInformationMixed, OAuthTokens } from '@mortise/compat-v1/shared/auth.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function listen(): Promise<{ readonly app: Express; readonly url: URL }> {
  const app = express();
  const server = createServer(app).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { app, url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) };
}

/** Says yes to everybody, and keeps all in memory. */
class YesProvider implements OAuthServerProvider {
  readonly clients = new Map<string, OAuthClientInformationFull>();
  readonly codes = new Map<string, AuthorizationParams>();
  readonly valid = new Map<string, AuthInfo>();
  readonly clientsStore = {
    getClient: (id: string): OAuthClientInformationFull | undefined => this.clients.get(id),
    registerClient: (client: object): OAuthClientInformationFull => {
      const full = client as OAuthClientInformationFull;
      this.clients.set(full.client_id, full);
      return full;
    },
  };

  authorize: OAuthServerProvider['authorize'] = async (_client, params, response) => {
    const code = `code-${this.codes.size}`;
    this.codes.set(code, params);
    const back = new URL(params.redirectUri);
    back.searchParams.set('code', code);
    if (params.state !== undefined) back.searchParams.set('state', params.state);
    response.redirect(back.href);
  };

  async challengeForAuthorizationCode(_client: unknown, code: string): Promise<string> {
    return this.codes.get(code)?.codeChallenge ?? '';
  }

  async exchangeAuthorizationCode(client: OAuthClientInformationFull, code: string): Promise<OAuthTokens> {
    return this.issue(client.client_id, this.codes.get(code)?.scopes ?? []);
  }

  async exchangeRefreshToken(client: OAuthClientInformationFull): Promise<OAuthTokens> {
    return this.issue(client.client_id, ['read']);
  }

  async verifyAccessToken(token: string): Promise<AuthInfo> {
    const info = this.valid.get(token);
    if (info === undefined) throw new InvalidTokenError('Unknown token');
    return info;
  }

  async revokeToken(_client: unknown, { token }: { token: string }): Promise<void> {
    this.valid.delete(token);
  }

  issue(clientId: string, scopes: string[]): OAuthTokens {
    const token = `token-${this.valid.size}`;
    this.valid.set(token, { token, clientId, scopes, expiresAt: Math.floor(Date.now() / 1000) + 60 });
    return { access_token: token, token_type: 'Bearer', refresh_token: 'again' };
  }
}

/** A client's provider whose user follows the redirect at once. */
class FollowingProvider implements OAuthClientProvider {
  readonly redirectUrl = 'http://localhost:9/callback';
  readonly clientMetadata = { client_name: 'test', redirect_uris: [this.redirectUrl], scope: 'read' };
  saved: OAuthTokens | undefined;
  client: OAuthClientInformationMixed | undefined;
  code = '';
  verifier = '';

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.client;
  }
  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.client = client;
  }
  tokens(): OAuthTokens | undefined {
    return this.saved;
  }
  saveTokens(tokens: OAuthTokens): void {
    this.saved = tokens;
  }
  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }
  codeVerifier(): string {
    return this.verifier;
  }
  async redirectToAuthorization(url: URL): Promise<void> {
    let response = await fetch(url, { redirect: 'manual' });
    // A proxy redirects to the server behind it first.
    while (!response.headers.get('location')?.startsWith(this.redirectUrl))
      response = await fetch(response.headers.get('location') ?? '', { redirect: 'manual' });
    this.code = new URL(response.headers.get('location') ?? '').searchParams.get('code') ?? '';
  }
}

/** An MCP server without sessions behind `requireBearerAuth`. Its tool tells who called. */
function protect(app: Express, url: URL, provider: OAuthServerProvider): URL {
  const resource = new URL('/mcp', url);
  app.use(mcpAuthRouter({ provider, issuerUrl: url, resourceServerUrl: resource, scopesSupported: ['read'] }));
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resource);
  app.post('/mcp', requireBearerAuth({ verifier: provider, requiredScopes: ['read'], resourceMetadataUrl }), async (request, response) => {
    const server = new McpServer({ name: 'protected', version: '1.0.0' });
    server.registerTool('who', {}, async (extra) => ({ content: [{ type: 'text', text: `${extra.authInfo?.scopes.join()}` }] }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on('close', () => void transport.close());
    await server.connect(transport);
    await transport.handleRequest(request, response);
  });
  return resource;
}

async function signIn(resource: URL, provider: FollowingProvider): Promise<Client> {
  const first = new StreamableHTTPClientTransport(resource, { authProvider: provider });
  await expect(new Client({ name: 'test', version: '1' }).connect(first)).rejects.toThrow(UnauthorizedError);
  await first.finishAuth(provider.code);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(resource, { authProvider: provider }));
  return client;
}

describe('an authorization server on compat', () => {
  it('registers a client, lets its user sign in, and protects a server', async () => {
    const { app, url } = await listen();
    const provider = new FollowingProvider();
    const client = await signIn(protect(app, url, new YesProvider()), provider);
    expect(await client.callTool({ name: 'who' })).toMatchObject({ content: [{ text: 'read' }] });
    expect(provider.client).toMatchObject({ client_name: 'test', issuer: url.href });
    await client.close();
  });

  it('passes each step on to the server behind a proxy', async () => {
    const behind = await listen();
    const upstream = new YesProvider();
    protect(behind.app, behind.url, upstream);
    const { app, url } = await listen();
    const at = (path: string): string => new URL(path, behind.url).href;
    const proxy = new ProxyOAuthServerProvider({
      endpoints: {
        authorizationUrl: at('/authorize'),
        tokenUrl: at('/token'),
        revocationUrl: at('/revoke'),
        registrationUrl: at('/register'),
      },
      verifyAccessToken: (token) => upstream.verifyAccessToken(token),
      getClient: async (id) => upstream.clients.get(id),
    });
    const provider = new FollowingProvider();
    const client = await signIn(protect(app, url, proxy), provider);
    expect(await client.callTool({ name: 'who' })).toMatchObject({ content: [{ text: 'read' }] });
    await client.close();
    const { client_id = '', client_secret = '' } = provider.client ?? {};
    const body = new URLSearchParams({ token: provider.saved?.access_token ?? '', client_id, client_secret });
    expect((await fetch(new URL('/revoke', url), { method: 'POST', body })).status).toBe(200);
    expect(upstream.valid.size).toBe(0);
  });

  it('challenges without a token, with an unknown one, and with too few scopes', async () => {
    const { app, url } = await listen();
    const provider = new YesProvider();
    const resource = protect(app, url, provider);
    const weak = provider.issue('a', []).access_token;
    const ask = async (authorization?: string): Promise<unknown[]> => {
      const response = await fetch(resource, { method: 'POST', headers: authorization === undefined ? {} : { authorization } });
      const { error } = (await response.json()) as { error: string };
      return [response.status, error, response.headers.get('www-authenticate')?.includes(`resource_metadata="${url.origin}/.well-known`)];
    };
    expect(await ask()).toEqual([401, 'invalid_token', true]);
    expect(await ask('Bearer none')).toEqual([401, 'invalid_token', true]);
    expect(await ask(`Bearer ${weak}`)).toEqual([403, 'insufficient_scope', true]);
  });

  it.each([
    ['/authorize?client_id=none', 400, 'invalid_client'],
    ['/authorize', 400, 'invalid_request'],
  ])('refuses %s directly, with status %i', async (path, status, error) => {
    const { app, url } = await listen();
    protect(app, url, new YesProvider());
    const response = await fetch(new URL(path, url), { redirect: 'manual' });
    expect([response.status, await response.json()]).toEqual([status, expect.objectContaining({ error }) as unknown]);
  });

  it('checks the secret, the grant and the code verifier of a token request', async () => {
    const { app, url } = await listen();
    const provider = new YesProvider();
    protect(app, url, provider);
    provider.clients.set('c', { client_id: 'c', client_secret: 's', redirect_uris: ['http://localhost:9/callback'] });
    provider.codes.set('k', { codeChallenge: 'other', redirectUri: 'http://localhost:9/callback' });
    const ask = async (params: Record<string, string>): Promise<string> => {
      const response = await fetch(new URL('/token', url), { method: 'POST', body: new URLSearchParams({ client_id: 'c', ...params }) });
      return ((await response.json()) as { error: string }).error;
    };
    const code = { grant_type: 'authorization_code', code: 'k', code_verifier: 'v' };
    expect(await ask({ ...code })).toBe('invalid_client');
    expect(await ask({ ...code, client_secret: 'x' })).toBe('invalid_client');
    expect(await ask({ client_secret: 's', grant_type: 'password' })).toBe('unsupported_grant_type');
    expect(await ask({ client_secret: 's', ...code })).toBe('invalid_grant');
  });
});

describe('a client on compat', () => {
  it('uses its refresh token, and signs in anew when the server refuses it', async () => {
    const { app, url } = await listen();
    const resource = protect(app, url, new YesProvider());
    const provider = new FollowingProvider();
    await signIn(resource, provider);
    expect(await auth(provider, { serverUrl: resource })).toBe('AUTHORIZED');
    provider.saved = undefined;
    expect(await auth(provider, { serverUrl: resource })).toBe('REDIRECT');
  });

  it('never sends its credentials to an authorization server that they are not for', async () => {
    const { app, url } = await listen();
    const resource = protect(app, url, new YesProvider());
    const provider = new ClientCredentialsProvider({ clientId: 'c', clientSecret: 's', expectedIssuer: 'https://other.example' });
    await expect(auth(provider, { serverUrl: resource })).rejects.toThrow('bound to authorization server https://other.example');
  });

  it('asks for more scope in each request that needs it, and gives up when that does not help', async () => {
    const { app, url } = await listen();
    const provider = new FollowingProvider();
    const resource = protect(app, url, new YesProvider());
    const client = await signIn(resource, provider);
    let refusals = 0;
    const needsMore: FetchLike = async (to, init) => {
      if (init?.method !== 'POST' || !String(init.body).includes('tools/list') || refusals-- <= 0) return fetch(to, init);
      return new Response('', { status: 403, headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="more"' } });
    };
    await client.close();
    const other = new Client({ name: 'test', version: '1' });
    await other.connect(new StreamableHTTPClientTransport(resource, { authProvider: provider, fetch: needsMore }));
    for (let request = 0; request < 2; request++) {
      refusals = 1;
      expect((await other.listTools()).tools).toHaveLength(1);
    }
    refusals = 2;
    await expect(other.listTools()).rejects.toThrow('403 after trying upscoping');
    await other.close();
  });

  it('follows a redirect to another origin where redirectPolicy is "follow"', async () => {
    const [target, from] = [await listen(), await listen()];
    target.app.post('/mcp', async (request, response) => {
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
      response.on('close', () => void transport.close());
      await new McpServer({ name: 'moved', version: '1.0.0' }).connect(transport);
      await transport.handleRequest(request, response);
    });
    from.app.all('/mcp', (_request, response) => response.redirect(307, new URL('/mcp', target.url).href));
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', from.url), { redirectPolicy: 'follow' }));
    expect(client.getServerVersion()).toMatchObject({ name: 'moved' });
    await client.close();
    const strict = new StreamableHTTPClientTransport(new URL('/mcp', from.url));
    await expect(new Client({ name: 'test', version: '1' }).connect(strict)).rejects.toThrow();
  });

  it('signs a fetch in by a middleware', async () => {
    const { app, url } = await listen();
    const resource = protect(app, url, new YesProvider());
    const provider = new FollowingProvider();
    await signIn(resource, provider);
    provider.saved = { access_token: 'stale', token_type: 'Bearer', refresh_token: 'again' };
    const statuses: number[] = [];
    const logging = withLogging({ logger: ({ status }) => void statuses.push(status) });
    const send = applyMiddlewares(logging, withOAuth(provider, resource))(fetch);
    expect((await send(resource, { method: 'POST' })).status).not.toBe(401);
    expect(statuses[0]).toBe(401);
  });

  it('signs an assertion with a shared secret', async () => {
    const params = new URLSearchParams();
    const sign = createPrivateKeyJwtAuth({ issuer: 'c', subject: 'c', privateKey: 'x'.repeat(32), alg: 'HS256' });
    await sign(new Headers(), params, 'https://as.example/token');
    const [, claims = ''] = (params.get('client_assertion') ?? '').split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ iss: 'c', sub: 'c', aud: 'https://as.example/token' });
  });
});

it('[ROBUSTNESS-7] refuses metadata that is too long', async () => {
  const { app, url } = await listen();
  app.get('/.well-known/oauth-authorization-server', (_request, response) => void response.json({ issuer: 'x'.repeat(1_048_576) }));
  await expect(discoverAuthorizationServerMetadata(url)).rejects.toThrow('longer than 1048576 bytes');
});
