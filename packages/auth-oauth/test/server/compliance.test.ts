/** Every verifier of this package keeps the promises of `TokenVerifier`. */

import { createHash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type { TokenRequest, TokenVerifier } from '@mortise/protocol/contracts';
import { setPatience } from '@mortise/transport-testkit';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { tokenVerifierCases, type TokenVerifierSubject } from '@mortise/transport-testkit/token-verifier';
import { dpopVerifier, introspectionVerifier, jwtVerifier, protect } from '../../src/server.ts';
import { ISSUER, RESOURCE, TestIssuer } from './support/test-issuer.ts';

// Reached only where something never happens: a busy machine takes its time.
setPatience(60_000);

const traits = { faults: true, waits: true };

function toRequest(token: string, scheme = 'Bearer', dpop?: string): TokenRequest {
  return { scheme, token, method: 'POST', url: RESOURCE, header: (name) => (name.toLowerCase() === 'dpop' ? dpop : undefined) };
}

/** A fetch that fails, or never answers, for whoever asks for it by the path of the address. */
function withFaults(issuer: TestIssuer, isSlow: () => boolean): typeof globalThis.fetch {
  return (input, init) => (isSlow() ? new Promise(() => undefined) : issuer.fetch(input, init));
}

interface Subjects {
  readonly verifier: (fetch: typeof globalThis.fetch) => TokenVerifier;
  readonly request: (issuer: TestIssuer, claims: JWTPayload) => Promise<TokenRequest>;
  readonly more?: (issuer: TestIssuer) => Promise<Record<string, TokenRequest>>;
}

async function create({ verifier, request, more }: Subjects): Promise<TokenVerifierSubject> {
  const issuer = await TestIssuer.create();
  const broken = await TestIssuer.create();
  broken.fails = true;
  let isSlow = false;
  const good = verifier(issuer.fetch);
  const bad = verifier(withFaults(broken, () => isSlow));
  const faulty = { ...(await request(issuer, {})) };
  const slow = { ...(await request(issuer, {})) };
  return {
    // One verifier to the kit: what is to fail is asked of one whose issuer does.
    verifier: {
      verify: (asked, options) => {
        isSlow = asked === slow;
        return (asked === slow || asked === faulty ? bad : good).verify(asked, options);
      },
    },
    valid: await request(issuer, {}),
    another: await request(issuer, { sub: 'eve' }),
    refused: {
      expired: await request(issuer, { exp: 1 }),
      'of another resource': await request(issuer, { aud: 'https://other.example' }),
      'of another issuer': await request(issuer, { iss: 'https://evil.example' }),
      ...(await more?.(issuer)),
    },
    faulty,
    slow,
    close: () => Promise.resolve(),
  };
}

const jwt = (fetch: typeof globalThis.fetch) => jwtVerifier({ issuer: ISSUER, audience: RESOURCE, fetch });
const bearer: Subjects['request'] = async (issuer, claims) => toRequest(await issuer.sign(claims));

describeKit('jwtVerifier', tokenVerifierCases, { create: () => create({ verifier: jwt, request: bearer }), traits });

describeKit('protect', tokenVerifierCases, {
  create: () =>
    create({
      verifier: (fetch) => protect({ resource: RESOURCE, authorizationServers: [ISSUER], verifier: jwt(fetch), scopes: ['mcp'] }).verifier,
      request: bearer,
      more: async (issuer) => ({ 'without scope': toRequest(await issuer.sign({ scope: 'other' })) }),
    }),
  traits,
});

describeKit('introspectionVerifier', tokenVerifierCases, {
  create: () =>
    create({
      verifier: (fetch) => introspectionVerifier({ issuer: ISSUER, audience: RESOURCE, clientId: 'mcp', clientSecret: 's', fetch }),
      request: async (issuer, claims) => {
        const token = randomUUID();
        const exp = Math.floor(Date.now() / 1000) + 600;
        issuer.introspections.set(token, { active: true, aud: RESOURCE, sub: 'ada', client_id: 'cli', exp, ...claims });
        return Promise.resolve(toRequest(token));
      },
    }),
  traits,
});

describeKit('dpopVerifier', tokenVerifierCases, {
  create: async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    const prove = async (issuer: TestIssuer, claims: JWTPayload, proof: JWTPayload = {}): Promise<TokenRequest> => {
      const token = await issuer.sign({ cnf: { jkt: await calculateJwkThumbprint(jwk) }, ...claims });
      const ath = createHash('sha256').update(token).digest('base64url');
      const all = { jti: randomUUID(), htm: 'POST', htu: RESOURCE, iat: Math.floor(Date.now() / 1000), ath, ...proof };
      return toRequest(token, 'DPoP', await new SignJWT(all).setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk }).sign(privateKey));
    };
    return create({
      // The kit sends a request twice: what keeps proofs from that is shown elsewhere.
      verifier: (fetch) => dpopVerifier(jwt(fetch), { replayStore: false }),
      request: prove,
      more: async (issuer) => ({
        'bound to another request': await prove(issuer, {}, { htu: 'https://mcp.example/other' }),
        'without proof': { ...(await prove(issuer, {})), header: () => undefined },
      }),
    });
  },
  traits,
});
