/** The interface between the transport and a WebSocket: that of `ws` on Node, of the platform elsewhere, or a channel over several. */

import type { Clock } from '@mortise/jsonrpc-core';

/** What a socket calls. */
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

/** One open WebSocket that delivers nothing before `listen`. */
export interface MessageSocket {
  /** How many bytes were sent and have not been taken by the network. */
  readonly queuedBytes: number;
  /** Begins delivery. */
  listen(listener: SocketListener): void;
  send(text: string): void;
  /** Stops reading from the network, where the platform can. */
  pause(): void;
  resume(): void;
  /** Sends what is queued and then a close frame, and waits for the peer's. */
  close(code: number, reason: string): void;
  /** Ends the socket at once. */
  terminate(): void;
  /**
   * Looks whether the peer is alive and pings it; absent where the platform has no pings.
   *
   * @returns false if nothing was heard since the last call.
   */
  beat?(): boolean;
}

/** A socket and the subprotocol that both sides agreed on. */
export interface OpenedSocket {
  readonly socket: MessageSocket;
  readonly protocol: string;
}

/** What a channel over several sockets needs of its side. */
export interface ResumptionHost {
  readonly clock: Clock;
  /** Aborts when the side closes. */
  readonly signal: AbortSignal;
}

/** The server's half of a subprotocol whose channels outlive their sockets: `resumeOnServer()` of `@mortise/transport-ws-custom/resume`. */
export interface ServerResumption {
  readonly protocol: string;
  /**
   * Takes a fresh socket, for a new channel or one that is resumed.
   *
   * @param client Who opens it, and the key that its connections are counted by.
   * @returns The channel if it is new and has to be served; undefined if the socket joined an old one, or was refused.
   * @throws Whatever ends the socket before its first frame.
   */
  accept(
    socket: MessageSocket,
    client: { readonly principal: string; readonly key: string },
    host: ResumptionHost,
  ): Promise<MessageSocket | undefined>;
}

/** The client's half: `resumeOnClient()` of `@mortise/transport-ws-custom/resume`. */
export interface ClientResumption {
  readonly protocol: string;
  /** @param first A socket on which the subprotocol was agreed. @param open Opens another one. */
  join(first: MessageSocket, open: (signal: AbortSignal) => Promise<OpenedSocket>, host: ResumptionHost): Promise<MessageSocket>;
}
