/** The names of the subprotocols, the bearer token as a subprotocol (for browsers), and the close codes. */

import { fromBase64Url, toBase64Url } from '@mortise/jsonrpc-core/encoding';

/** The subprotocol for MCP: each text frame is one message. */
export const MCP_PROTOCOL = 'mcp';

/** The prefix of a subprotocol that carries a bearer token in base64url, if a client cannot send headers. Servers never choose it. */
export const BEARER_PREFIX = 'mcp.bearer.';

export function toBearerProtocol(token: string): string {
  return BEARER_PREFIX + toBase64Url(new TextEncoder().encode(token));
}

/**
 * Reads the bearer token from the offered subprotocols.
 *
 * @returns `undefined` if there is no token; `null` if there are several, or the token is empty or not canonical base64url.
 */
export function readBearerProtocol(offered: readonly string[]): string | undefined | null {
  const found = offered.filter((name) => name.startsWith(BEARER_PREFIX));
  const [first] = found;
  if (first === undefined) return undefined;
  const bytes = found.length === 1 ? fromBase64Url(first.slice(BEARER_PREFIX.length)) : undefined;
  const token = bytes && new TextDecoder().decode(bytes);
  return token !== undefined && token !== '' && toBearerProtocol(token) === first ? token : null;
}

/** The close codes of this package, by name. @see RFC 6455 section 7.4.1 */
export const CloseCode = {
  /** Close code: the connection is no longer needed. */
  normal: 1000,
  /** Close code: the server shuts down. */
  goingAway: 1001,
  /** Close code: the peer sent a binary frame, or an invalid control frame. */
  unsupportedData: 1003,
  /** Reported, but never sent: the network broke, so there was no close frame. */
  abnormal: 1006,
  /** Close code: the peer sent a text frame that is not UTF-8, or broke another rule of WebSocket. */
  invalidPayload: 1007,
  /** Close code: a message is longer than `maxMessageBytes`. */
  tooLarge: 1009,
  /** Close code: the server could not serve the connection, because of an internal error. */
  internalError: 1011,
  /** Close code: the peer reads its messages too slowly. */
  tryAgainLater: 1013,
  /** Close code: the access token has expired. Connect again with a new token. */
  unauthorized: 3000,
  /** Close code: the channel cannot be resumed. It has ended, its `windowMs` has passed, or it belongs to another principal. */
  channelUnknown: 4404,
} as const;

/** Converts a close code to one that browsers can send (1000 and 3000 to 4999): other codes are sent 3000 higher. */
export function toBrowserCode(code: number): number {
  return code === CloseCode.normal || code >= 3000 ? code : code + 3000;
}
