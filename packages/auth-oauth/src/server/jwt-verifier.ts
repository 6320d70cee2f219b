/** Access tokens that are JWTs, by the issuer's published keys. @see RFC 9068; RFC 8725 */

import type { Clock } from '@mortise/jsonrpc-core';
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
  /** The issuer that tokens must name, compared character by character. */
  readonly issuer: string;
  /** What tokens must have been issued for: this server's URL as clients know it. With several, any one of them. */
  readonly audience: string | readonly string[];
  /**
   * The issuer's keys: their URL, the keys themselves, or a function of `jose` that finds one, such as `createRemoteJWKSet(url, {...})`.
   *
   * @default what the issuer's metadata leads to, read again after ten minutes and, every 30 seconds at most, for a key that is new
   */
  readonly keys?: string | JSONWebKeySet | JWTVerifyGetKey | undefined;
  /** How far the issuer's clock may be off, in seconds. @default 30 */
  readonly clockToleranceSeconds?: number | undefined;
  /** Reads the scopes that were granted. @default the claim `scope`, else `scp` */
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

/** The signature algorithms that are accepted. With a symmetric one a published key would be a secret. */
const ASYMMETRIC: string[] = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

/** What an access token may call itself. An ID token has no type of its own: its audience, which is the client, keeps it out. */
const TOKEN_TYPES: readonly (string | undefined)[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt'];

/**
 * Verifies access tokens that are JWTs: signature, issuer, audience, times and type. Also a `TokenReader`, for `dpopVerifier`.
 *
 * Does NOT check scopes: `protect` and the tools' `scopes` do.
 *
 * @throws {TypeError} An option is wrong.
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
      // The metadata may name another URL by now.
      opened = undefined;
      throw toSourceError(`The keys of ${issuer} could not be fetched`, cause);
    }
  };
}

/** The token's fault, and not that of the key source. */
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
    // Nothing is believed before the signature holds; but a token of another issuer need not make us ask this one for keys.
    if (decodeJwt(token).iss !== issuer) throw new InvalidTokenError('The token is of another issuer');
    const { payload, protectedHeader } = await jwtVerify(token, getKey, {
      issuer,
      audience: typeof audience === 'string' ? audience : [...audience],
      algorithms: ASYMMETRIC,
      clockTolerance: clockToleranceSeconds ?? 0,
      currentDate: new Date(clock.now()),
      requiredClaims: ['iss', 'aud', 'exp'],
    });
    if (!TOKEN_TYPES.includes(protectedHeader.typ?.toLowerCase()))
      throw new InvalidTokenError('The token is of another type than access tokens');
    return toAuthInfo(payload, { issuer, resource: findAudience(payload.aud, audience), token, readScopes });
  } catch (cause) {
    if (!(cause instanceof errors.JOSEError || cause instanceof TypeError)) throw cause;
    throw new InvalidTokenError(explain(cause), { cause });
  }
}

/** What is wrong with a token, in words of ours that hold nothing of it. */
function explain(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'The token is signed with an algorithm that is not accepted';
  if (isUnknownKey(error)) return 'The token is signed by a key that the issuer does not publish';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'The token cannot be verified';
  const { claim } = error;
  if (claim === 'aud') return 'The token was issued for another audience';
  if (claim === 'iss') return 'The token is of another issuer';
  if (claim === 'nbf') return 'The token is not valid yet';
  return `The token's claim "${/^[\w-]{1,20}$/.test(claim) ? claim : '?'}" is missing or wrong`;
}
