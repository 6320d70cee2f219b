/** The seam between a `SocketTransport` and the platform's WebSocket: `ws` on Node, the global `WebSocket` elsewhere. */

import type { JsonRpcMessage } from '@mortise/jsonrpc-core';

/** What a socket tells its transport. */
export interface SocketListener {
  /** The text of one whole message. */
  onText(text: string): void;
  /** A message that is not text. */
  onBinary(): void;
  /** Something went wrong and ends the socket; `onEnd` follows. */
  onError(error: Error): void;
  /** Fewer bytes are queued than before. */
  onRoom(): void;
  /** The socket has ended. Called once, after everything else. */
  onEnd(code: number, reason: string): void;
}

/** One open WebSocket that delivers nothing until it is listened to. */
export interface MessageSocket {
  /** How many bytes were sent and have not been taken by the network. */
  readonly queuedBytes: number;
  /** Begins delivery. */
  listen(listener: SocketListener): void;
  /** @param message What the text says, for sockets that keep it; undefined for a frame that is no message. */
  send(text: string, message: JsonRpcMessage | undefined): void;
  /** Stops reading from the network, where the platform can. */
  pause(): void;
  resume(): void;
  /** Sends what is queued and then a close frame, and waits for the peer's. */
  close(code: number, reason: string): void;
  /** Ends the socket at once. */
  terminate(): void;
  /**
   * Looks whether the peer is alive and asks for a sign of life; absent where the platform has no pings.
   *
   * @returns false if nothing was heard since the last call.
   */
  beat?(): boolean;
}

/** Opens a socket. Aborting `signal` gives up; nothing is left then. */
export type OpenSocket = (signal: AbortSignal) => Promise<MessageSocket>;
