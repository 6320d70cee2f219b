/** Verification of JWT access tokens with the issuer's published keys. @see RFC 9068; RFC 8725 */

import type { Clock } from '@mortise/jsonrpc-core';
import { fromBase64Url } from '@mortise/jsonrpc-core/encoding';
import { checkOptions, type OptionTable, systemClock } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, TokenVerifier } from '@mortise/protocol/contracts';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  type JSONWebKeySet,
  jwtVerify,
  type JWTVerifyGetKey,
} from 'jose';
import { AuthError, InvalidTokenError } from '../errors.ts';
import { createIssuerFetch } from '../safe-fetch.ts';
import { bearerOf } from './bearer-verifier.ts';
import { checkAudience, Issuer, type IssuerOptions, toSourceError } from './issuer.ts';
import { type Claims, findAudience, toAuthInfo, type TokenReader } from './token-reader.ts';

/** The options of `jwtVerifier`. */
export interface JwtVerifierOptions extends IssuerOptions {
  /** The issuer (`iss`) that tokens must have, compared character by character. */
  readonly issuer: string;
  /** The audience that tokens must have: this server's URL as clients know it. Of several, a token must have one. */
  readonly audience: string | readonly string[];
  /**
   * The issuer's keys: a URL, a JWK set, or a key function of `jose` such as `createRemoteJWKSet(url, {...})`.
   *
   * @default the `jwks_uri` of the issuer's metadata, fetched again after ten minutes, and for unknown keys at most every 30 seconds
   */
  readonly keys?: string | JSONWebKeySet | JWTVerifyGetKey | undefined;
  /** How far the issuer's clock may differ from this server's clock, in seconds. @default 30 */
  readonly clockToleranceSeconds?: number | undefined;
  /** Reads the granted scopes from the token's claims. @default the claim `scope`, else `scp` */
  readonly readScopes?: ((claims: Claims) => readonly string[]) | undefined;
}

const OPTIONS: OptionTable<JwtVerifierOptions> = {
  issuer: 'string',
  audience: ['string', 'array'],
  keys: ['string', 'object', 'function'],
  clockToleranceSeconds: 0,
  readScopes: 'function',
  fetch: 'function',
  clock: 'object',
};

/** The accepted signature algorithms. Symmetric ones would allow anyone with the public key to sign tokens. */
const ASYMMETRIC: string[] = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

/** The accepted `typ` of access tokens. ID tokens may have the same `typ`; they fail the audience check. */
const TOKEN_TYPES: readonly (string | undefined)[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt'];

/**
 * Creates a verifier of JWT access tokens: checks signature, issuer, audience, times and type. The verifier is also a `TokenReader`, for
 * `dpopVerifier`.
 *
 * Does NOT check scopes: `protect` and the tools' `scopes` do.
 *
 * @throws {TypeError} An option is invalid.
 * @see 2026-07-28 basic/authorization#token-handling
 */
export function jwtVerifier(options: JwtVerifierOptions): TokenVerifier & TokenReader {
  checkOptions('jwtVerifier', options, OPTIONS);
  checkAudience(options.audience);
  const { clockToleranceSeconds = 30, clock = systemClock } = options;
  const getKey = createKeySource(options);
  const reader: TokenReader = { read: (token) => readJwt(token, getKey, { ...options, clockToleranceSeconds, clock }) };
  return { ...reader, ...bearerOf(reader.read, { clockToleranceSeconds, clock }) };
}

function createKeySource({ issuer, keys, fetch }: JwtVerifierOptions): JWTVerifyGetKey {
  const source = new Issuer(issuer, fetch);
  if (typeof keys === 'function') return keys;
  if (typeof keys === 'object') return createLocalJWKSet(keys);
  const open = async (): Promise<JWTVerifyGetKey> => {
    const url = keys ?? (await source.metadata()).jwks_uri;
    if (url === undefined)
      throw new AuthError('ERR_TOKEN_SOURCE', `The metadata of ${issuer} has no jwks_uri: give "keys", or use introspectionVerifier`);
    return createRemoteJWKSet(new URL(url), { [customFetch]: createIssuerFetch(url, fetch) });
  };
  let opened: Promise<JWTVerifyGetKey> | undefined;
  return async (header, token) => {
    try {
      return await (
        await (opened ??= open())
      )(header, token);
    } catch (cause) {
      if (isUnknownKey(cause)) throw cause;
      // Read the metadata again next time, because it may name another URL by then.
      opened = undefined;
      throw toSourceError(`The signing keys of ${issuer} could not be fetched`, cause);
    }
  };
}

/** Tells whether an error means that the token is invalid, and not that fetching the issuer's keys failed. */
function isUnknownKey(error: unknown): boolean {
  const { JWKSNoMatchingKey, JWKSMultipleMatchingKeys, JOSENotSupported } = errors;
  return error instanceof JWKSNoMatchingKey || error instanceof JWKSMultipleMatchingKeys || error instanceof JOSENotSupported;
}

async function readJwt(
  token: string,
  getKey: JWTVerifyGetKey,
  { issuer, audience, clockToleranceSeconds, clock, readScopes }: JwtVerifierOptions & { readonly clock: Clock },
): Promise<AuthInfo> {
  try {
    // Otherwise a token would have several texts, of which a list of revoked tokens knows one.
    if (token.split('.').some((part) => fromBase64Url(part) === undefined)) throw new InvalidTokenError('The token cannot be verified');
    // `iss` is trusted only after the signature check below. This check avoids fetching keys for tokens of other issuers.
    if (decodeJwt(token).iss !== issuer) throw new InvalidTokenError('The issuer of the token is not accepted');
    const { payload, protectedHeader } = await jwtVerify(token, getKey, {
      issuer,
      audience: typeof audience === 'string' ? audience : [...audience],
      algorithms: ASYMMETRIC,
      clockTolerance: clockToleranceSeconds ?? 0,
      currentDate: new Date(clock.now()),
      requiredClaims: ['iss', 'aud', 'exp'],
    });
    if (!TOKEN_TYPES.includes(protectedHeader.typ?.toLowerCase())) throw new InvalidTokenError('The token is not an access token');
    return toAuthInfo(payload, { issuer, resource: findAudience(payload.aud, audience), token, readScopes });
  } catch (cause) {
    if (!(cause instanceof errors.JOSEError || cause instanceof TypeError)) throw cause;
    throw new InvalidTokenError(explain(cause), { cause });
  }
}

/** Gives the message for a token that failed verification, without any content of the token. */
function explain(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'The token is signed with an algorithm that is not accepted';
  if (isUnknownKey(error)) return 'The token is signed with a key that the issuer does not publish';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'The token cannot be verified';
  const { claim } = error;
  if (claim === 'aud') return 'The token was issued for another audience';
  if (claim === 'iss') return 'The issuer of the token is not accepted';
  if (claim === 'nbf') return 'The token is not valid yet';
  return `The token's claim "${/^[\w-]{1,20}$/.test(claim) ? claim : '?'}" is missing or wrong`;
}
