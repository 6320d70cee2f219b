/** `TokenReader`: validates a token; used by both bearer and DPoP verification. */

import type { Clock } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import type { AuthInfo, Principal } from '@mortise/protocol/contracts';
import { checkAuthInfo } from '@mortise/protocol/edge';
import { base64url } from 'jose';
import { InvalidTokenError } from '../errors.ts';

/**
 * Validates a token and returns its caller.
 *
 * R1  Resolves only for a token that is valid now and was issued for this server.
 * R2  Rejects with `InvalidTokenError` for any other token. Any other error means that the reader itself failed.
 * R3  `claims` of a token that is bound to a key has `cnf`, as RFC 7800 defines it.
 */
export interface TokenReader {
  read(token: string, options: { readonly signal: AbortSignal }): Promise<AuthInfo>;
}

/**
 * Creates the principal of an identity: a string that is unique for issuer, subject and client. Sessions, tasks and request states are
 * bound to it.
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

/** The claims of a verified token. */
export type Claims = Readonly<Record<string, unknown>>;

/** The input of `toAuthInfo`, besides the claims. */
export interface ClaimRules {
  readonly issuer: string;
  /** The audience of the token that stands for this server. */
  readonly resource: string;
  readonly token: string;
  /** Reads the granted scopes from the token's claims. @default the claim `scope`, else `scp` */
  readonly readScopes?: ((claims: Claims) => readonly string[]) | undefined;
}

/**
 * Converts the claims of a verified token to an `AuthInfo`.
 *
 * @throws {InvalidTokenError} The token has neither a subject nor a client, or they are not strings. Such callers would share a principal.
 */
export function toAuthInfo(claims: Claims, { issuer, resource, token, readScopes = defaultScopes }: ClaimRules): AuthInfo {
  const subject = readText(claims, 'sub');
  const clientId = readText(claims, 'client_id') ?? readText(claims, 'azp');
  if (subject === undefined && clientId === undefined) throw new InvalidTokenError('The token has neither a subject nor a client');
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

/** Adds the token to a copy of an `AuthInfo`, as a non-enumerable member: it does not appear in logs, spreads or comparisons. */
export function withToken(info: AuthInfo, token: string | undefined): AuthInfo {
  return token === undefined ? info : Object.defineProperty({ ...info }, 'token', { value: token, enumerable: false });
}

/** Calls a token reader, and checks the token's expiry in case the reader does not. Rejects when `signal` aborts. */
export async function readValid(
  read: () => Promise<AuthInfo>,
  { clock, clockToleranceSeconds, signal }: { readonly clock: Clock; readonly clockToleranceSeconds: number; readonly signal: AbortSignal },
): Promise<AuthInfo> {
  const info = checkAuthInfo(await abortable(read(), signal));
  const { expiresAtMs = Infinity } = info;
  if (expiresAtMs + clockToleranceSeconds * 1000 <= clock.now()) throw new InvalidTokenError('The token has expired');
  return info;
}

/** Finds which of this server's audiences a token was issued for. @throws {InvalidTokenError} It was issued for none of them. */
export function findAudience(named: unknown, audience: string | readonly string[]): string {
  const all: readonly unknown[] = Array.isArray(named) ? named : [named];
  const own = (typeof audience === 'string' ? [audience] : audience).find((one) => all.includes(one));
  if (own === undefined) throw new InvalidTokenError('The token was issued for another audience');
  return own;
}

/** Gives the SHA-256 of a string as base64url: finds a secret in a map without storing the secret. */
export async function digest(text: string): Promise<string> {
  return base64url.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}

function defaultScopes(claims: Claims): readonly string[] {
  const value = claims['scope'] ?? claims['scp'];
  if (Array.isArray(value)) return value.filter((scope) => typeof scope === 'string');
  return typeof value === 'string' ? value.split(' ').filter((scope) => scope !== '') : [];
}

/** Reads a string claim. @throws {InvalidTokenError} It has another type: callers that differ only in it would share a principal. */
function readText(claims: Claims, name: string): string | undefined {
  const value = claims[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new InvalidTokenError(`The token's claim "${name}" is not a string`);
}
