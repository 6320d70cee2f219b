/** The interface between `SocketTransport` and its socket: a WebSocket of the npm package `ws` or the platform, or a resumable channel. */

import type { Clock } from '@mortise/jsonrpc-core';

/** The callbacks through which a `MessageSocket` reports messages and its end. */
export interface SocketListener {
  /** Called with each whole text message that arrives. */
  onText(text: string): void;
  /** Called when a binary message arrives, which MCP over WebSocket does not allow. */
  onBinary(): void;
  /** Called with the error that ends the socket, before `onEnd`. */
  onError(error: Error): void;
  /** Called when `queuedBytes` has become lower. */
  onRoom(): void;
  /** Called once, as the last callback, when the socket has ended. */
  onEnd(code: number, reason: string): void;
}

/** An open connection for text messages. It delivers nothing before `listen` is called. */
export interface MessageSocket {
  /** How many bytes were passed to `send` and still wait for the network. */
  readonly queuedBytes: number;
  /** Starts to deliver messages and the end of the socket to `listener`. */
  listen(listener: SocketListener): void;
  send(text: string): void;
  /** Stops reading from the network, where the platform can. */
  pause(): void;
  resume(): void;
  /** Sends the queued messages and a close frame. `onEnd` is called when the peer has closed too. */
  close(code: number, reason: string): void;
  /** Ends the connection at once, without a close frame. */
  terminate(): void;
  /**
   * Pings the peer. Absent on platforms that cannot send pings.
   *
   * @returns false if nothing has arrived from the peer since the previous call of `beat`.
   */
  beat?(): boolean;
}

/** An open socket and its agreed subprotocol. */
export interface OpenedSocket {
  readonly socket: MessageSocket;
  readonly protocol: string;
}

/** The clock and the abort signal that a resumable channel gets from the transport or server that uses the channel. */
export interface ResumptionHost {
  readonly clock: Clock;
  /** Aborts when the transport or server that uses the channel closes. */
  readonly signal: AbortSignal;
}

/** Lets clients of a server continue a broken connection; made by `resumeOnServer()` of `@mortise/transport-ws-custom/resume`. */
export interface ServerResumption {
  readonly protocol: string;
  /**
   * Takes over a new WebSocket: opens a resumable channel, or continues the channel that the client names in its first frame.
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

/** Lets a client continue a broken connection; made by `resumeOnClient()` of `@mortise/transport-ws-custom/resume`. */
export interface ClientResumption {
  readonly protocol: string;
  /** Opens a resumable channel. @param first A socket with the subprotocol `protocol`. @param open Opens another socket after a break. */
  join(first: MessageSocket, open: (signal: AbortSignal) => Promise<OpenedSocket>, host: ResumptionHost): Promise<MessageSocket>;
}
