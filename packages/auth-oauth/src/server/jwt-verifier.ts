/** Access tokens that are JWTs, by the issuer's published keys. @see RFC 9068; RFC 8725 */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptionRules, type OptionRules, systemClock } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, TokenVerifier } from '@mortise/protocol/contracts';
import { createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { AuthOptionError } from '../errors.ts';
import { toAuthInfo } from './auth-info.ts';
import { bearerVerifier } from './bearer-verifier.ts';
import { checkIssuer } from './check-issuer.ts';
import { InvalidTokenError, TokenSourceError } from './errors.ts';
import { fetchIssuerMetadata } from './issuer-metadata.ts';
import { KeySet } from './key-set.ts';
import type { TokenReader } from './token-reader.ts';

/** The options of `jwtVerifier`. */
export interface JwtVerifierOptions {
  /** The issuer that tokens must name, compared character by character. */
  readonly issuer: string;
  /** What tokens must have been issued for: this server's URL as clients know it. With several, any one of them. */
  readonly audience: string | readonly string[];
  /** Where the issuer's keys are. @default what the issuer's metadata says */
  readonly jwksUri?: string | undefined;
  /** The keys themselves, where they do not change. @default those that the issuer's metadata leads to */
  readonly keys?: JSONWebKeySet | undefined;
  /** Signature algorithms that are accepted. Only asymmetric ones are possible. @default RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519 */
  readonly algorithms?: readonly string[] | undefined;
  /** How far the issuer's clock may be off, in seconds. @default 30 */
  readonly clockToleranceSeconds?: number | undefined;
  /** How long keys are kept, and so how long one that the issuer withdrew is still accepted, in milliseconds. @default 10 minutes */
  readonly keysMaxAgeMs?: number | undefined;
  /** How long a key that was not found is not asked for again, in milliseconds. @default 30_000 */
  readonly keysCooldownMs?: number | undefined;
  /** How long the issuer may take to answer, in milliseconds. @default 5_000 */
  readonly timeoutMs?: number | undefined;
  /** Reads the scopes that were granted. @default the claim `scope`, else `scp` */
  readonly readScopes?: ((claims: Readonly<Record<string, unknown>>) => readonly string[]) | undefined;
  /** What the issuer is asked by. @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Tells whether tokens have ended, and how old keys are. @default systemClock */
  readonly clock?: Clock | undefined;
}

const ASYMMETRIC: readonly string[] = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

const RULES: OptionRules<JwtVerifierOptions> = {
  issuer: 'no number',
  audience: 'no number',
  jwksUri: 'no number',
  keys: 'no number',
  algorithms: 'no number',
  clockToleranceSeconds: 0,
  keysMaxAgeMs: 0,
  keysCooldownMs: 0,
  timeoutMs: 0,
  readScopes: 'no number',
  fetch: 'no number',
  clock: 'no number',
};

/** What an access token may call itself. An ID token has no type of its own: its audience, which is the client, keeps it out. */
const TOKEN_TYPES: readonly (string | undefined)[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt'];

/**
 * Verifies access tokens that are JWTs: signature, issuer, audience, times and type. Also a `TokenReader`, for `dpopVerifier`.
 *
 * Does NOT check scopes: `protect` and the tools' `scopes` do.
 *
 * @throws {AuthOptionError} `ERR_AUTH_OPTION`: an option that cannot hold, such as a symmetric algorithm.
 * @see 2026-07-28 basic/authorization#token-handling
 */
export function jwtVerifier(options: JwtVerifierOptions): TokenVerifier & TokenReader {
  checkOptions(options);
  const { clockToleranceSeconds = 30, clock = systemClock } = options;
  const getKey = createKeySource(options);
  const reader: TokenReader = { read: (token) => readJwt(token, getKey, options) };
  return { ...reader, ...bearerVerifier(reader, { clockToleranceSeconds, clock }) };
}

function checkOptions(options: JwtVerifierOptions): void {
  checkOptionRules('jwtVerifier', options, RULES, AuthOptionError);
  checkIssuer(options);
  const odd = options.algorithms?.find((algorithm) => !ASYMMETRIC.includes(algorithm));
  if (odd !== undefined) throw new AuthOptionError(`The option "algorithms" holds "${odd}": only ${ASYMMETRIC.join(', ')} can be accepted`);
}

function createKeySource(options: JwtVerifierOptions): JWTVerifyGetKey {
  const { issuer, jwksUri, keys, keysMaxAgeMs = 600_000, keysCooldownMs = 30_000, timeoutMs = 5_000, clock = systemClock } = options;
  if (keys !== undefined) return createLocalJWKSet(keys);
  const fetch: typeof globalThis.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const findUrl = async (): Promise<string> => {
    if (jwksUri !== undefined) return jwksUri;
    const metadata = await fetchIssuerMetadata(issuer, { fetch, timeoutMs });
    if (metadata.jwks_uri === undefined)
      throw new TokenSourceError(`The issuer ${issuer} publishes no keys: its tokens cannot be verified as JWTs`);
    return metadata.jwks_uri;
  };
  return new KeySet(findUrl, { maxAgeMs: keysMaxAgeMs, cooldownMs: keysCooldownMs, timeoutMs, fetch, clock }).getKey;
}

async function readJwt(token: string, getKey: JWTVerifyGetKey, options: JwtVerifierOptions): Promise<AuthInfo> {
  const { issuer, audience, algorithms = ASYMMETRIC, clockToleranceSeconds = 30, clock = systemClock, readScopes } = options;
  const audiences = typeof audience === 'string' ? [audience] : [...audience];
  try {
    // Nothing is believed before the signature holds; but what names another issuer need not make this one be asked for keys.
    if (decodeJwt(token).iss !== issuer) throw new InvalidTokenError('The token is of another issuer');
    const { payload, protectedHeader } = await jwtVerify(token, getKey, {
      issuer,
      audience: audiences,
      algorithms: [...algorithms],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(clock.now()),
      requiredClaims: ['iss', 'aud', 'exp'],
    });
    if (!TOKEN_TYPES.includes(protectedHeader.typ?.toLowerCase()))
      throw new InvalidTokenError('The token is of another type than access tokens');
    return toAuthInfo(payload, { issuer, resource: findAudience(payload, audiences), token, readScopes });
  } catch (error) {
    throw toReadError(error);
  }
}

function findAudience({ aud }: JWTPayload, audiences: readonly string[]): string {
  const named = typeof aud === 'string' ? [aud] : (aud ?? []);
  return audiences.find((audience) => named.includes(audience)) ?? '';
}

/** What the library finds wrong with a token is the caller's to hear, in words of ours that hold nothing of the token. */
function toReadError(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return new InvalidTokenError('The token has expired', { cause: error });
  if (error instanceof errors.JWTClaimValidationFailed) return new InvalidTokenError(toClaimMessage(error.claim), { cause: error });
  if (error instanceof errors.JOSEAlgNotAllowed)
    return new InvalidTokenError('The token is signed with an algorithm that is not accepted', { cause: error });
  const isKey = error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;
  if (isKey) return new InvalidTokenError('The token is signed by a key that the issuer does not publish', { cause: error });
  return error instanceof errors.JOSEError || error instanceof TypeError
    ? new InvalidTokenError('The token cannot be verified', { cause: error })
    : error;
}

function toClaimMessage(claim: string): string {
  if (claim === 'aud') return 'The token was issued for another audience';
  if (claim === 'iss') return 'The token is of another issuer';
  if (claim === 'nbf') return 'The token is not valid yet';
  return `The token's claim "${/^[\w-]{1,20}$/.test(claim) ? claim : '?'}" does not hold`;
}
