/** What travels beside messages: subprotocols, the token that a browser cannot send elsewhere, and close codes. */

import { fromBase64Url, toBase64Url } from '@mortise/jsonrpc-core/encoding';

/** MCP, one message a text frame. */
export const MCP_PROTOCOL = 'mcp';

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
  const bytes = found.length === 1 ? fromBase64Url(first.slice(BEARER_PREFIX.length)) : undefined;
  const token = bytes && new TextDecoder().decode(bytes);
  return token !== undefined && token !== '' && toBearerProtocol(token) === first ? token : null;
}

/** Why a WebSocket ends, by name. @see RFC 6455 section 7.4.1 */
export const CloseCode = {
  /** The connection is not needed any more. */
  normal: 1000,
  /** The server shuts down. */
  goingAway: 1001,
  /** A binary frame: MCP travels in text frames. */
  unsupportedData: 1003,
  /** Nobody closed: the network broke. Never sent. */
  abnormal: 1006,
  /** A text frame that is not UTF-8. */
  invalidPayload: 1007,
  /** A message is longer than the bound. */
  tooLarge: 1009,
  /** The server could not serve the connection. */
  internalError: 1011,
  /** The peer does not read what it is sent. */
  tryAgainLater: 1013,
  /** The token has expired: connect anew with another one. */
  unauthorized: 3000,
  /** The channel to resume has ended, waited too long, or belongs to another principal. */
  channelUnknown: 4404,
} as const;

/** Browsers may send 1000 and 3000 to 4999 only, so they send the other codes 3000 higher. */
export function toBrowserCode(code: number): number {
  return code === CloseCode.normal || code >= 3000 ? code : code + 3000;
}
