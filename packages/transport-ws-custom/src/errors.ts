/** What can go wrong with a WebSocket beyond what every transport knows. */

import { MortiseError } from '@mortise/jsonrpc-core';
import type { ChannelEndError } from '@mortise/jsonrpc-core/transport';
import { CloseCode } from './wire.ts';

/** The connection has ended and not by `close`. Given to `onerror` before `onclose`; the cause of what was pending. */
export class SocketClosedError extends MortiseError implements ChannelEndError {
  override readonly name: string = 'SocketClosedError';
  override readonly code: 'ERR_SOCKET_CLOSED' = 'ERR_SOCKET_CLOSED';
  readonly endsChannel = true;
  /** One of `CloseCode`, or the peer's own: 1006 for a network that broke or a peer that is gone, 1003 and 1007 for a peer that breaks rules. */
  readonly closeCode: number;

  constructor(closeCode: number, message: string = messageOf(closeCode, ''), options?: ErrorOptions) {
    super(message, options);
    this.closeCode = closeCode;
  }

  /** For a close frame of the peer's, or a socket that broke without one. */
  static ofPeer(closeCode: number, reason: string): SocketClosedError {
    return new SocketClosedError(closeCode, messageOf(closeCode, reason));
  }
}

function messageOf(closeCode: number, reason: string): string {
  if (closeCode === CloseCode.abnormal) return 'The WebSocket broke without a close frame';
  return `The peer closed the WebSocket with code ${closeCode}${reason === '' ? '' : `: ${reason}`}`;
}

/** The connection could not be opened: no address, no listener, no subprotocol `mcp`, or the server refused with an HTTP status. */
export class ConnectFailedError extends MortiseError {
  override readonly name: string = 'ConnectFailedError';
  override readonly code: 'ERR_CONNECT_FAILED' = 'ERR_CONNECT_FAILED';
  /** The HTTP status that the server refused with; undefined where it did not answer, and in browsers, which do not say. */
  readonly status: number | undefined;
  /** How long the server asks to wait before another attempt, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: ErrorOptions & { readonly status?: number; readonly retryAfterMs?: number | undefined } = {}) {
    super(message, options);
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Every error of this package: `switch (error.code)` narrows it. A wrong option is a `TypeError`. */
export type AnyWebSocketError = SocketClosedError | ConnectFailedError;
