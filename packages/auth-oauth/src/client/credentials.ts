/** What a client proves itself with, and the tokens that it was given. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CryptoKey } from 'oauth4webapi';

/** How a client authenticates at the token endpoint. */
export type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';

/** A private key to sign assertions with. */
export interface ClientKey {
  readonly key: CryptoKey;
  /** Sent in the header of assertions, where the authorization server knows several keys. */
  readonly keyId?: string | undefined;
}

/** A client that an authorization server knows. Used at that server and nowhere else. */
export interface RegisteredClient {
  /** The authorization server that registered it, exactly as its metadata spells it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** How the client shows at token endpoints who it is. @default what the authorization server says that it takes, `client_secret_basic` first */
  readonly authMethod?: ClientAuthMethod | undefined;
  /** For `private_key_jwt`. */
  readonly privateKey?: ClientKey | undefined;
}

/** Tokens of one client for one server, as they are kept. */
export interface TokenSet {
  readonly accessToken: string;
  /** `Bearer` or `DPoP`, as it is sent. */
  readonly scheme: 'Bearer' | 'DPoP';
  readonly refreshToken: string | undefined;
  /** Undefined where the authorization server did not say. */
  readonly expiresAtMs: number | undefined;
  /** When to get the next one: shortly before its end, or halfway through a short life. */
  readonly renewAtMs: number | undefined;
  /** What was granted, as far as is known. */
  readonly scopes: readonly string[];
  /** What was asked for: a step-up asks for these again. */
  readonly requestedScopes: readonly string[];
  readonly clientId: string;
  /** Exactly as it was sent. */
  readonly resource: string;
}

/** @returns undefined for what is no token set: of an older version, or spoilt. */
export function toTokenSet(value: JsonObject | undefined): TokenSet | undefined {
  if (!value) return undefined;
  const { accessToken, scheme, refreshToken, expiresAtMs, renewAtMs, scopes, requestedScopes, clientId, resource } = value;
  if (typeof accessToken !== 'string' || (scheme !== 'Bearer' && scheme !== 'DPoP')) return undefined;
  if (typeof clientId !== 'string' || typeof resource !== 'string' || !isStrings(scopes) || !isStrings(requestedScopes)) return undefined;
  return {
    accessToken,
    scheme,
    refreshToken: typeof refreshToken === 'string' ? refreshToken : undefined,
    expiresAtMs: typeof expiresAtMs === 'number' ? expiresAtMs : undefined,
    renewAtMs: typeof renewAtMs === 'number' ? renewAtMs : undefined,
    scopes,
    requestedScopes,
    clientId,
    resource,
  };
}

/** As JSON, without what is undefined. */
export function toJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

export function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
