/** One proof of possession against the request that it came with. @see RFC 9449 section 4.3 */

import { calculateJwkThumbprint, EmbeddedJWK, errors, type JWTPayload, jwtVerify, type JWTVerifyResult } from 'jose';
import { digest, isSameText } from './digest.ts';
import { ProofError } from './errors.ts';

/** What a proof is held against. */
export interface ProofContext {
  readonly method: string;
  readonly urls: readonly string[];
  readonly token: string;
  readonly algorithms: readonly string[];
  readonly windowSeconds: number;
  readonly nowMs: number;
}

/** A proof that holds, but for its nonce and whether it was used before. */
export interface Proof {
  readonly thumbprint: string;
  readonly nonce: string | undefined;
  /** What it is remembered by: its key and its id. */
  readonly id: string;
  /** From when on its time alone keeps it out. */
  readonly expiresAtMs: number;
}

const MAX_PROOF_LENGTH = 8_192;
const MAX_ID_LENGTH = 512;

/** @throws {ProofError} Saying what does not hold. */
export async function checkProof(proof: string | undefined, context: ProofContext): Promise<Proof> {
  if (proof === undefined) throw new ProofError('The header "DPoP" is missing: send a proof with each request');
  if (proof.length > MAX_PROOF_LENGTH) throw new ProofError('The proof is too long');
  const { payload, protectedHeader } = await readProof(proof, context);
  const { jwk } = protectedHeader;
  if (jwk === undefined || 'd' in jwk || 'k' in jwk) throw new ProofError('The proof must hold a public key, and no private one');
  const { jti, iat, nonce } = await checkClaims(payload, context);
  const thumbprint = await calculateJwkThumbprint(jwk);
  return { thumbprint, nonce, id: `dpop ${thumbprint} ${await digest(jti)}`, expiresAtMs: (iat + context.windowSeconds + 1) * 1000 };
}

async function readProof(proof: string, { algorithms, nowMs }: ProofContext): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: [...algorithms],
      currentDate: new Date(nowMs),
      requiredClaims: ['jti', 'htm', 'htu', 'iat', 'ath'],
    });
  } catch (error) {
    const isTheirs = error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException;
    throw isTheirs ? new ProofError('The proof cannot be verified', 'invalid_dpop_proof', { cause: error }) : error;
  }
}

interface ProofClaims {
  readonly jti: string;
  readonly iat: number;
  readonly nonce: string | undefined;
}

async function checkClaims(payload: JWTPayload, context: ProofContext): Promise<ProofClaims> {
  const { jti, iat, htm, htu, ath, nonce } = payload as Readonly<Record<string, unknown>>;
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_ID_LENGTH)
    throw new ProofError('The proof has no "jti" that can be remembered');
  if (htm !== context.method) throw new ProofError('The proof is for another method');
  if (!context.urls.some((url) => isSameTarget(htu, url))) throw new ProofError('The proof is for another URL');
  const isTimely = typeof iat === 'number' && Math.abs(context.nowMs / 1000 - iat) <= context.windowSeconds;
  if (!isTimely) throw new ProofError('The proof is too old, or from the future');
  if (typeof ath !== 'string' || !isSameText(ath, await digest(context.token))) throw new ProofError('The proof is for another token');
  return { jti, iat, nonce: typeof nonce === 'string' ? nonce : undefined };
}

/** Query and fragment are not part of it; everything else is, as URLs are normalised. */
function isSameTarget(claimed: unknown, url: string): boolean {
  if (typeof claimed !== 'string' || !URL.canParse(claimed)) return false;
  const [one, other] = [new URL(claimed), new URL(url)];
  return one.search === '' && one.hash === '' && one.origin === other.origin && one.pathname === other.pathname && one.username === '';
}
