/** Verification of DPoP tokens, which are bound to a key of the client. @see RFC 9449; ext-auth dpop-extension */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable, systemClock } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, ReplayStore, TokenRequest, TokenVerifier } from '@mortise/protocol/contracts';
import { MemoryReplayStore } from '@mortise/protocol/edge';
import { calculateJwkThumbprint, EmbeddedJWK, errors, type JWTPayload, jwtVerify, type JWTVerifyResult, SignJWT } from 'jose';
import { InvalidTokenError } from '../errors.ts';
import { refuse, toRefusal } from './bearer-verifier.ts';
import { digest, readValid, type TokenReader } from './token-reader.ts';

/** The options of `dpopVerifier`. */
export interface DpopVerifierOptions {
  /** The verifier for bearer tokens, to also accept clients without DPoP. It must refuse tokens that are bound to a key. @default none */
  readonly bearer?: TokenVerifier | undefined;
  /** Stores used proofs, so that none is accepted twice. Share it between machines. `false`: only times are checked. @default in memory */
  readonly replayStore?: ReplayStore | false | undefined;
  /**
   * Requires a nonce of this server in proofs, so that proofs cannot be made in advance. Give a secret of 32 or more characters that all
   * machines share; `true` uses a random secret of this process.
   *
   * @default false
   */
  readonly nonce?: boolean | string | undefined;
  /** The URLs that DPoP proofs may name, if a proxy changes the URL that this server sees. @default the URL of the request */
  readonly urls?: readonly string[] | undefined;
  /** Measures the age of proofs and nonces, and decides when tokens expire. @default systemClock */
  readonly clock?: Clock | undefined;
}

const OPTIONS: OptionTable<DpopVerifierOptions> = {
  bearer: 'object',
  replayStore: ['object', 'boolean'],
  nonce: ['boolean', 'string'],
  urls: 'array',
  clock: 'object',
};

/** The accepted signature algorithms of DPoP proofs. */
const PROOF_ALGORITHMS: readonly string[] = ['ES256', 'ES384', 'PS256', 'RS256', 'EdDSA', 'Ed25519'];
const CHALLENGE = { algs: PROOF_ALGORITHMS.join(' ') };
const TOLERANCE_SECONDS = 300;

/**
 * Creates a verifier of DPoP tokens. It also verifies the proof that the caller has the key of the token.
 *
 * @param reader Reads the token: `jwtVerifier`, `introspectionVerifier` or your own. It must check issuer and audience.
 * @throws {TypeError} An option is invalid.
 */
export function dpopVerifier(reader: TokenReader, options: DpopVerifierOptions = {}): TokenVerifier {
  checkOptions('dpopVerifier', options, OPTIONS);
  const { bearer, replayStore, nonce = false, urls, clock = systemClock } = options;
  const replays = replayStore === false ? undefined : (replayStore ?? new MemoryReplayStore({ clock }));
  const nonces = nonce === false ? undefined : new NonceSource(nonce, clock);

  async function readProof(request: TokenRequest, token: string): Promise<Proof> {
    const { method, url } = request;
    const proof = await checkProof(request.header('dpop'), { method, urls: urls ?? [url], token, nowMs: clock.now() });
    if (nonces === undefined || (await nonces.isGood(proof.nonce))) return proof;
    throw new InvalidTokenError('The DPoP proof needs the nonce from the DPoP-Nonce header of this response', { error: 'use_dpop_nonce' });
  }

  async function readToken(request: TokenRequest, token: string, signal: AbortSignal): Promise<AuthInfo> {
    const { id, thumbprint, expiresAtMs } = await readProof(request, token);
    const rules = { clock, clockToleranceSeconds: TOLERANCE_SECONDS, signal };
    const info = await readValid(() => reader.read(token, { signal }), rules);
    const cnf = info.claims?.['cnf'] as { readonly jkt?: unknown } | undefined;
    if (cnf?.jkt !== thumbprint) throw new InvalidTokenError('The token is not bound to the key of the DPoP proof');
    // Last, so that callers without a valid token cannot fill the store with proofs.
    if (replays === undefined || (await replays.claim(id, expiresAtMs - clock.now()))) return info;
    throw badProof('The DPoP proof was used before: create a new one for each request');
  }

  return {
    verify: async (request, { signal }) => {
      const { scheme, token } = request;
      if (scheme === 'Bearer' && bearer !== undefined) return await bearer.verify(request, { signal });
      if (scheme !== 'DPoP') throw refuse(401, 'A token with a DPoP proof is required', 'DPoP', CHALLENGE);
      if (token === undefined)
        throw refuse(400, 'The Authorization header has no valid token', 'DPoP', { error: 'invalid_request', ...CHALLENGE });
      try {
        return await readToken(request, token, signal);
      } catch (error) {
        if (!(error instanceof InvalidTokenError)) throw error;
        const isNonce = error.error === 'use_dpop_nonce' && nonces !== undefined;
        const headers = isNonce ? { 'DPoP-Nonce': await nonces.create(), 'Cache-Control': 'no-store' } : {};
        throw toRefusal(error, 'DPoP', CHALLENGE, headers);
      }
    },
  };
}

