/** Judges what came back from a sign-in before anything of it is used. */

import { AuthorizationResponseError, ResponseIssuerError, SignInDeniedError, StateMismatchError } from '../errors.ts';
import { toSafeText } from './to-safe-text.ts';

/** What is known of the sign-in that is answered. */
export interface ExpectedResponse {
  readonly state: string;
  /** As recorded before the person was sent off. */
  readonly issuer: string;
  /** Whether the authorization server promises to say who it is. */
  readonly issIsPromised: boolean;
}

/** Parameters that decide something: one of them twice is no answer. */
const SINGLE = ['state', 'iss', 'code', 'error', 'error_description'];

/**
 * Checks an authorization response: its state, then its issuer, letter by letter, and only then what it says.
 *
 * @throws {StateMismatchError} {ResponseIssuerError} {AuthorizationResponseError}
 * @throws {SignInDeniedError} It is an error, from whom it should be.
 * @see 2026-07-28 basic/authorization#authorization-response-validation; RFC 9207 section 2.4
 */
export function checkAuthorizationResponse(params: URLSearchParams, { state, issuer, issIsPromised }: ExpectedResponse): void {
  const twice = SINGLE.find((name) => params.getAll(name).length > 1);
  if (twice !== undefined) throw new AuthorizationResponseError(`The authorization response has "${twice}" twice: it was not used`);
  if (params.get('state') !== state) throw new StateMismatchError('The authorization response answers no sign-in that was begun here');
  const iss = params.get('iss');
  if (iss === null && issIsPromised) {
    throw new ResponseIssuerError(
      'The authorization response does not say who sent it ("iss"), though its server promises to: it was not used',
    );
  }
  if (iss !== null && iss !== issuer) {
    throw new ResponseIssuerError('The authorization response comes from another issuer than the one that was asked: it was not used');
  }
  const error = params.get('error');
  if (error !== null) {
    const description = toSafeText(params.get('error_description'));
    throw new SignInDeniedError('The sign-in was refused', { error: toSafeText(error) ?? 'unknown', description });
  }
  if (params.get('code') === null) throw new AuthorizationResponseError('The authorization response has neither a code nor an error');
}
