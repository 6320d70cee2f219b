/** Adapts the platform's `WebSocket` to `MessageSocket`, for browsers, workers, Deno and edge runtimes. */

import { type Clock, type ClockTimer, MessageTooLargeError } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import { ConnectFailedError } from './errors.ts';
import type { MessageSocket, OpenedSocket, SocketListener } from './message-socket.ts';
import { BEARER_PREFIX, CloseCode, MCP_PROTOCOL, toBrowserCode } from './wire.ts';

/** The members of `WebSocket` that this package uses. Declared here so that it compiles without the DOM's types. */
export interface WebSocketLike {
  readonly bufferedAmount: number;
  readonly protocol: string;
  binaryType: string;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'error', fn: () => void): void;
  addEventListener(type: 'message', fn: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close', fn: (event: { readonly code: number; readonly reason: string }) => void): void;
}

/** The type of the global class `WebSocket`. */
export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike;

/** The settings of `openWebSocket`. */
export interface WebSocketSettings {
  readonly url: string;
  readonly protocols: readonly string[];
  readonly maxMessageBytes: number;
  readonly clock: Clock;
}

/** How often `bufferedAmount` is checked while it is not 0, in milliseconds: the platform has no event for it. */
const POLL_MS = 10;

/**
 * Opens a WebSocket and waits until it is open.
 *
 * @throws {ConnectFailedError} `ERR_CONNECT_FAILED`: opening failed. Platforms do not say why.
 * @throws The abort reason of `signal`.
 */
export async function openWebSocket(
  constructor: WebSocketConstructor,
  settings: WebSocketSettings,
  signal: AbortSignal,
): Promise<OpenedSocket> {
  const socket = new constructor(settings.url, [...settings.protocols]);
  const wrapped = new WebSocketSocket(socket, settings);
  const opened = new Promise<OpenedSocket>((resolve, reject) => {
    socket.addEventListener('open', () => {
      if (isAgreed(socket.protocol, settings.protocols)) resolve({ socket: wrapped, protocol: socket.protocol });
      else reject(new ConnectFailedError(`The server did not agree to the subprotocol "${MCP_PROTOCOL}"`));
    });
    // `close` follows and is handled below, but `ws` throws if `error` has no listener.
    socket.addEventListener('error', () => undefined);
    socket.addEventListener('close', ({ code }) => {
      const message = `The WebSocket could not be opened (code ${code}): check the URL, the server's allowed origins and the token`;
      reject(new ConnectFailedError(message));
    });
  });
  try {
    return await abortable(opened, signal);
  } catch (error) {
    socket.close();
    throw error;
  }
}

/** Tells whether the server chose a valid subprotocol: one of the offered, but not the one that carries the bearer token. */
function isAgreed(protocol: string, offered: readonly string[]): boolean {
  return offered.includes(protocol) && !protocol.startsWith(BEARER_PREFIX);
}

class WebSocketSocket implements MessageSocket {
  readonly #socket: WebSocketLike;
  readonly #maxMessageBytes: number;
  readonly #clock: Clock;
  readonly #early: unknown[] = [];
  #listener: SocketListener | undefined;
  #poll: ClockTimer | undefined;
  #end: { readonly code: number; readonly reason: string } | undefined;

  constructor(socket: WebSocketLike, { maxMessageBytes, clock }: WebSocketSettings) {
    this.#socket = socket;
    this.#maxMessageBytes = maxMessageBytes;
    this.#clock = clock;
    // The default, a Blob, is costly; binary messages are rejected anyway.
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('message', ({ data }) => {
      if (this.#listener) this.#deliver(this.#listener, data);
      else this.#early.push(data);
    });
    socket.addEventListener('close', ({ code, reason }) => this.#finish(code, reason));
  }

  get queuedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  listen(listener: SocketListener): void {
    this.#listener = listener;
    for (const data of this.#early.splice(0)) this.#deliver(listener, data);
    if (this.#end) listener.onEnd(this.#end.code, this.#end.reason);
  }

  send(text: string): void {
    this.#socket.send(text);
    if (this.#socket.bufferedAmount > 0) this.#poll ??= this.#schedulePoll(this.#socket.bufferedAmount);
  }

  pause(): void {
    // The platform's `WebSocket` cannot be paused.
  }

  resume(): void {
    // The platform's `WebSocket` is never paused.
  }

  close(code: number, reason: string): void {
    this.#socket.close(toBrowserCode(code), reason);
  }

  terminate(): void {
    // The platform's `WebSocket` has no `terminate`: this sends a close frame and does not wait for the peer's.
    this.#socket.close();
    this.#finish(CloseCode.abnormal, '');
  }

  #deliver(listener: SocketListener, data: unknown): void {
    if (this.#end) return;
    if (typeof data !== 'string') return listener.onBinary();
    if (!isLonger(data, this.#maxMessageBytes)) return listener.onText(data);
    this.#socket.close(toBrowserCode(CloseCode.tooLarge), 'message too large');
    listener.onError(new MessageTooLargeError(this.#maxMessageBytes));
  }

  #schedulePoll(before: number): ClockTimer {
    return this.#clock.schedule(() => {
      const now = this.#socket.bufferedAmount;
      this.#poll = now > 0 && !this.#end ? this.#schedulePoll(now) : undefined;
      if (now < before) this.#listener?.onRoom();
    }, POLL_MS);
  }

  #finish(code: number, reason: string): void {
    if (this.#end) return;
    this.#end = { code, reason };
    this.#poll?.cancel();
    this.#listener?.onEnd(code, reason);
  }
}

/** Tells whether a text has more than `maxBytes` bytes in UTF-8. Encodes the text only if its length does not decide. */
function isLonger(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes;
}
