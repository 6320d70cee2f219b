import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { anyVerifier, jwtVerifier, type JwtVerifierOptions, toPrincipal } from '../../src/server.ts';
import { ask, refusalOf } from './support/ask.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { ISSUER, RESOURCE, TestIssuer } from './support/test-issuer.ts';

const MINUTE = 60_000;

let issuer: TestIssuer;
let clock: FakeClock;
beforeEach(async () => {
  issuer = await TestIssuer.create();
  clock = new FakeClock(1_800_000_000_000);
});

const create = (options: Partial<JwtVerifierOptions> = {}) =>
  jwtVerifier({ issuer: ISSUER, audience: RESOURCE, fetch: issuer.fetch, clock, ...options });
const sign: TestIssuer['sign'] = (claims, options) => issuer.sign(claims, { atMs: clock.now(), ...options });
const invalid = (description: string) => ({
  status: 401,
  challenge: `Bearer error="invalid_token", error_description="${description}"`,
  headers: {},
});

describe('jwtVerifier', () => {
  it('[AUTH-074] says whom a good token speaks for', async () => {
    const info = await ask(create(), await sign({ scope: 'a b' }));
    expect(info).toMatchObject({
      principal: toPrincipal({ issuer: ISSUER, subject: 'ada', clientId: 'cli' }),
      issuer: ISSUER,
      subject: 'ada',
      clientId: 'cli',
      scopes: ['a', 'b'],
      resource: RESOURCE,
      expiresAtMs: clock.now() + 10 * MINUTE,
    });
  });

  it('[ROBUSTNESS-14] keeps the token out of whatever writes the caller down', async () => {
    const token = await sign();
    const info = await ask(create(), token);
    expect(info.token).toBe(token);
    expect([JSON.stringify(info).includes(token), Object.keys(info).includes('token'), { ...info }.token]).toEqual([
      false,
      false,
      undefined,
    ]);
  });

  it.each([
    { what: 'for another audience', claims: { aud: 'https://other.example/mcp' }, says: 'The token was issued for another audience' },
    { what: 'for a longer path', claims: { aud: `${RESOURCE}/more` }, says: 'The token was issued for another audience' },
    { what: 'without an audience', claims: { aud: undefined }, says: 'The token was issued for another audience' },
    { what: 'of another issuer', claims: { iss: 'https://evil.example' }, says: 'The issuer of the token is not accepted' },
    { what: 'of almost the issuer', claims: { iss: `${ISSUER}/` }, says: 'The issuer of the token is not accepted' },
    { what: 'without an end', claims: { exp: undefined }, says: `The token's claim 'exp' is missing or wrong` },
    { what: 'whose subject is a number', claims: { sub: 7 }, says: `The token's claim 'sub' is not a string` },
    { what: 'whose client is a number', claims: { client_id: 7 }, says: `The token's claim 'client_id' is not a string` },
    {
      what: 'that speaks for nobody',
      claims: { sub: undefined, client_id: undefined },
      says: 'The token has neither a subject nor a client',
    },
  ])('[AUTH-074][AUTH-075][SEC-005] refuses a token $what', async ({ claims, says }) => {
    expect(await refusalOf(create(), await sign(claims as never))).toEqual(invalid(says));
  });

  it('[AUTH-074] refuses a token past its end, and forgives the clock tolerance', async () => {
    const token = await sign();
    const verifier = create({ clockToleranceSeconds: 30 });
    clock.advance(10 * MINUTE + 29_000);
    expect((await ask(verifier, token)).subject).toBe('ada');
    clock.advance(2_000);
    expect(await refusalOf(verifier, token)).toEqual(invalid('The token has expired'));
  });

  it('[AUTH-074] refuses a token before its time', async () => {
    const nbf = clock.now() / 1000 + 60;
    expect(await refusalOf(create(), await sign({ nbf }))).toEqual(invalid('The token is not valid yet'));
  });

  it('[AUTH-074] refuses the algorithm "none"', async () => {
    const seconds = clock.now() / 1000;
    const token = new UnsecuredJWT({ iss: ISSUER, aud: RESOURCE, sub: 'ada', exp: seconds + 60 }).encode();
    const refused = await refusalOf(create(), token);
    expect([refused.status, refused.challenge]).toEqual([401, expect.stringMatching(/^Bearer error="invalid_token"/)]);
  });

  it('[AUTH-074] refuses a token that is signed with a published key as if it were a secret', async () => {
    const secret = new TextEncoder().encode(JSON.stringify(issuer.key.publicJwk));
    const seconds = clock.now() / 1000;
    const token = await new SignJWT({ iss: ISSUER, aud: RESOURCE, sub: 'ada', exp: seconds + 60 })
      .setProtectedHeader({ alg: 'HS256', kid: issuer.key.kid })
      .sign(secret);
    expect(await refusalOf(create(), token)).toEqual(invalid('The token is signed with an algorithm that is not accepted'));
  });

  it.each(['dpop+jwt', 'oauth-id-jag+jwt', 'logout+jwt'])('refuses a JWT of the type %s', async (typ) => {
    expect(await refusalOf(create(), await sign({}, { header: { typ } }))).toEqual(invalid('The token is not an access token'));
  });

  it('refuses what is no JWT, or has been changed', async () => {
    const token = await sign();
    const [header, payload, signature = ''] = token.split('.');
    const other = `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    for (const bad of ['x', 'a.b.c', other]) expect(await refusalOf(create(), bad)).toEqual(invalid('The token cannot be verified'));
  });

  it('[ROBUSTNESS-2] refuses a token whose signature is written in another way', async () => {
    const token = await sign();
    expect((await ask(create(), token)).subject).toBe('ada');
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    // The last character of 64 bytes has four unused bits, which must be zero.
    const last = digits.charAt(digits.indexOf(token.slice(-1)) + 1);
    for (const same of [token.slice(0, -1) + last, `${token}=`, `${token}\n`])
      expect(await refusalOf(create(), same)).toEqual(invalid('The token cannot be verified'));
  });

  it('[XDPOP-001] refuses a token that is bound to a key when it comes without proof', async () => {
    const token = await sign({ cnf: { jkt: 'x' } });
    expect(await refusalOf(create(), token)).toEqual(invalid('The token is bound to a key: send it with a DPoP proof'));
    expect((await refusalOf(create(), token, { scheme: 'DPoP' })).status).toBe(401);
  });

  it('asks for a token without an error where none came, and says 400 of a header without one', async () => {
    expect(await refusalOf(create(), undefined, { scheme: undefined })).toEqual({ status: 401, challenge: 'Bearer', headers: {} });
    expect(await refusalOf(create(), 'x', { scheme: 'Basic' })).toEqual({ status: 401, challenge: 'Bearer', headers: {} });
    expect(await refusalOf(create(), undefined)).toMatchObject({
      status: 400,
      challenge: expect.stringContaining('error="invalid_request"'),
    });
  });

  it('reads scopes from "scp" and by a function of the program', async () => {
    expect((await ask(create(), await sign({ scope: undefined, scp: ['x', 'y'] }))).scopes).toEqual(['x', 'y']);
    const readScopes = (claims: Readonly<Record<string, unknown>>) => claims['roles'] as string[];
    expect((await ask(create({ readScopes }), await sign({ roles: ['admin'] }))).scopes).toEqual(['admin']);
  });

  it('accepts one of several audiences and says which', async () => {
    const other = 'https://mcp.example/other';
    const info = await ask(create({ audience: [RESOURCE, other] }), await sign({ aud: ['https://x.example', other] }));
    expect(info.resource).toBe(other);
  });
});

describe('the keys of an issuer', () => {
  // jose keeps the keys, and measures their age by the platform's clock.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: clock.now() }));
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
  const pass = (ms: number): void => {
    clock.advance(ms);
    vi.setSystemTime(clock.now());
  };
  const jwks = () => issuer.asked.filter((url) => url.endsWith('/jwks')).length;

  it('are fetched once for many tokens', async () => {
    const verifier = create();
    const token = await sign();
    await Promise.all(Array.from({ length: 20 }, () => ask(verifier, token)));
    pass(5 * MINUTE);
    await ask(verifier, token);
    expect(jwks()).toBe(1);
  });

  it('[AUTH-074] are fetched again for a new key, and a key that was rotated out is refused', async () => {
    const verifier = create();
    const before = await sign();
    const old = issuer.key;
    await ask(verifier, before);
    await issuer.rotate();
    pass(MINUTE);
    expect((await ask(verifier, await sign())).subject).toBe('ada');
    const description = 'The token is signed with a key that the issuer does not publish';
    expect(await refusalOf(verifier, before)).toEqual(invalid(description));
    pass(MINUTE);
    expect(await refusalOf(verifier, await sign({}, { key: old }))).toEqual(invalid(description));
  });

  it('are given up with their age, also while no new key shows', async () => {
    const verifier = create();
    const old = issuer.key;
    await ask(verifier, await sign());
    await issuer.rotate();
    pass(10 * MINUTE);
    expect((await refusalOf(verifier, await sign({}, { key: old }))).status).toBe(401);
  });

  it('are not fetched for each made-up key id', async () => {
    const verifier = create();
    await ask(verifier, await sign());
    for (let n = 0; n < 10; n++) await refusalOf(verifier, await sign({}, { header: { kid: `made-up-${n}` } }));
    expect(jwks()).toBe(1);
  });

  it('may be given, and then nothing is fetched', async () => {
    const verifier = create({ keys: { keys: [issuer.key.publicJwk] } });
    expect((await ask(verifier, await sign())).subject).toBe('ada');
    expect(issuer.asked).toEqual([]);
  });

  it("are the server's own trouble where they cannot be had", async () => {
    issuer.fails = true;
    await expect(ask(create(), await sign())).rejects.toMatchObject({ name: 'AuthError', code: 'ERR_TOKEN_SOURCE' });
    issuer.fails = false;
    const verifier = create({ keys: `${ISSUER}/nowhere` });
    await expect(ask(verifier, await sign())).rejects.toMatchObject({ name: 'AuthError', code: 'ERR_TOKEN_SOURCE' });
  });

  it("of another issuer's metadata are not taken", async () => {
    await expect(ask(create({ issuer: `${ISSUER}/tenant` }), await sign({ iss: `${ISSUER}/tenant` }))).rejects.toMatchObject({
      name: 'AuthError',
      code: 'ERR_TOKEN_SOURCE',
    });
  });

  it('are not asked for by a token that names another issuer, or none', async () => {
    for (const token of [await sign({ iss: 'https://evil.example' }), await sign({ iss: undefined } as never)])
      await refusalOf(create(), token);
    expect(issuer.asked).toEqual([]);
  });

  it.each<{ readonly what: string; readonly answer: (signal?: AbortSignal | null) => Promise<Response> }>([
    { what: 'never come', answer: () => new Promise(() => undefined) },
    {
      what: 'never end',
      answer: (signal) => {
        // As the platform's does, the body breaks off with its request.
        const start = (controller: ReadableStreamDefaultController): void =>
          signal?.addEventListener('abort', () => controller.error(signal.reason));
        return Promise.resolve(new Response(new ReadableStream({ start }), { headers: { 'content-type': 'application/json' } }));
      },
    },
    { what: 'are 10 MiB', answer: () => Promise.resolve(Response.json({ keys: [], more: 'x'.repeat(10 * 1024 * 1024) })) },
    {
      what: 'are elsewhere',
      answer: () => Promise.resolve(new Response(null, { status: 302, headers: { location: 'https://evil.example' } })),
    },
    { what: 'are no keys', answer: () => Promise.resolve(Response.json({ keys: 1 })) },
  ])("[ROBUSTNESS-7] that $what are the server's own trouble, in bounded time", async ({ answer }) => {
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      asked.push(String(input));
      return new Promise((resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
        void answer(init?.signal).then(resolve);
      });
    };
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 50));
    const verifier = create({ keys: `${ISSUER}/jwks`, fetch });
    await expect(ask(verifier, await sign())).rejects.toMatchObject({ name: 'AuthError', code: 'ERR_TOKEN_SOURCE' });
    expect(asked).toEqual([`${ISSUER}/jwks`]);
  });

  it('is not the key that a token brings along', async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const token = await sign(
      {},
      { key: { ...issuer.key, privateKey }, header: { jwk: issuer.key.publicJwk, jku: 'https://evil.example/jwks' } },
    );
    expect((await refusalOf(create(), token)).status).toBe(401);
    expect(issuer.asked.some((url) => url.includes('evil'))).toBe(false);
  });
});

describe('anyVerifier', () => {
  it('accepts the tokens of several issuers, and refuses what none accepts', async () => {
    const other = await TestIssuer.create();
    const second = jwtVerifier({ issuer: 'https://second.example', audience: RESOURCE, keys: { keys: [other.key.publicJwk] }, clock });
    const both = anyVerifier(create(), second);
    const theirs = await other.sign({ iss: 'https://second.example', sub: 'bob' }, { atMs: clock.now() });
    expect([(await ask(both, await sign())).subject, (await ask(both, theirs)).subject]).toEqual(['ada', 'bob']);
    expect(await refusalOf(both, await sign({ iss: 'https://evil.example' }))).toEqual(invalid('The issuer of the token is not accepted'));
    const forged = await other.sign({}, { atMs: clock.now() });
    expect((await refusalOf(both, forged)).status).toBe(401);
    expect(() => anyVerifier()).toThrow(TypeError);
  });

  it('says nothing of a token while one of them is in trouble', async () => {
    issuer.fails = true;
    const second = jwtVerifier({ issuer: 'https://second.example', audience: RESOURCE, keys: { keys: [] }, clock });
    await expect(ask(anyVerifier(create(), second), await sign())).rejects.toMatchObject({ name: 'AuthError', code: 'ERR_TOKEN_SOURCE' });
  });
});