/** The request and the access token that a DPoP proof must be made for. */
interface ProofContext {
  readonly method: string;
  readonly urls: readonly string[];
  readonly token: string;
  readonly nowMs: number;
}

/** A DPoP proof with valid signature and claims. Whether its nonce is valid and the proof is new is not checked yet. */
interface Proof {
  readonly thumbprint: string;
  readonly nonce: string | undefined;
  /** Identifies the proof in the replay store, by its key and `jti`. */
  readonly id: string;
  /** When the proof can leave the replay store, because it is then too old to be accepted. */
  readonly expiresAtMs: number;
}

const MAX_PROOF_LENGTH = 8_192;
const MAX_ID_LENGTH = 512;
/** How far a DPoP proof's time may differ from this server's clock, in both directions. */
const WINDOW_SECONDS = 300;

/** Checks a DPoP proof, except for its nonce and whether it was used before. @throws {InvalidTokenError} `invalid_dpop_proof` */
async function checkProof(proof: string | undefined, context: ProofContext): Promise<Proof> {
  if (proof === undefined) throw badProof('The DPoP header is missing: send a proof with each request');
  if (proof.length > MAX_PROOF_LENGTH) throw badProof(`The DPoP proof has more than ${MAX_PROOF_LENGTH} characters`);
  const { payload, protectedHeader } = await readProof(proof, context.nowMs);
  const { jwk } = protectedHeader;
  if (jwk === undefined || 'd' in jwk || 'k' in jwk) throw badProof('The DPoP proof must contain a public key and no private key');
  const { jti, iat, nonce } = await checkClaims(payload, context);
  const thumbprint = await calculateJwkThumbprint(jwk);
  return { thumbprint, nonce, id: `dpop ${thumbprint} ${await digest(jti)}`, expiresAtMs: (iat + WINDOW_SECONDS + 1) * 1000 };
}

/** Creates the error for an invalid DPoP proof. */
function badProof(message: string, cause?: unknown): InvalidTokenError {
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
    throw isTheirs ? badProof('The DPoP proof cannot be verified', error) : error;
  }
}

async function checkClaims(
  payload: JWTPayload,
  { method, urls, token, nowMs }: ProofContext,
): Promise<{ readonly jti: string; readonly iat: number; readonly nonce: string | undefined }> {
  const { jti, iat, htm, htu, ath, nonce } = payload as Readonly<Record<string, unknown>>;
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_ID_LENGTH)
    throw badProof(`The DPoP proof needs a "jti" of 1 to ${MAX_ID_LENGTH} characters`);
  if (htm !== method) throw badProof('The DPoP proof is for another HTTP method');
  if (!urls.some((url) => isSameTarget(htu, url))) throw badProof('The DPoP proof is for another URL');
  const isTimely = typeof iat === 'number' && Math.abs(nowMs / 1000 - iat) <= WINDOW_SECONDS;
  if (!isTimely) throw badProof('The DPoP proof is too old, or its time is in the future');
  if (ath !== (await digest(token))) throw badProof('The DPoP proof is for another token');
  return { jti, iat, nonce: typeof nonce === 'string' ? nonce : undefined };
}

/** Tells whether a proof's `htu` is the request's URL, both normalized. `htu` has no query and fragment: the request's are ignored. */
function isSameTarget(claimed: unknown, url: string): boolean {
  if (typeof claimed !== 'string' || !URL.canParse(claimed)) return false;
  const [one, other] = [new URL(claimed), new URL(url)];
  return one.search === '' && one.hash === '' && one.origin === other.origin && one.pathname === other.pathname && one.username === '';
}

const MIN_SECRET_LENGTH = 32;
const NONCE_SECONDS = 5 * 60;
/** How far the clock of another machine that creates nonces may be ahead of this one's. */
const AHEAD_SECONDS = 60;

/** Creates and checks DPoP nonces without a store: they are signed times, valid on all machines with the secret. @see RFC 9449 section 8 */
class NonceSource {
  readonly #key: Uint8Array;
  readonly #clock: Clock;

  constructor(secret: string | true, clock: Clock) {
    if (secret !== true && secret.length < MIN_SECRET_LENGTH)
      throw new TypeError(`dpopVerifier: the secret in "nonce" must have at least ${MIN_SECRET_LENGTH} random characters`);
    this.#key = secret === true ? crypto.getRandomValues(new Uint8Array(32)) : new TextEncoder().encode(secret);
    this.#clock = clock;
  }

  async create(): Promise<string> {
    const madeAt = new Date(this.#clock.now());
    return await new SignJWT().setProtectedHeader({ alg: 'HS256', typ: 'dpop-nonce+jwt' }).setIssuedAt(madeAt).sign(this.#key);
  }

  async isGood(nonce: string | undefined): Promise<boolean> {
    const currentDate = new Date(this.#clock.now());
    const rules = {
      typ: 'dpop-nonce+jwt',
      algorithms: ['HS256'],
      currentDate,
      maxTokenAge: NONCE_SECONDS - AHEAD_SECONDS,
      clockTolerance: AHEAD_SECONDS,
    };
    return await jwtVerify(nonce ?? '', this.#key, rules).then(
      () => true,
      () => false,
    );
  }
}
