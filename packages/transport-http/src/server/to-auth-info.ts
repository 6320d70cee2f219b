/** Who calls, as a framework in front has found out. */

import type { AuthInfo } from '@mortise/protocol/contracts';

/**
 * Reads what the program around a request says, or what a middleware left in `request.auth`: an `AuthInfo`, or the shape that MCP's
 * TypeScript users know (`clientId`, `scopes`, `expiresAt` in seconds). Scopes that are no list are none: a part of a text would pass for
 * a scope.
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
