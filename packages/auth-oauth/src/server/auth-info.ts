/** From verified claims to what handlers are told about the caller. */

import type { AuthInfo, Principal } from '@mortise/protocol/contracts';
import { InvalidTokenError } from './errors.ts';

/** Whom a token speaks for. */
export interface Identity {
  readonly issuer: string;
  readonly subject?: string | undefined;
  readonly clientId?: string | undefined;
}

/**
 * Joins issuer, subject and client so that no two different identities give one string. Sessions, tasks and request states are bound to it.
 *
 * @see 2026-07-28 security_best_practices#state-handle-hijacking
 */
export function toPrincipal({ issuer, subject, clientId }: Identity): Principal {
  return JSON.stringify([issuer, subject ?? null, clientId ?? null]);
}

/** How claims are read. */
export interface ClaimRules {
  readonly issuer: string;
  /** The audience that was found in the token. */
  readonly resource: string;
  readonly token: string;
  /** Where the scopes of a token stand. @default the claim `scope`, else `scp` */
  readonly readScopes?: ((claims: Readonly<Record<string, unknown>>) => readonly string[]) | undefined;
}

/**
 * Reads the claims of a token that has been verified.
 *
 * The token itself is there for token exchange, but does not show where the object is written out, spread or compared.
 *
 * @throws {InvalidTokenError} `ERR_TOKEN_INVALID`: it names neither subject nor client, or not by a text, so that all its like would be one caller.
 */
export function toAuthInfo(claims: Readonly<Record<string, unknown>>, { issuer, resource, token, readScopes }: ClaimRules): AuthInfo {
  const subject = text(claims, 'sub');
  const clientId = text(claims, 'client_id') ?? text(claims, 'azp');
  if (subject === undefined && clientId === undefined) throw new InvalidTokenError('The token names neither a subject nor a client');
  const expires = claims['exp'];
  const info: AuthInfo = {
    principal: toPrincipal({ issuer, subject, clientId }),
    issuer,
    ...(subject === undefined ? {} : { subject }),
    ...(clientId === undefined ? {} : { clientId }),
    scopes: (readScopes ?? defaultScopes)(claims),
    ...(typeof expires === 'number' ? { expiresAtMs: expires * 1000 } : {}),
    resource,
    claims,
  };
  return withToken(info, token);
}

/** Gives an `AuthInfo` its token, hidden from whoever walks over its fields. */
export function withToken(info: AuthInfo, token: string | undefined): AuthInfo {
  return token === undefined ? info : Object.defineProperty({ ...info }, 'token', { value: token, enumerable: false });
}

function defaultScopes(claims: Readonly<Record<string, unknown>>): readonly string[] {
  const value = claims['scope'] ?? claims['scp'];
  if (Array.isArray(value)) return value.filter((scope) => typeof scope === 'string');
  return typeof value === 'string' ? value.split(' ').filter((scope) => scope !== '') : [];
}

/** A claim that is there and is no text is not passed over: all who differ in it alone would be one caller. */
function text(claims: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = claims[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new InvalidTokenError(`The token's claim "${name}" is no text`);
}
