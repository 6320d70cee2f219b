/** Authorization of HTTP requests: verifies tokens, sends challenges, and serves protected resource metadata. @see RFC 6750; RFC 9728 */

import { type Clock, type ClockTimer, isMortiseError, type JsonRpcErrorObject, type JsonRpcResponse } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { AuthChallengeError } from '@mortise/protocol';
import type { AuthInfo, ScopeChallenger, TokenVerifier } from '@mortise/protocol/contracts';
import { checkAuthInfo, parseAuthorization } from '@mortise/protocol/edge';
import { INSUFFICIENT_SCOPE } from '@mortise/protocol/wire';
import type { HttpExchange } from './http-exchange.ts';
import type { Settings } from '../options.ts';
import { type HeaderList, HttpRefusal } from './refusal.ts';

/**
 * Verifies the request's token, and stores the authenticated caller in `http.auth`.
 *
 * @throws {HttpRefusal} The verifier's challenge. Any other error of the verifier becomes status 500 without details, which are logged.
 */
export async function authorize(http: HttpExchange, verifier: TokenVerifier): Promise<void> {
  const header = http.header('authorization');
  const credentials = header === undefined ? { scheme: undefined, token: undefined } : parseAuthorization(header);
  if (credentials === undefined) throw new HttpRefusal(400, 'The "Authorization" header must contain one scheme and one token');
  try {
    http.auth = checkAuthInfo(await verifier.verify({ ...http.origin, ...credentials }, { signal: http.signal }));
  } catch (error) {
    if (isMortiseError(error) && error.code === 'ERR_AUTH_CHALLENGE') throw toChallenge(http, error as AuthChallengeError);
    if (http.signal.aborted) throw error;
    throw new Error(
      `The token verifier failed with ${String(error)}. It must return the AuthInfo. To refuse a token, throw InvalidTokenError within ` +
        'bearerVerifier() of @mortise/auth-oauth/server, or AuthChallengeError elsewhere',
      { cause: error },
    );
  }
}

function toChallenge(http: HttpExchange, { status, message, headers, challenge }: AuthChallengeError): HttpRefusal {
  const own = challenge === '' ? [] : ['WWW-Authenticate', withMetadata(challenge, metadataUrlOf(http))];
  return new HttpRefusal(status, message, { headers: [...Object.entries(headers).flat(), ...own] });
}

function withMetadata(challenge: string, metadataUrl: string | undefined): string {
  if (metadataUrl === undefined || /\bresource_metadata\s*=/i.test(challenge)) return challenge;
  return `${challenge}${challenge.includes(' ') ? ',' : ''} resource_metadata="${metadataUrl}"`;
}

/**
 * Reads the authenticated caller that a program has set in `request.auth`: an `AuthInfo`, or the official SDK's shape (`clientId`,
 * `scopes`, `expiresAt` in seconds). Scopes that are not an array are ignored, because a part of a string could pass for a scope.
 */
export function toAuthInfo(auth: unknown): AuthInfo | undefined {
  if (typeof auth !== 'object' || auth === null) return undefined;
  const { principal, clientId, scopes, expiresAt, token, extra } = auth as Readonly<Record<string, unknown>>;
  if (typeof principal === 'string' && principal !== '')
    return Array.isArray(scopes) ? (auth as AuthInfo) : { ...(auth as AuthInfo), scopes: [] };
  if (typeof clientId !== 'string') return undefined;
  return {
    principal: `client ${clientId}`,
    clientId,
    scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === 'string') : [],
    ...(typeof expiresAt === 'number' ? { expiresAtMs: expiresAt * 1000 } : {}),
    ...(typeof token === 'string' ? { token } : {}),
    ...(typeof extra === 'object' && extra !== null ? { claims: extra as Readonly<Record<string, unknown>> } : {}),
  };
}

// ---- missing scopes

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Makes the `WWW-Authenticate` header for a response that reports missing scopes; undefined for others. @see RFC 6750 section 3.1 */
export function scopeChallenge(response: JsonRpcResponse, http: HttpExchange): HeaderList | undefined {
  const scopes = 'error' in response ? readRequiredScopes(response.error) : undefined;
  if (scopes === undefined || http.auth === undefined) return undefined;
  const scheme = /^dpop /i.test(http.header('authorization') ?? '') ? 'DPoP' : 'Bearer';
  const { tokenVerifier } = http.shared.settings;
  if (isScopeChallenger(tokenVerifier)) return ['WWW-Authenticate', tokenVerifier.challengeScopes(http.auth, scopes, { scheme })];
  return ['WWW-Authenticate', withMetadata(`${scheme} error="insufficient_scope", scope="${scopes.join(' ')}"`, metadataUrlOf(http))];
}

function isScopeChallenger(verifier: object | undefined): verifier is ScopeChallenger {
  return verifier !== undefined && 'challengeScopes' in verifier;
}

function readRequiredScopes({ code, data }: JsonRpcErrorObject): readonly string[] | undefined {
  if (code !== INSUFFICIENT_SCOPE) return undefined;
  const scopes = isJsonObject(data) ? data['requiredScopes'] : undefined;
  if (!Array.isArray(scopes) || scopes.length === 0) return undefined;
  return scopes.every((scope) => typeof scope === 'string' && SCOPE.test(scope)) ? (scopes as readonly string[]) : undefined;
}

// ---- metadata

/** The well-known path of protected resource metadata. The endpoint's path may follow it. */
export const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Whether a path is that of the protected resource metadata: the well-known path, alone or followed by the endpoint's path. */
export function isMetadataPath(path: string, settings: Settings): boolean {
  if (settings.resourceMetadata === undefined || !path.startsWith(WELL_KNOWN)) return false;
  const rest = path.slice(WELL_KNOWN.length);
  return rest === '' || (settings.path === undefined ? rest.startsWith('/') : rest === settings.path);
}

function metadataUrlOf(http: HttpExchange): string | undefined {
  if (http.shared.settings.resourceMetadata === undefined) return undefined;
  const { origin, pathname } = new URL(http.url);
  return `${origin}${WELL_KNOWN}${pathname === '/' ? '' : pathname}`;
}

// ---- expiry

/** A stream lives at least this long, in case a verifier accepts a token that has expired by this machine's clock. */
const SHORTEST_LIFE_MS = 1_000;

/**
 * Calls `end` when the token with which a stream was opened expires. The client must then open the stream again with a new token.
 *
 * @returns The timer, to cancel when the stream ends earlier; undefined if the token has no expiry.
 */
export function watchExpiry(clock: Clock, auth: AuthInfo | undefined, end: () => void): ClockTimer | undefined {
  const expiresAtMs = auth?.expiresAtMs;
  if (expiresAtMs === undefined || !Number.isFinite(expiresAtMs)) return undefined;
  return clock.schedule(end, Math.max(SHORTEST_LIFE_MS, expiresAtMs - clock.now()));
}
