/** What can go wrong while a server judges tokens, one class a reason to act differently. */

import { MortiseError } from '@mortise/jsonrpc-core';
import type { AuthOptionError } from '../errors.ts';

/** A token is not good here: its signature, time, issuer or audience does not hold, or it was revoked. Becomes a 401. */
export class InvalidTokenError extends MortiseError {
  override readonly name: string = 'InvalidTokenError';
  override readonly code: 'ERR_TOKEN_INVALID' = 'ERR_TOKEN_INVALID';
}

/** What tokens are judged by could not be reached: keys, metadata or introspection. The caller's fault in nothing: becomes a 500. */
export class TokenSourceError extends MortiseError {
  override readonly name: string = 'TokenSourceError';
  override readonly code: 'ERR_TOKEN_SOURCE' = 'ERR_TOKEN_SOURCE';
}

/** An authorization server gave no token for an upstream service. */
export class TokenExchangeError extends MortiseError {
  override readonly name: string = 'TokenExchangeError';
  override readonly code: 'ERR_TOKEN_EXCHANGE' = 'ERR_TOKEN_EXCHANGE';
  /** The OAuth `error` that it answered with; undefined where there was no answer of that kind. */
  readonly oauthError: string | undefined;

  constructor(message: string, oauthError?: string, options?: ErrorOptions) {
    super(message, options);
    this.oauthError = oauthError;
  }
}

/**
 * A proof of possession does not hold. The message is told to the caller: this is the `cause` of the `AuthChallengeError` that refuses it.
 *
 * @see RFC 9449 section 4.3
 */
export class ProofError extends MortiseError {
  override readonly name: string = 'ProofError';
  override readonly code: 'ERR_DPOP_PROOF' = 'ERR_DPOP_PROOF';
  /** The OAuth `error` of the challenge. */
  readonly oauthError: 'invalid_dpop_proof' | 'use_dpop_nonce';

  constructor(message: string, oauthError: 'invalid_dpop_proof' | 'use_dpop_nonce' = 'invalid_dpop_proof', options?: ErrorOptions) {
    super(message, options);
    this.oauthError = oauthError;
  }
}

/** Every error that the server half throws, or gives as a cause: `switch (error.code)` narrows it. */
export type AnyAuthServerError = AuthOptionError | InvalidTokenError | ProofError | TokenSourceError | TokenExchangeError;
