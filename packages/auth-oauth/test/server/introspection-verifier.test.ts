import { beforeEach, describe, expect, it } from 'vitest';
import { introspectionVerifier, type IntrospectionVerifierOptions, toPrincipal } from '../../src/server.ts';
import { ask, refusalOf } from './support/ask.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { ISSUER, RESOURCE, TestIssuer } from './support/test-issuer.ts';

let issuer: TestIssuer;
let clock: FakeClock;
beforeEach(async () => {
  issuer = await TestIssuer.create();
  clock = new FakeClock(1_800_000_000_000);
  know('opaque');
});

const create = (options: Partial<IntrospectionVerifierOptions> = {}) =>
  introspectionVerifier({
    issuer: ISSUER,
    audience: RESOURCE,
    clientId: 'mcp',
    clientSecret: 's3cret',
    fetch: issuer.fetch,
    clock,
    ...options,
  });

function know(token: string, claims: Record<string, unknown> = {}): void {
  const good = { active: true, iss: ISSUER, aud: RESOURCE, sub: 'ada', client_id: 'cli', scope: 'a b', exp: clock.now() / 1000 + 600 };
  issuer.introspections.set(token, { ...good, ...claims });
}

const questions = () => issuer.forms.length;

describe('introspectionVerifier', () => {
  it('[AUTH-074] asks the issuer and says whom the token speaks for', async () => {
    const info = await ask(create(), 'opaque');
    expect(info).toMatchObject({
      principal: toPrincipal({ issuer: ISSUER, subject: 'ada', clientId: 'cli' }),
      scopes: ['a', 'b'],
      resource: RESOURCE,
    });
    expect(issuer.forms[0]?.get('token')).toBe('opaque');
  });

  it.each([
    { what: 'that is not active', claims: { active: false }, says: 'The token is not active' },
    { what: 'for another audience', claims: { aud: ['https://other.example'] }, says: 'The token was issued for another audience' },
    { what: 'whose audience is not told', claims: { aud: undefined }, says: 'The token was issued for another audience' },
    { what: 'of another issuer', claims: { iss: 'https://evil.example' }, says: 'The issuer of the token is not accepted' },
    { what: 'that has ended', claims: { exp: 1 }, says: 'The token has expired' },
    { what: 'before its time', claims: { nbf: 9_999_999_999 }, says: 'The token is not valid yet' },
    { what: 'whose end is a text', claims: { exp: '1' }, says: 'The exp or nbf of the token is not a number' },
    { what: 'whose beginning is a text', claims: { nbf: '9999999999' }, says: 'The exp or nbf of the token is not a number' },
    { what: 'whose audience is an object', claims: { aud: { '0': RESOURCE } }, says: 'The token was issued for another audience' },
    { what: 'whose subject is a number', claims: { sub: 7 }, says: `The token's claim 'sub' is not a string` },
    { what: 'bound to a key', claims: { cnf: { jkt: 'x' } }, says: 'The token is bound to a key: send it with a DPoP proof' },
  ])('[AUTH-074][AUTH-075][SEC-005] refuses a token $what', async ({ claims, says }) => {
    know('bad', claims);
    expect(await refusalOf(create(), 'bad')).toEqual({
      status: 401,
      challenge: `Bearer error="invalid_token", error_description="${says}"`,
      headers: {},
    });
  });

  it('sees a revocation at once, unless answers are kept', async () => {
    const [live, kept] = [create(), create({ cacheMs: 60_000 })];
    await ask(live, 'opaque');
    await ask(kept, 'opaque');
    issuer.introspections.delete('opaque');
    expect((await refusalOf(live, 'opaque')).status).toBe(401);
    expect((await ask(kept, 'opaque')).subject).toBe('ada');
    clock.advance(60_000);
    expect((await refusalOf(kept, 'opaque')).status).toBe(401);
  });

  it('keeps no answer past the end of its token, nor an unbounded number of them', async () => {
    const verifier = create({ cacheMs: 3_600_000 });
    const others = Array.from({ length: 1_000 }, (_, n) => `other-${n}`);
    for (const token of others) know(token);
    for (const token of ['opaque', ...others.slice(1), 'opaque']) await ask(verifier, token);
    expect(questions()).toBe(1_000);
    for (const token of ['other-0', 'opaque']) await ask(verifier, token);
    expect(questions()).toBe(1_002);
    clock.advance(700_000);
    expect((await refusalOf(verifier, 'opaque')).status).toBe(401);
  });

  it('sends its own secret, in the body where the issuer takes it there alone', async () => {
    const metadata = {
      introspection_endpoint: `${ISSUER}/introspect`,
      introspection_endpoint_auth_methods_supported: ['client_secret_post'],
    };
    await ask(create({ metadata }), 'opaque');
    expect([issuer.forms[0]?.get('client_id'), issuer.forms[0]?.get('client_secret')]).toEqual(['mcp', 's3cret']);
  });

  it('is in trouble of its own where the issuer does not answer', async () => {
    issuer.fails = true;
    await expect(ask(create(), 'opaque')).rejects.toMatchObject({ name: 'AuthError', code: 'ERR_TOKEN_SOURCE' });
  });
});
