/** Tokens that are bound to a key of the client. @see RFC 9449; ext-auth dpop-extension */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptionRules, type OptionRules, systemClock } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, ReplayStore, TokenRequest, TokenVerifier } from '@mortise/protocol/contracts';
import { AuthOptionError } from '../errors.ts';
import { readValid, toRefusal } from './bearer-verifier.ts';
import { refuse, toChallenge } from './challenge.ts';
import { checkProof, type Proof } from './dpop-proof.ts';
import { InvalidTokenError, ProofError } from './errors.ts';
import { MemoryReplayStore } from './memory-replay-store.ts';
import { NonceSource } from './nonce-source.ts';
import type { TokenReader } from './token-reader.ts';

/** The options of `dpopVerifier`. */
export interface DpopVerifierOptions {
  /** Signature algorithms of proofs. @default ES256, ES384, PS256, RS256, EdDSA, Ed25519 */
  readonly algorithms?: readonly string[] | undefined;
  /** Also takes bearer tokens, of clients that cannot do better. Bound tokens never pass as such. Needs a verifier for them. @default none */
  readonly bearer?: TokenVerifier | undefined;
  /** How far a proof's time may be off, in seconds, either way. @default 300 */
  readonly proofWindowSeconds?: number | undefined;
  /** Remembers proofs, so that none is used twice; share it between machines. `false` relies on the window alone. @default in memory */
  readonly replayStore?: ReplayStore | false | undefined;
  /**
   * Demands a nonce of ours in proofs, which ends the use of proofs made ahead. With `secret`, at least 32 characters that all machines share;
   * without, one that this process makes up.
   *
   * @default false
   */
  readonly nonce?: boolean | { readonly secret?: string; readonly lifetimeMs?: number } | undefined;
  /** The URLs that proofs may be made for, where a proxy changes what this server sees. @default the URL of the request */
  readonly urls?: readonly string[] | undefined;
  /** Tells how old proofs and nonces are, and whether tokens have ended. @default systemClock */
  readonly clock?: Clock | undefined;
}

const ALGORITHMS: readonly string[] = ['ES256', 'ES384', 'PS256', 'RS256', 'EdDSA', 'Ed25519'];

const RULES: OptionRules<DpopVerifierOptions> = {
  algorithms: 'no number',
  bearer: 'no number',
  proofWindowSeconds: 0,
  replayStore: 'no number',
  nonce: 'no number',
  urls: 'no number',
  clock: 'no number',
};

const NONCE_RULES: OptionRules<Exclude<DpopVerifierOptions['nonce'], boolean | undefined>> = { secret: 'no number', lifetimeMs: 0 };

/**
 * Verifies tokens together with the proof that the caller holds the key that they are bound to.
 *
 * @param reader Reads the token itself: `jwtVerifier`, `introspectionVerifier` or one's own. It checks issuer and audience.
 * @throws {AuthOptionError} `ERR_AUTH_OPTION`: an option that cannot hold.
 */
export function dpopVerifier(reader: TokenReader, options: DpopVerifierOptions = {}): TokenVerifier {
  const verifier = new DpopVerifier(reader, options);
  return { verify: (request, { signal }) => verifier.verify(request, signal) };
}

class DpopVerifier {
  readonly #reader: TokenReader;
  readonly #options: DpopVerifierOptions;
  readonly #algorithms: readonly string[];
  readonly #clock: Clock;
  readonly #replays: ReplayStore | undefined;
  readonly #nonces: NonceSource | undefined;

