/** Refuses callers whose token is not good for what they ask. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import type { AuthInfo, Principal } from '@mortise/protocol/contracts';
import { LOCAL } from '../channel-call.ts';

/** The JSON-RPC code of a refusal for lack of scope: that of HTTP, outside the ranges that JSON-RPC and MCP keep to themselves. */
const FORBIDDEN = 403;

/**
 * A `local` caller has no token: the user of the machine may do what the machine lets them.
 *
 * @throws {ProtocolError} Naming the scopes that are needed, in `data.requiredScopes` too.
 */
export function requireScopes(
  what: string,
  scopes: readonly string[],
  { principal, auth }: { readonly principal: Principal; readonly auth?: AuthInfo | undefined },
): void {
  if (!auth && principal === LOCAL) return;
  const missing = scopes.filter((scope) => !auth?.scopes.includes(scope));
  if (missing.length === 0) return;
  throw new ProtocolError(FORBIDDEN, `${what} needs the scope ${missing.map((scope) => `"${scope}"`).join(', ')}: sign in again with it`, {
    requiredScopes: scopes,
  });
}
