/** The subprotocols of `Sec-WebSocket-Protocol`, and the token that a browser can say nowhere else. */

import { fromBase64Url, toBase64Url } from '@mortise/jsonrpc-core/encoding';

/** MCP, one message a text frame. */
export const MCP_PROTOCOL = 'mcp';

/** The same with channels that outlive a socket; `resume-frames.ts` says how. Offered beside `mcp`, and chosen where both sides can. */
export const RESUME_PROTOCOL = 'mortise.resume.v1';

/** Offered beside `mcp` by clients that cannot send `Authorization`; the rest is the token in base64url. Never chosen. */
export const BEARER_PREFIX = 'mcp.bearer.';

export function toBearerProtocol(token: string): string {
  return BEARER_PREFIX + toBase64Url(new TextEncoder().encode(token));
}

/**
 * Reads the token among the offered subprotocols.
 *
 * @returns undefined if there is none; `null` if there are two or it is not canonical base64url.
 */
export function readBearerProtocol(offered: readonly string[]): string | undefined | null {
  const found = offered.filter((name) => name.startsWith(BEARER_PREFIX));
  const [first] = found;
  if (first === undefined) return undefined;
  if (found.length > 1) return null;
  const bytes = fromBase64Url(first.slice(BEARER_PREFIX.length));
  if (bytes === undefined) return null;
  try {
    const token = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return token !== '' && toBearerProtocol(token) === first ? token : null;
  } catch {
    return null;
  }
}
