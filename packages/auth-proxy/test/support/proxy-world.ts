/** A proxy, its provider, a person's browser, and a client that signs in through all three. */

import { createHash, randomBytes } from 'node:crypto';
import {
  type AuthorizationProxy,
  type AuthorizationProxyOptions,
  type AuthorizationStore,
  createAuthorizationProxy,
} from '@mortise/auth-proxy';
import { MemoryAuthorizationStore } from '../../src/authorization-store.ts';
import { Browser } from './browser.ts';
import { Provider, PROVIDER } from './provider.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';

export const PROXY = 'https://mcp.example';
export const RESOURCE = 'https://mcp.example/mcp';
export const REDIRECT = 'https://app.example/cb';

export interface World {
  readonly proxy: AuthorizationProxy;
  readonly provider: Provider;
  readonly browser: Browser;
  readonly clock: FakeClock;
  readonly store: AuthorizationStore;
}

export async function createWorld(options: Partial<AuthorizationProxyOptions> = {}): Promise<World> {
  const provider = new Provider();
  const clock = new FakeClock(1_800_000_000_000);
  const store = new MemoryAuthorizationStore(options.clock ?? clock);
  const proxy = await createAuthorizationProxy({
    issuer: PROXY,
    resource: RESOURCE,
    name: 'Example Files',
    upstream: {
      issuer: PROVIDER,
      name: 'The Provider',
      clientId: 'mcp-proxy',
      clientSecret: 'upstream-secret',
      scopes: ['profile', 'files.read'],
      metadata: {
        authorization_endpoint: `${PROVIDER}/authorize`,
        token_endpoint: `${PROVIDER}/token`,
        revocation_endpoint: `${PROVIDER}/revoke`,
      },
    },
    identify: ({ accessToken }) => Promise.resolve(accessToken.split('-')[1] ?? ''),
    secret: 'a secret of more than 32 characters, for tests',
    scopes: ['files:read', 'files:write'],
    store,
    fetch: provider.fetch,
    clock,
    ...options,
  });
  const browser = new Browser({ 'mcp.example': proxy.fetch, 'provider.example': provider.browse });
  return { proxy, provider, browser, clock, store };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** What a program gets from an endpoint. */
export async function post(
  { proxy }: Pick<World, 'proxy'>,
  path: string,
  body: Readonly<Record<string, string>> | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const isText = typeof body === 'string';
  const response = await proxy.fetch(
    new Request(PROXY + path, {
      method: 'POST',
      body: isText ? body : new URLSearchParams(body).toString(),
      headers: { 'content-type': isText ? 'application/json' : 'application/x-www-form-urlencoded', ...headers },
    }),
  );
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : { text },
  };
}

/** Registers a client. @returns Its id. */
export async function register(
  world: Pick<World, 'proxy'>,
  redirectUri: string = REDIRECT,
  more: Record<string, unknown> = {},
): Promise<string> {
  const metadata = { client_name: 'The App', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none', ...more };
  const { status, body } = await post(world, '/register', JSON.stringify(metadata));
  if (status !== 201) throw new Error(JSON.stringify(body));
  return String(body['client_id']);
}

export const VERIFIER: string = randomBytes(32).toString('base64url');

/** Where a client sends the browser. */
export function authorizeUrl(clientId: string, more: Readonly<Record<string, string | undefined>> = {}): URL {
  const url = new URL('/authorize', PROXY);
  const params = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'client-state',
    scope: 'files:read',
    resource: RESOURCE,
    ...more,
  };
  for (const [name, value] of Object.entries(params)) if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

/** A person consents, and signs in. @returns Where the browser ends up: the client's redirect. */
export async function signIn({ browser }: World, url: URL, decision = 'allow'): Promise<URL> {
  let page = await browser.get(url);
  if (page.status === 200) page = await browser.press(page, PROXY, decision);
  while (page.location !== undefined && ['provider.example', 'mcp.example'].includes(page.location.host))
    page = await browser.get(page.location);
  if (page.location === undefined) throw new Error(`The sign-in ended at a page: ${page.text}`);
  return page.location;
}

export function redeem(world: World, clientId: string, back: URL, more: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return post(world, '/token', {
    grant_type: 'authorization_code',
    code: back.searchParams.get('code') ?? '',
    redirect_uri: REDIRECT,
    client_id: clientId,
    code_verifier: VERIFIER,
    resource: RESOURCE,
    ...more,
  });
}

export function refresh(
  world: World,
  clientId: string,
  refreshToken: unknown,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return post(world, '/token', { grant_type: 'refresh_token', refresh_token: String(refreshToken), client_id: clientId, ...more });
}

/** From nothing to tokens. */
export async function obtain(world: World, clientId: string): Promise<Record<string, unknown>> {
  const { status, body } = await redeem(world, clientId, await signIn(world, authorizeUrl(clientId)));
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}
