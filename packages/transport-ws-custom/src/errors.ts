/** What can go wrong with a WebSocket beyond what every transport knows. */

import { MortiseError } from '@mortise/jsonrpc-core';
import type { ChannelEndError } from '@mortise/jsonrpc-core/transport';
import { CloseCode } from './close-codes.ts';

/** The peer or the network ended the connection. Told to `onerror` before `onclose`; the cause of what was pending. */
export class SocketClosedError extends MortiseError implements ChannelEndError {
  override get name(): string {
    return 'SocketClosedError';
  }
  override readonly code: 'ERR_SOCKET_CLOSED' = 'ERR_SOCKET_CLOSED';
  readonly endsChannel = true;
  /** The code of the close frame; 1006 where there was none. */
  readonly closeCode: number;
  /** What the peer gave as its reason, perhaps empty. */
  readonly reason: string;

  constructor(closeCode: number, reason: string) {
    const why = reason === '' ? '' : `: ${reason}`;
    super(
      closeCode === CloseCode.abnormal
        ? 'The WebSocket broke without a close frame'
        : `The peer closed the WebSocket with code ${closeCode}${why}`,
    );
    this.closeCode = closeCode;
    this.reason = reason;
  }
}

/** The peer is there no more, or does not read what it is sent. Told to `onerror` before `onclose`. */
export class PeerUnresponsiveError extends MortiseError implements ChannelEndError {
  override get name(): string {
    return 'PeerUnresponsiveError';
  }
  override readonly code: 'ERR_PEER_UNRESPONSIVE' = 'ERR_PEER_UNRESPONSIVE';
  readonly endsChannel = true;
}

/** A frame was not text, or not UTF-8. Told to `onerror`; the connection ends. */
export class FrameError extends MortiseError implements ChannelEndError {
  override get name(): string {
    return 'FrameError';
  }
  override readonly code: 'ERR_WEBSOCKET_FRAME' = 'ERR_WEBSOCKET_FRAME';
  readonly endsChannel = true;
}

/** The server answered the upgrade with an HTTP status. */
export class UpgradeRefusedError extends MortiseError {
  override get name(): string {
    return 'UpgradeRefusedError';
  }
  override readonly code: 'ERR_UPGRADE_REFUSED' = 'ERR_UPGRADE_REFUSED';
  readonly status: number;
  /** How long to wait before another attempt, where the server said it. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, detail: { readonly status: number; readonly retryAfterMs?: number | undefined }, options?: ErrorOptions) {
    super(message, options);
    this.status = detail.status;
    this.retryAfterMs = detail.retryAfterMs;
  }
}

/** The connection could not be opened: no address, no listener, no WebSocket, or no subprotocol `mcp`. */
export class ConnectFailedError extends MortiseError {
  override get name(): string {
    return 'ConnectFailedError';
  }
  override readonly code: 'ERR_CONNECT_FAILED' = 'ERR_CONNECT_FAILED';
}

/** An option cannot hold. */
export class WebSocketOptionError extends MortiseError {
  override get name(): string {
    return 'WebSocketOptionError';
  }
  override readonly code: 'ERR_WEBSOCKET_OPTION' = 'ERR_WEBSOCKET_OPTION';
}

/** Every error that this package throws or reports itself. */
export type AnyWebSocketError =
  SocketClosedError | PeerUnresponsiveError | FrameError | UpgradeRefusedError | ConnectFailedError | WebSocketOptionError;
