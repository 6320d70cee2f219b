/** Why a WebSocket ends: the codes of RFC 6455 section 7.4 and IANA's registry that this transport uses. */

/** The codes by name. @see RFC 6455 section 7.4.1 */
export const CloseCode = {
  /** The connection has done what it was for. */
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
  /** The channel that was to go on is not there: it has ended, waited too long, or is somebody else's. */
  channelUnknown: 4404,
} as const;

/** Browsers may send 1000 and 3000 to 4999 only; what else there is to say is said 3000 higher. */
export function toBrowserCode(code: number): number {
  return code === CloseCode.normal || code >= 3000 ? code : code + 3000;
}
