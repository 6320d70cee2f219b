/** Who sent a request, as the bearer token says. v1 has it at `/server/auth/types`. */

export interface AuthInfo {
  token: string;
  clientId: string;
  scopes: string[];
  /** When the token expires, in seconds since the epoch. */
  expiresAt?: number;
  /** The server that the token is for. */
  resource?: URL;
  extra?: Record<string, unknown>;
}
