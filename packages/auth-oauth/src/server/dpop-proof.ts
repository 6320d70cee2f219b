/** One proof of possession against the request that it came with. @see RFC 9449 section 4.3 */

import { calculateJwkThumbprint, EmbeddedJWK, errors, type JWTPayload, jwtVerify, type JWTVerifyResult } from 'jose';
import { InvalidTokenError } from '../errors.ts';
import { digest } from './token-reader.ts';

/** Signature algorithms of proofs. */
export const PROOF_ALGORITHMS: readonly string[] = ['ES256', 'ES384', 'PS256', 'RS256', 'EdDSA', 'Ed25519'];

/** What a proof must be made for. */
export interface ProofContext {
  readonly method: string;
  readonly urls: readonly string[];
  readonly token: string;
  readonly nowMs: number;
}

/** A proof that is good, but for its nonce and whether it was used before. */
export interface Proof {
  readonly thumbprint: string;
  readonly nonce: string | undefined;
  /** Remembers the proof: its key and its id. */
  readonly id: string;
  /** From when on its time alone keeps it out. */
  readonly expiresAtMs: number;
}

const MAX_PROOF_LENGTH = 8_192;
const MAX_ID_LENGTH = 512;
/** How far a proof's time may be off, either way. */
const WINDOW_SECONDS = 300;

/** @throws {InvalidTokenError} `invalid_dpop_proof`: the message says what is wrong. */
export async function checkProof(proof: string | undefined, context: ProofContext): Promise<Proof> {
  if (proof === undefined) throw badProof('The header "DPoP" is missing: send a proof with each request');
  if (proof.length > MAX_PROOF_LENGTH) throw badProof(`The proof has more than ${MAX_PROOF_LENGTH} characters`);
  const { payload, protectedHeader } = await readProof(proof, context.nowMs);
  const { jwk } = protectedHeader;
  if (jwk === undefined || 'd' in jwk || 'k' in jwk) throw badProof('The proof must hold a public key, and no private one');
  const { jti, iat, nonce } = await checkClaims(payload, context);
  const thumbprint = await calculateJwkThumbprint(jwk);
  return { thumbprint, nonce, id: `dpop ${thumbprint} ${await digest(jti)}`, expiresAtMs: (iat + WINDOW_SECONDS + 1) * 1000 };
}

/** An invalid proof. */
export function badProof(message: string, cause?: unknown): InvalidTokenError {
  return new InvalidTokenError(message, { error: 'invalid_dpop_proof', cause });
}

async function readProof(proof: string, nowMs: number): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: [...PROOF_ALGORITHMS],
      currentDate: new Date(nowMs),
      requiredClaims: ['jti', 'htm', 'htu', 'iat', 'ath'],
    });
  } catch (error) {
    const isTheirs = error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException;
    throw isTheirs ? badProof('The proof cannot be verified', error) : error;
  }
}

async function checkClaims(
  payload: JWTPayload,
  { method, urls, token, nowMs }: ProofContext,
): Promise<{ readonly jti: string; readonly iat: number; readonly nonce: string | undefined }> {
  const { jti, iat, htm, htu, ath, nonce } = payload as Readonly<Record<string, unknown>>;
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_ID_LENGTH)
    throw badProof(`The proof needs a "jti" of 1 to ${MAX_ID_LENGTH} characters`);
  if (htm !== method) throw badProof('The proof is for another method');
  if (!urls.some((url) => isSameTarget(htu, url))) throw badProof('The proof is for another URL');
  const isTimely = typeof iat === 'number' && Math.abs(nowMs / 1000 - iat) <= WINDOW_SECONDS;
  if (!isTimely) throw badProof('The proof is too old, or from the future');
  if (ath !== (await digest(token))) throw badProof('The proof is for another token');
  return { jti, iat, nonce: typeof nonce === 'string' ? nonce : undefined };
}

/** Query and fragment are not part of it; everything else is, as URLs are normalised. */
function isSameTarget(claimed: unknown, url: string): boolean {
  if (typeof claimed !== 'string' || !URL.canParse(claimed)) return false;
  const [one, other] = [new URL(claimed), new URL(url)];
  return one.search === '' && one.hash === '' && one.origin === other.origin && one.pathname === other.pathname && one.username === '';
}
