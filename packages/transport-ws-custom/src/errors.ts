/** The errors of this package, beside those that every transport can throw. */

import { MortiseError } from '@mortise/jsonrpc-core';
import type { ChannelEndError } from '@mortise/jsonrpc-core/transport';
import { CloseCode } from './wire.ts';

/**
 * The WebSocket connection ended without a call of `close`. `onerror` gets this error before `onclose` is called, and it is the `cause`
 * of the errors that pending requests are rejected with.
 */
export class SocketClosedError extends MortiseError implements ChannelEndError {
  override readonly name: string = 'SocketClosedError';
  override readonly code: 'ERR_SOCKET_CLOSED' = 'ERR_SOCKET_CLOSED';
  readonly endsChannel = true;
  /** A `CloseCode`, or a code that the peer chose. 1006: the network broke or the peer is gone. 1003, 1007: the peer broke the protocol. */
  readonly closeCode: number;

  constructor(closeCode: number, message: string = messageOf(closeCode, ''), options?: ErrorOptions) {
    super(message, options);
    this.closeCode = closeCode;
  }

  /** Makes the error for a close frame from the peer, or (code 1006) for a connection that broke without a close frame. */
  static ofPeer(closeCode: number, reason: string): SocketClosedError {
    return new SocketClosedError(closeCode, messageOf(closeCode, reason));
  }
}

function messageOf(closeCode: number, reason: string): string {
  if (closeCode === CloseCode.abnormal) return 'The WebSocket broke without a close frame';
  return `The peer closed the WebSocket with code ${closeCode}${reason === '' ? '' : `: ${reason}`}`;
}

/**
 * The connection could not be opened: the host was not found, nothing listens there, the server did not agree to the subprotocol `mcp`,
 * or it refused with an HTTP status.
 */
export class ConnectFailedError extends MortiseError {
  override readonly name: string = 'ConnectFailedError';
  override readonly code: 'ERR_CONNECT_FAILED' = 'ERR_CONNECT_FAILED';
  /** The HTTP status that the server refused with. `undefined` if there was no HTTP response, and always in browsers, which hide it. */
  readonly status: number | undefined;
  /** The `Retry-After` header of the server's refusal, in milliseconds; `undefined` if there was none. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: ErrorOptions & { readonly status?: number; readonly retryAfterMs?: number | undefined } = {}) {
    super(message, options);
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Every error class of this package; `switch (error.code)` narrows it. Invalid options throw a `TypeError` instead. */
export type AnyWebSocketError = SocketClosedError | ConnectFailedError;
