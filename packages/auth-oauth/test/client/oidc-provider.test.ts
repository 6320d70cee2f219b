/** The whole flow with a real authorization server, before a server that checks its tokens by its keys. */

import { createRemoteJWKSet, decodeJwt, generateKeyPair, jwtVerify } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Configuration } from 'oidc-provider';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { oauth, redirectSignIn } from '@mortise/auth-oauth/client';
import { Peer } from '../support/authorization-server.ts';
import { type Oidc, startOidc } from '../support/oidc.ts';
import { ask, REDIRECT_URL } from '../support/world.ts';

let server: Peer;
let oidc: Oidc;
let keys: ReturnType<typeof createRemoteJWKSet>;
let needed: string;
const tokens: string[] = [];
beforeEach(async () => {
  needed = 'read';
  tokens.length = 0;
  server = await new Peer().listen();
  await startProvider();
  server.routes.set('/.well-known/oauth-protected-resource/mcp', () => ({
    body: { resource: `${server.origin}/mcp`, authorization_servers: [oidc.issuer] },
  }));
  server.routes.set('/mcp', async ({ headers }) => {
    const token = headers['authorization']?.replace(/^\w+ /, '');
    if (token === undefined) return { status: 401, headers: { 'www-authenticate': 'Bearer scope="read"' }, body: 'sign in' };
    const { payload } = await jwtVerify(token, keys, { issuer: oidc.issuer, audience: `${server.origin}/mcp` });
    tokens.push(token);
    if (String(payload['scope']).split(' ').includes(needed)) return { body: { ok: true } };
    return { status: 403, headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${needed}"` }, body: 'more' };
  });
});
afterEach(async () => {
  await server.close();
  await oidc.close();
});

async function startProvider(more: Configuration = {}): Promise<void> {
  oidc = await startOidc(url, more);
  keys = createRemoteJWKSet(new URL(`${oidc.issuer}/jwks`));
}

const url = (): string => `${server.origin}/mcp`;
const signIn = () => redirectSignIn({ redirectUrl: REDIRECT_URL, authorize: async (page) => await oidc.agree(page) });

describe('with oidc-provider', () => {
  it('registers, signs in, and gets a token for the resource', async () => {
    expect(await ask(oauth(url(), { signIn: signIn() }), url())).toBe(200);
    expect(decodeJwt(tokens[0] ?? '')).toMatchObject({ aud: url(), scope: 'read', iss: oidc.issuer, sub: 'ada' });
  });

  it('registers without refresh tokens at a provider that has none', async () => {
    await oidc.close();
    await startProvider({ scopes: ['openid', 'read', 'write'] });
    const metadata: unknown = await (await fetch(`${oidc.issuer}/.well-known/oauth-authorization-server`)).json();
    expect(metadata).toMatchObject({ grant_types_supported: ['implicit', 'authorization_code'] });
    expect(await ask(oauth(url(), { signIn: signIn() }), url())).toBe(200);
  });

  it('steps up for another scope and keeps the first', async () => {
    const authorizer = oauth(url(), { signIn: signIn() });
    expect(await ask(authorizer, url())).toBe(200);
    needed = 'write';
    expect(await ask(authorizer, url())).toBe(200);
    expect(
      String(decodeJwt(tokens.at(-1) ?? '')['scope'])
        .split(' ')
        .toSorted(),
    ).toEqual(['read', 'write']);
  });

  it('refreshes with rotation, and signs out', async () => {
    const clock = new FakeClock(Date.now());
    const pages: string[] = [];
    const counting = redirectSignIn({
      redirectUrl: REDIRECT_URL,
      authorize: async (page) => {
        pages.push(page.href);
        return await oidc.agree(page);
      },
    });
    const authorizer = oauth(url(), { signIn: counting, clock });
    for (let round = 0; round < 3; round++) {
      expect(await ask(authorizer, url())).toBe(200);
      clock.advance(24 * 3_600_000);
    }
    expect(pages).toHaveLength(1);
    expect(new Set(tokens).size).toBe(3);
    await authorizer.signOut();
    expect(await authorizer.headers({ method: 'POST', url: url() })).toEqual({});
  });

  it('[XDPOP-006] binds its tokens to a key', async () => {
    const keyPair = await generateKeyPair('ES256');
    expect(await ask(oauth(url(), { signIn: signIn(), dpop: keyPair }), url())).toBe(200);
    expect(decodeJwt(tokens[0] ?? '')['cnf']).toHaveProperty('jkt');
  });
});