  constructor(reader: TokenReader, options: DpopVerifierOptions) {
    checkOptionRules('dpopVerifier', options, RULES, AuthOptionError);
    this.#reader = reader;
    this.#options = options;
    this.#algorithms = options.algorithms ?? ALGORITHMS;
    const odd = this.#algorithms.find((algorithm) => !/^(?:(?:RS|PS|ES)(?:256|384|512)|EdDSA|Ed25519)$/.test(algorithm));
    if (odd !== undefined) throw new AuthOptionError(`The option "algorithms" holds "${odd}": proofs are signed asymmetrically`);
    this.#clock = options.clock ?? systemClock;
    this.#replays = options.replayStore === false ? undefined : (options.replayStore ?? new MemoryReplayStore({ clock: this.#clock }));
    const { nonce = false } = options;
    if (nonce === false) return;
    const own = nonce === true ? {} : nonce;
    checkOptionRules('dpopVerifier: nonce', own, NONCE_RULES, AuthOptionError);
    this.#nonces = new NonceSource({ ...own, clock: this.#clock });
  }

  async verify(request: TokenRequest, signal: AbortSignal): Promise<AuthInfo> {
    const { bearer } = this.#options;
    if (request.scheme === 'Bearer' && bearer !== undefined) return bearer.verify(request, { signal });
    if (request.scheme !== 'DPoP') throw refuse(401, 'A token with proof of its key is needed', this.#challenge());
    if (request.token === undefined) {
      const description = 'The Authorization header holds no token';
      throw refuse(400, description, this.#challenge({ error: 'invalid_request', error_description: description }));
    }
    const { token } = request;
    const proof = await this.#orRefuse(() => this.#checkProof(request, token));
    const info = await this.#readToken(token, proof.thumbprint, signal);
    // Last: proofs of strangers, who can make any number with keys of their own, must not fill what remembers them.
    await this.#orRefuse(() => this.#claim(proof));
    return info;
  }

  async #checkProof(request: TokenRequest, token: string): Promise<Proof> {
    const proof = await checkProof(request.header('dpop'), {
      method: request.method,
      urls: this.#options.urls ?? [request.url],
      token,
      algorithms: this.#algorithms,
      windowSeconds: this.#options.proofWindowSeconds ?? 300,
      nowMs: this.#clock.now(),
    });
    await this.#checkNonce(proof.nonce);
    return proof;
  }

  async #orRefuse<T>(check: () => Promise<T>): Promise<T> {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof ProofError)) throw error;
      const challenge = this.#challenge({ error: error.oauthError, error_description: error.message });
      const headers = error.oauthError === 'use_dpop_nonce' ? await this.#nonceHeaders() : {};
      throw refuse(401, error.message, challenge, { headers, cause: error });
    }
  }

  async #readToken(token: string, thumbprint: string, signal: AbortSignal): Promise<AuthInfo> {
    try {
      const info = await readValid(() => this.#reader.read(token, { signal }), { clock: this.#clock, clockToleranceSeconds: 300, signal });
      const cnf = info.claims?.['cnf'] as { readonly jkt?: unknown } | undefined;
      if (cnf?.jkt !== thumbprint) throw new InvalidTokenError('The token is not bound to the key of the proof');
      return info;
    } catch (error) {
      throw toRefusal(error, 'DPoP', { algs: this.#algorithms.join(' ') });
    }
  }

  async #checkNonce(nonce: string | undefined): Promise<void> {
    if (this.#nonces === undefined || (nonce !== undefined && (await this.#nonces.isGood(nonce)))) return;
    throw new ProofError('The proof needs the nonce that goes with this answer', 'use_dpop_nonce');
  }

  async #claim({ id, expiresAtMs }: Proof): Promise<void> {
    if (this.#replays === undefined || (await this.#replays.claim(id, expiresAtMs))) return;
    throw new ProofError('The proof has been used before: make a new one for each request');
  }

  async #nonceHeaders(): Promise<Readonly<Record<string, string>>> {
    return this.#nonces === undefined ? {} : { 'DPoP-Nonce': await this.#nonces.create(), 'Cache-Control': 'no-store' };
  }

  #challenge(params: Readonly<Record<string, string>> = {}): string {
    return toChallenge('DPoP', { ...params, algs: this.#algorithms.join(' ') });
  }
}
