/**
 * On whose behalf a request is made: issuer, subject and client of a verified token joined into one opaque string,
 * `local` on stdio, `anonymous` where nobody was verified. Compared for equality and nothing else.
 */
export type Principal = string;

/** What a `TokenVerifier` found out about the caller. Every field comes from a verified source. */
export interface AuthInfo {
  readonly principal: Principal;
  readonly issuer?: string;
  readonly subject?: string;
  readonly clientId?: string;
  readonly scopes: readonly string[];
  /** When the token ends, in milliseconds since the epoch. */
  readonly expiresAtMs?: number;
  /** The audience that the token was issued for. */
  readonly resource?: string;
  /** The verified claims, for handlers that need more. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** The token itself, for token exchange. Never logged, stored or passed on as it is. */
  readonly token?: string;
}
