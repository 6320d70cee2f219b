/** The interface between `SocketTransport` and its socket: a WebSocket of `ws`, a WebSocket of the platform, or a resumable channel. */

import type { Clock } from '@mortise/jsonrpc-core';

/** The callbacks of a `MessageSocket`. */
export interface SocketListener {
  /** One whole text message arrived. */
  onText(text: string): void;
  /** A binary message arrived. */
  onBinary(): void;
  /** An error ends the socket; `onEnd` follows. */
  onError(error: Error): void;
  /** `queuedBytes` has fallen. */
  onRoom(): void;
  /** The socket has ended. Called once, as the last callback. */
  onEnd(code: number, reason: string): void;
}

/** An open connection for text messages. It delivers nothing before `listen` is called. */
export interface MessageSocket {
  /** How many sent bytes still wait for the network. */
  readonly queuedBytes: number;
  /** Starts delivery to `listener`. */
  listen(listener: SocketListener): void;
  send(text: string): void;
  /** Stops reading from the network, where the platform can. */
  pause(): void;
  resume(): void;
  /** Sends the queued messages and a close frame. `onEnd` follows when the peer has closed too. */
  close(code: number, reason: string): void;
  /** Ends the connection at once, without a close frame. */
  terminate(): void;
  /**
   * Pings the peer. Absent on platforms that cannot send pings.
   *
   * @returns false if nothing has arrived from the peer since the last call.
   */
  beat?(): boolean;
}

/** An open socket and its agreed subprotocol. */
export interface OpenedSocket {
  readonly socket: MessageSocket;
  readonly protocol: string;
}

/** What a resumable channel gets from the transport or server that uses it. */
export interface ResumptionHost {
  readonly clock: Clock;
  /** Aborts when that transport or server closes. */
  readonly signal: AbortSignal;
}

/** Connection resumption on the server; made by `resumeOnServer()` of `@mortise/transport-ws-custom/resume`. */
export interface ServerResumption {
  readonly protocol: string;
  /**
   * Takes over a new socket: opens a channel, or continues one that the client names in its first frame.
   *
   * @param client The verified caller, and the `limitKey` of the connection.
   * @returns The channel, if it is new and must be served; `undefined` if the socket continues an existing channel or was refused.
   * @throws The error that ended the socket before its first frame.
   */
  accept(
    socket: MessageSocket,
    client: { readonly principal: string; readonly key: string },
    host: ResumptionHost,
  ): Promise<MessageSocket | undefined>;
}

/** Connection resumption on the client; made by `resumeOnClient()` of `@mortise/transport-ws-custom/resume`. */
export interface ClientResumption {
  readonly protocol: string;
  /** Opens a channel. @param first A socket whose agreed subprotocol is `protocol`. @param open Opens a further socket after a break. */
  join(first: MessageSocket, open: (signal: AbortSignal) => Promise<OpenedSocket>, host: ResumptionHost): Promise<MessageSocket>;
}
