/** What a token says, apart from how it was presented: one reader serves bearer tokens and tokens that are bound to a key. */

import type { Clock } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import type { AuthInfo, Principal } from '@mortise/protocol/contracts';
import { checkAuthInfo } from '@mortise/protocol/edge';
import { base64url } from 'jose';
import { InvalidTokenError } from '../errors.ts';

/**
 * Finds out what a token says.
 *
 * R1  Resolves only for a token that is valid now and was issued for this server.
 * R2  Rejects with `InvalidTokenError` for any other token; with any other error for a fault of its own.
 * R3  A token that is bound to a key has the claim `cnf`, as RFC 7800 writes it.
 */
export interface TokenReader {
  read(token: string, options: { readonly signal: AbortSignal }): Promise<AuthInfo>;
}

/**
 * Joins issuer, subject and client so that no two different identities give one string. Sessions, tasks and request states are bound to it.
 *
 * @see 2026-07-28 security_best_practices#state-handle-hijacking
 */
export function toPrincipal({
  issuer,
  subject,
  clientId,
}: Pick<AuthInfo, 'subject' | 'clientId'> & { readonly issuer: string }): Principal {
  return JSON.stringify([issuer, subject ?? null, clientId ?? null]);
}

/** The claims of a token that has been verified. */
export type Claims = Readonly<Record<string, unknown>>;

/** How claims are read. */
export interface ClaimRules {
  readonly issuer: string;
  /** Our audience, of those in the token. */
  readonly resource: string;
  readonly token: string;
  /** Where the scopes of a token stand. @default the claim `scope`, else `scp` */
  readonly readScopes?: ((claims: Claims) => readonly string[]) | undefined;
}

/**
 * Reads the claims of a token that has been verified.
 *
 * @throws {InvalidTokenError} It names neither subject nor client, or not by a text, so that all its like would be one caller.
 */
export function toAuthInfo(claims: Claims, { issuer, resource, token, readScopes = defaultScopes }: ClaimRules): AuthInfo {
  const subject = readText(claims, 'sub');
  const clientId = readText(claims, 'client_id') ?? readText(claims, 'azp');
  if (subject === undefined && clientId === undefined) throw new InvalidTokenError('The token names neither a subject nor a client');
  const who = { ...(subject === undefined ? {} : { subject }), ...(clientId === undefined ? {} : { clientId }) };
  const expires = claims['exp'];
  const info: AuthInfo = {
    principal: toPrincipal({ issuer, ...who }),
    issuer,
    ...who,
    scopes: readScopes(claims),
    ...(typeof expires === 'number' ? { expiresAtMs: expires * 1000 } : {}),
    resource,
    claims,
  };
  return withToken(info, token);
}

/** Gives an `AuthInfo` its token, for token exchange: it does not show when the object is written out, spread or compared. */
export function withToken(info: AuthInfo, token: string | undefined): AuthInfo {
  return token === undefined ? info : Object.defineProperty({ ...info }, 'token', { value: token, enumerable: false });
}

/** Reads a token until the signal aborts, and checks its expiry again, which a reader of the program's own may have forgotten. */
export async function readValid(
  read: () => Promise<AuthInfo>,
  { clock, clockToleranceSeconds, signal }: { readonly clock: Clock; readonly clockToleranceSeconds: number; readonly signal: AbortSignal },
): Promise<AuthInfo> {
  const info = checkAuthInfo(await abortable(read(), signal));
  const { expiresAtMs = Infinity } = info;
  if (expiresAtMs + clockToleranceSeconds * 1000 <= clock.now()) throw new InvalidTokenError('The token has expired');
  return info;
}

/** Which of our audiences a token names. @throws {InvalidTokenError} None. */
export function findAudience(named: unknown, audience: string | readonly string[]): string {
  const all: readonly unknown[] = Array.isArray(named) ? named : [named];
  const own = (typeof audience === 'string' ? [audience] : audience).find((one) => all.includes(one));
  if (own === undefined) throw new InvalidTokenError('The token was issued for another audience');
  return own;
}

/** The SHA-256 of a text as base64url: finds a secret again without keeping it. */
export async function digest(text: string): Promise<string> {
  return base64url.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}

function defaultScopes(claims: Claims): readonly string[] {
  const value = claims['scope'] ?? claims['scp'];
  if (Array.isArray(value)) return value.filter((scope) => typeof scope === 'string');
  return typeof value === 'string' ? value.split(' ').filter((scope) => scope !== '') : [];
}

/** A claim that is present and not a text is an error: all who differ in it alone would be one caller. */
function readText(claims: Claims, name: string): string | undefined {
  const value = claims[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new InvalidTokenError(`The token's claim "${name}" is not a string`);
}
