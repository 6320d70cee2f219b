import { createHash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { dpopVerifier, type DpopVerifierOptions, jwtVerifier } from '../../src/server.ts';
import { ask, refusalOf } from './support/ask.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { ISSUER, RESOURCE, TestIssuer } from './support/test-issuer.ts';

const ALGS = 'ES256 ES384 PS256 RS256 EdDSA Ed25519';

let issuer: TestIssuer;
let clock: FakeClock;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let jwk: JWK;
let token: string;
beforeEach(async () => {
  issuer = await TestIssuer.create();
  clock = new FakeClock(1_800_000_000_000);
  keys = await generateKeyPair('ES256', { extractable: true });
  jwk = await exportJWK(keys.publicKey);
  token = await issuer.sign({ cnf: { jkt: await calculateJwkThumbprint(jwk) } }, { atMs: clock.now() });
});

const reader = () => jwtVerifier({ issuer: ISSUER, audience: RESOURCE, fetch: issuer.fetch, clock });
const create = (options: DpopVerifierOptions = {}) => dpopVerifier(reader(), { clock, ...options });

interface ProofOptions {
  readonly claims?: Record<string, unknown>;
  readonly header?: Record<string, unknown>;
  readonly key?: CryptoKey;
}
type CryptoKey = typeof keys.privateKey;

function prove({ claims = {}, header = {}, key = keys.privateKey }: ProofOptions = {}): Promise<string> {
  const ath = createHash('sha256').update(token).digest('base64url');
  const all = { jti: randomUUID(), htm: 'POST', htu: RESOURCE, iat: clock.now() / 1000, ath, ...claims };
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(kept).setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header }).sign(key);
}

const sent = (dpop: string | undefined) => ({ scheme: 'DPoP', headers: dpop === undefined ? {} : { dpop } });

describe('dpopVerifier', () => {
  it('[ROBUSTNESS-7] remembers no proof of those who have no token that holds: strangers cannot fill its memory', async () => {
    let claims = 0;
    const verifier = create({ replayStore: { claim: async () => (claims += 1) === 1 } });
    const ath = createHash('sha256').update('made up').digest('base64url');
    for (let i = 0; i < 3; i++) {
      const { challenge } = await refusalOf(verifier, 'made up', sent(await prove({ claims: { ath } })));
      expect(challenge).toContain('error="invalid_token"');
    }
    expect((await ask(verifier, token, sent(await prove()))).subject).toBe('ada');
  });

  it('[XDPOP-003] accepts a token with a fresh proof of its key', async () => {
    const info = await ask(create(), token, sent(await prove()));
    expect([info.subject, info.token]).toEqual(['ada', token]);
  });

  it.each<{ readonly what: string; readonly make: () => Promise<string | undefined> }>([
    { what: 'is missing', make: () => Promise.resolve(undefined) },
    { what: 'is for another method', make: () => prove({ claims: { htm: 'GET' } }) },
    { what: 'is for another URL', make: () => prove({ claims: { htu: 'https://mcp.example/other' } }) },
    { what: 'is for another host', make: () => prove({ claims: { htu: 'https://evil.example/mcp' } }) },
    { what: 'is for another token', make: () => prove({ claims: { ath: 'x' } }) },
    { what: 'names no token', make: () => prove({ claims: { ath: undefined } }) },
    { what: 'has no id', make: () => prove({ claims: { jti: undefined } }) },
    { what: 'is too old', make: () => prove({ claims: { iat: clock.now() / 1000 - 301 } }) },
    { what: 'is from the future', make: () => prove({ claims: { iat: clock.now() / 1000 + 301 } }) },
    { what: 'is of another type', make: () => prove({ header: { typ: 'JWT' } }) },
    { what: 'holds a private key', make: async () => prove({ header: { jwk: await exportJWK(keys.privateKey) } }) },
    { what: 'is signed by another key than it holds', make: async () => prove({ key: (await generateKeyPair('ES256')).privateKey }) },
    { what: 'is no JWT', make: () => Promise.resolve('a, b') },
  ])('[XDPOP-003] refuses a proof that $what with invalid_dpop_proof', async ({ make }) => {
    const { status, challenge } = await refusalOf(create(), token, sent(await make()));
    expect(status).toBe(401);
    expect(challenge).toMatch(/^DPoP error="invalid_dpop_proof", error_description="[^"]+", algs="ES256 ES384 PS256 RS256 EdDSA Ed25519"$/);
  });

  it('[XDPOP-003] forgives five minutes either way, and the query of the URL', async () => {
    const verifier = create();
    for (const offset of [-299, 299]) {
      const proof = await prove({ claims: { iat: clock.now() / 1000 + offset } });
      expect((await ask(verifier, token, { ...sent(proof), url: `${RESOURCE}?x=1` })).subject).toBe('ada');
    }
  });

  it('[XDPOP-004] takes each proof once', async () => {
    const [verifier, proof] = [create(), await prove()];
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => ask(verifier, token, sent(proof))));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await ask(create({ replayStore: false }), token, sent(proof))).subject).toBe('ada');
  });

  it('[XDPOP-004] demands a nonce where the program says so, and gives it with the refusal', async () => {
    const verifier = create({ nonce: true });
    const first = await refusalOf(verifier, token, sent(await prove()));
    expect(first.challenge).toMatch(/^DPoP error="use_dpop_nonce"/);
    const nonce = first.headers['DPoP-Nonce'] ?? '';
    expect((await ask(verifier, token, sent(await prove({ claims: { nonce } })))).subject).toBe('ada');
    expect((await refusalOf(verifier, token, sent(await prove({ claims: { nonce: `${nonce}x` } })))).challenge).toContain('use_dpop_nonce');
    clock.advance(5 * 60_000 + 1_000);
    expect((await refusalOf(verifier, token, sent(await prove({ claims: { nonce } })))).challenge).toContain('use_dpop_nonce');
  });

  it('knows the nonces of another machine by the shared secret', async () => {
    const nonce = 'x'.repeat(32);
    const given = (await refusalOf(create({ nonce }), token, sent(await prove()))).headers['DPoP-Nonce'];
    expect((await ask(create({ nonce }), token, sent(await prove({ claims: { nonce: given } })))).subject).toBe('ada');
  });

  it('[XDPOP-007] still checks the audience of the token', async () => {
    token = await issuer.sign({ aud: 'https://other.example', cnf: { jkt: await calculateJwkThumbprint(jwk) } }, { atMs: clock.now() });
    expect(await refusalOf(create(), token, sent(await prove()))).toEqual({
      status: 401,
      challenge: `DPoP error="invalid_token", error_description="The token was issued for another audience", algs="${ALGS}"`,
      headers: {},
    });
  });

  it.each([{ cnf: undefined }, { cnf: { jkt: 'another' } }])(
    'refuses a token that is not bound to the key of the proof',
    async (claims) => {
      token = await issuer.sign(claims, { atMs: clock.now() });
      const { challenge } = await refusalOf(create(), token, sent(await prove()));
      expect(challenge).toContain('error="invalid_token", error_description="The token is not bound to the key of the DPoP proof"');
    },
  );

  it('takes no bearer token, unless the program has a verifier for them, and then never a bound one', async () => {
    expect(await refusalOf(create(), token)).toEqual({ status: 401, challenge: `DPoP algs="${ALGS}"`, headers: {} });
    const both = create({ bearer: reader() });
    expect((await ask(both, await issuer.sign({}, { atMs: clock.now() }))).subject).toBe('ada');
    expect((await refusalOf(both, token)).challenge).toContain('bound to a key');
  });
});
