/** Adapts a `WebSocket` of the npm package `ws` to `MessageSocket`, on Node. Imports only types, so that browsers can load this file. */

import { MessageTooLargeError } from '@mortise/jsonrpc-core';
import type { WebSocket } from 'ws';
import { SocketClosedError } from './errors.ts';
import type { MessageSocket, SocketListener } from './message-socket.ts';
import { CloseCode } from './wire.ts';

/** The network stream below a `WebSocket`: after `cork` it collects writes, and `uncork` sends them together. */
export interface Corkable {
  cork(): void;
  uncork(): void;
}

const OPEN = 1;

/** A text of more characters than this is long. */
const LONG_TEXT = 16 * 1024;
const TEXT_FRAME = { binary: false };

/** Runs `fn` after all microtasks on Node (`nextTick` in a microtask), so that all responses to one chunk of requests leave together. */
const atEndOfTick: (fn: () => void) => void =
  (globalThis as { process?: { nextTick?: (fn: () => void) => void } }).process?.nextTick ?? queueMicrotask;

/** Limits a number to 32 bits, because the npm package `ws` counts with 32 bits: a larger number would overflow. */
export function toInt32(bound: number): number {
  return Math.min(bound, 2 ** 31 - 1);
}

/** Adapts an open `WebSocket` of the npm package `ws` to `MessageSocket`. */
export class WsSocket implements MessageSocket {
  readonly #ws: WebSocket;
  readonly #maxMessageBytes: number;
  readonly #stream: Corkable | undefined;
  #listener: SocketListener | undefined;
  #wasHeard = true;
  #isPaused = true;
  #isCorked = false;
  #isTerminated = false;
  #end: { readonly code: number; readonly reason: string } | undefined;
  #firstError: Error | undefined;

  /**
   * @param ws An open socket. It is paused until `listen` is called.
   * @param maxMessageBytes The `maxPayload` of `ws`, for error messages.
   * @param stream The network stream of `ws`. If given, the frames of one tick are written together.
   */
  constructor(ws: WebSocket, maxMessageBytes: number, stream?: Corkable) {
    this.#ws = ws;
    this.#maxMessageBytes = maxMessageBytes;
    this.#stream = stream;
    ws.pause();
    ws.on('message', this.#onMessage);
    ws.on('pong', this.#onSign);
    ws.on('ping', this.#onSign);
    ws.on('error', this.#onError);
    ws.on('close', this.#onClose);
  }

  get queuedBytes(): number {
    return this.#ws.bufferedAmount;
  }

  listen(listener: SocketListener): void {
    this.#listener = listener;
    if (this.#firstError) listener.onError(this.#firstError);
    if (this.#end) listener.onEnd(this.#end.code, this.#end.reason);
    else this.resume();
  }

  send(text: string): void {
    this.#cork();
    // For a string Node reserves three bytes for each character until it is written. A long text is encoded here, to its exact size.
    if (text.length > LONG_TEXT) this.#ws.send(Buffer.from(text), TEXT_FRAME, this.#onSent);
    else this.#ws.send(text, this.#onSent);
  }

  pause(): void {
    this.#isPaused = true;
    this.#ws.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#ws.resume();
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason);
  }

  terminate(): void {
    this.#isTerminated = true;
    this.#ws.terminate();
  }

  beat(): boolean {
    // While reading is paused, the peer's pong cannot arrive.
    const isAlive = this.#wasHeard || this.#isPaused;
    this.#wasHeard = false;
    if (isAlive && this.#ws.readyState === OPEN) this.#ws.ping();
    return isAlive;
  }

  #cork(): void {
    if (this.#isCorked || this.#stream === undefined) return;
    this.#isCorked = true;
    this.#stream.cork();
    atEndOfTick(this.#uncork);
  }

  readonly #uncork = (): void => {
    this.#isCorked = false;
    this.#stream?.uncork();
  };

  readonly #onSent = (error?: Error | null): void => {
    // After a failed write `onEnd` follows. After `terminate` Node reports discarded writes as successful.
    if (error == null && !this.#isTerminated) this.#listener?.onRoom();
  };

  readonly #onSign = (): void => {
    this.#wasHeard = true;
  };

  readonly #onMessage = (data: { toString(): string }, isBinary: boolean): void => {
    this.#wasHeard = true;
    if (isBinary) this.#listener?.onBinary();
    else this.#listener?.onText(data.toString());
  };

  readonly #onError = (error: Error): void => {
    const reported = toTransportError(error, this.#maxMessageBytes);
    this.#firstError ??= reported;
    this.#listener?.onError(reported);
  };

  readonly #onClose = (code: number, reason: { toString(): string }): void => {
    this.#end = { code, reason: reason.toString() };
    this.#listener?.onEnd(code, this.#end.reason);
  };
}

function toTransportError(error: Error, maxMessageBytes: number): Error {
  const { code } = error as { code?: unknown };
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' || code === 'WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH')
    return Object.assign(new MessageTooLargeError(maxMessageBytes), { cause: error });
  if (typeof code === 'string' && code.startsWith('WS_ERR_')) {
    return new SocketClosedError(CloseCode.invalidPayload, `The peer broke the WebSocket protocol: ${error.message}`, { cause: error });
  }
  return error;
}
