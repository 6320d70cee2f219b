/** Tokens that are bound to a key of the client. @see RFC 9449; ext-auth dpop-extension */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable, systemClock } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, ReplayStore, TokenRequest, TokenVerifier } from '@mortise/protocol/contracts';
import { jwtVerify, SignJWT } from 'jose';
import { AuthOptionError, InvalidTokenError } from '../errors.ts';
import { refuse, toRefusal } from './bearer-verifier.ts';
import { badProof, checkProof, type Proof, PROOF_ALGORITHMS } from './dpop-proof.ts';
import { MemoryReplayStore } from './memory-replay-store.ts';
import { readValid, type TokenReader } from './token-reader.ts';

/** The options of `dpopVerifier`. */
export interface DpopVerifierOptions {
  /** Also takes bearer tokens, of clients that cannot do better. Bound tokens never pass as such. Needs a verifier for them. @default none */
  readonly bearer?: TokenVerifier | undefined;
  /** Remembers proofs, so that none is used twice; share it between machines. `false` relies on their time alone. @default in memory */
  readonly replayStore?: ReplayStore | false | undefined;
  /**
   * Demands a nonce of ours in proofs, which ends the use of proofs made ahead: with a secret of 32 characters or more that all machines
   * share, or `true` for one that this process makes up.
   *
   * @default false
   */
  readonly nonce?: boolean | string | undefined;
  /** The URLs that proofs may be made for, if a proxy changes what this server sees. @default the URL of the request */
  readonly urls?: readonly string[] | undefined;
  /** Says how old proofs and nonces are, and whether tokens have ended. @default systemClock */
  readonly clock?: Clock | undefined;
}

const OPTIONS: OptionTable<DpopVerifierOptions> = {
  bearer: 'object',
  replayStore: ['object', 'boolean'],
  nonce: ['boolean', 'string'],
  urls: 'array',
  clock: 'object',
};

const CHALLENGE = { algs: PROOF_ALGORITHMS.join(' ') };
const TOLERANCE_SECONDS = 300;

/**
 * Verifies tokens together with the proof that the caller holds the key that they are bound to.
 *
 * @param reader Reads the token itself: `jwtVerifier`, `introspectionVerifier` or your own. It checks issuer and audience.
 * @throws {AuthOptionError} `ERR_AUTH_OPTION`: an option is wrong.
 */
export function dpopVerifier(reader: TokenReader, options: DpopVerifierOptions = {}): TokenVerifier {
  checkOptions('dpopVerifier', options, OPTIONS, AuthOptionError);
  const { bearer, replayStore, nonce = false, urls, clock = systemClock } = options;
  const replays = replayStore === false ? undefined : (replayStore ?? new MemoryReplayStore({ clock }));
  const nonces = nonce === false ? undefined : new NonceSource(nonce, clock);

  async function readProof({ header, method, url }: TokenRequest, token: string): Promise<Proof> {
    const proof = await checkProof(header('dpop'), { method, urls: urls ?? [url], token, nowMs: clock.now() });
    if (nonces === undefined || (await nonces.isGood(proof.nonce))) return proof;
    throw new InvalidTokenError('The proof needs the nonce that goes with this answer', { error: 'use_dpop_nonce' });
  }

  async function readToken(request: TokenRequest, token: string, signal: AbortSignal): Promise<AuthInfo> {
    const { id, thumbprint, expiresAtMs } = await readProof(request, token);
    const rules = { clock, clockToleranceSeconds: TOLERANCE_SECONDS, signal };
    const info = await readValid(() => reader.read(token, { signal }), rules);
    const cnf = info.claims?.['cnf'] as { readonly jkt?: unknown } | undefined;
    if (cnf?.jkt !== thumbprint) throw new InvalidTokenError('The token is not bound to the key of the proof');
    // Last: strangers can make any number of proofs with keys of their own, and must not fill the store.
    if (replays === undefined || (await replays.claim(id, expiresAtMs))) return info;
    throw badProof('The proof has been used before: make a new one for each request');
  }

  return {
    verify: async (request, { signal }) => {
      const { scheme, token } = request;
      if (scheme === 'Bearer' && bearer !== undefined) return await bearer.verify(request, { signal });
      if (scheme !== 'DPoP') throw refuse(401, 'A token with proof of its key is needed', 'DPoP', CHALLENGE);
      if (token === undefined)
        throw refuse(400, 'The Authorization header holds no token', 'DPoP', { error: 'invalid_request', ...CHALLENGE });
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

const MIN_SECRET_LENGTH = 32;
const NONCE_SECONDS = 5 * 60;
/** Another machine's clock may be a little ahead. */
const AHEAD_SECONDS = 60;

/** Nonces that need no memory: signed times. Any machine with the secret knows them. @see RFC 9449 section 8 */
class NonceSource {
  readonly #key: Uint8Array;
  readonly #clock: Clock;

  constructor(secret: string | true, clock: Clock) {
    if (secret !== true && secret.length < MIN_SECRET_LENGTH)
      throw new AuthOptionError(`dpopVerifier: the secret in "nonce" must have at least ${MIN_SECRET_LENGTH} random characters`);
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
