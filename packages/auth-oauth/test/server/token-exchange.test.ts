import type { AuthInfo } from '@mortise/protocol/contracts';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTokenExchange, jwtVerifier, type TokenExchangeOptions } from '../../src/server.ts';
import { ask } from './support/ask.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { ISSUER, RESOURCE, TestIssuer } from './support/test-issuer.ts';

let issuer: TestIssuer;
let clock: FakeClock;
let auth: AuthInfo;
beforeEach(async () => {
  issuer = await TestIssuer.create();
  clock = new FakeClock(1_800_000_000_000);
  const verifier = jwtVerifier({ issuer: ISSUER, audience: RESOURCE, fetch: issuer.fetch, clock });
  auth = await ask(verifier, await issuer.sign({}, { atMs: clock.now() }));
  let count = 0;
  issuer.exchange = () =>
    Response.json({
      access_token: `up-${++count}`,
      token_type: 'Bearer',
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      expires_in: 120,
    });
});

const create = (options: Partial<TokenExchangeOptions> = {}) =>
  createTokenExchange({
    issuer: ISSUER,
    clientId: 'mcp',
    clientSecret: 's3cret',
    resource: 'https://api.example',
    fetch: issuer.fetch,
    clock,
    ...options,
  });

describe('createTokenExchange', () => {
  it("[AUTH-076][AUTH-077] gives a token of the upstream's own for the caller's, which goes to the authorization server alone", async () => {
    const token = await create({ scopes: ['read'] })(auth);
    expect(token).toEqual({ accessToken: 'up-1', tokenType: 'Bearer', expiresAtMs: clock.now() + 120_000 });
    expect(Object.fromEntries(issuer.forms[0] ?? [])).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: auth.token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      resource: 'https://api.example',
      scope: 'read',
    });
    expect(new Set(issuer.asked.map((url) => new URL(url).origin))).toEqual(new Set([ISSUER]));
  });

  it('keeps a token until shortly before its end, for its caller alone', async () => {
    const exchange = create();
    const other = await ask(
      jwtVerifier({ issuer: ISSUER, audience: RESOURCE, fetch: issuer.fetch, clock }),
      await issuer.sign({ sub: 'eve' }, { atMs: clock.now() }),
    );
    expect([(await exchange(auth)).accessToken, (await exchange(auth)).accessToken, (await exchange(other)).accessToken]).toEqual([
      'up-1',
      'up-1',
      'up-2',
    ]);
    clock.advance(90_000);
    expect((await exchange(auth)).accessToken).toBe('up-3');
  });

  it('says what the authorization server refused with', async () => {
    issuer.exchange = () => Response.json({ error: 'invalid_target', error_description: 'x' }, { status: 400 });
    await expect(create()(auth)).rejects.toMatchObject({ code: 'ERR_TOKEN_EXCHANGE', error: 'invalid_target' });
  });

  it('has nothing to exchange for a caller without a token', async () => {
    await expect(create()(undefined)).rejects.toMatchObject({ code: 'ERR_TOKEN_EXCHANGE' });
    await expect(create()({ principal: 'local', scopes: [] })).rejects.toMatchObject({ code: 'ERR_TOKEN_EXCHANGE' });
    const { resource: _resource, ...rest } = { issuer: ISSUER, clientId: 'mcp', clientSecret: 's', resource: '' };
    expect(() => createTokenExchange(rest)).toThrow(TypeError);
  });
});
