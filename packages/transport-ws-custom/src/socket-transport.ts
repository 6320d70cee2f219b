/** A `Transport` over one WebSocket, on any platform. */

import { type Clock, type ClockTimer, ConnectionClosedError, type JsonRpcMessage, type Transport, UsageError } from '@mortise/jsonrpc-core';
import { measureMessage, parseJson, serializeMessage } from '@mortise/jsonrpc-core/messages';
import { emitClose, emitError, type MessageInfo, resolvedPromise, toError } from '@mortise/jsonrpc-core/transport';
import { SocketClosedError } from './errors.ts';
import type { Beating, Heartbeat } from './heartbeat.ts';
import type { MessageSocket, SocketListener } from './message-socket.ts';
import { CloseCode } from './wire.ts';

/** The settings of a `SocketTransport`. */
export interface SocketTerms {
  /** Opens the socket. Called once, by `start`. Aborting `signal` cancels opening. */
  readonly open: (signal: AbortSignal) => Promise<MessageSocket>;
  readonly clock: Clock;
  /** The heartbeat that pings the peer; `undefined` if no pings are sent. */
  readonly heartbeat: Heartbeat | undefined;
  /** How many bytes may wait to be sent. A further `send` ends the connection, so senders should await each `send`. */
  readonly maxBacklogBytes: number;
  /** The `info` that `onmessage` gets with each message. */
  readonly info: MessageInfo | undefined;
  /** When the caller's token expires, in milliseconds since the epoch. The connection then ends. */
  readonly expiresAtMs: number | undefined;
}

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/** `send` waits while more bytes than this wait for the network. */
const MAX_QUEUED_BYTES = 1024 * 1024;
/** How long the peer may read nothing from a full queue before the connection ends. */
const STALL_MS = 30_000;
/** How long `close` waits for the peer's close frame. */
const CLOSE_TIMEOUT_MS = 2000;
/** How many received messages are delivered in one turn of the event loop. */
const MAX_IN_A_TURN = 16;

/** Runs `fn` in a later turn of the event loop, so that messages already delivered can be responded to first. */
const soon: (fn: () => void) => void =
  (globalThis as { setImmediate?: (fn: () => void) => void }).setImmediate ?? ((fn) => void setTimeout(fn, 0));

export type CloseReason = readonly [code: number, reason: string];

const NORMAL: CloseReason = [CloseCode.normal, ''];

/**
 * A transport over one WebSocket: each text frame is one message.
 *
 * Gives the guarantees T1 to T14 of `Transport`. The connection ends with 1009 after a message that is too long (T6), with 1003 after a
 * binary frame, and with 1007 after a text frame that is not UTF-8, as RFC 6455 requires.
 *
 * @see 2026-07-28 basic/transports#custom-transports; RFC 6455
 */
export class SocketTransport implements Transport, SocketListener, Beating {
  onmessage?: Transport['onmessage'];
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  /** The WebSocket close code and reason that `close` sends. */
  closeReason: CloseReason = NORMAL;
  readonly #terms: SocketTerms;
  readonly #waiters: Waiter[] = [];
  #socket: MessageSocket | undefined;
  #opening: Promise<void> | undefined;
  #abort: AbortController | undefined;
  #closing: Promise<void> | undefined;
  #isEnded = false;
  #onEnded: (() => void) | undefined;
  #isFull = false;
  #hasProgress = false;
  /** True while reading is paused because the peer has not read its responses yet. */
  #isHolding = false;
  /** The received messages that are not delivered yet, in order. */
  readonly #unread: string[] = [];
  /** How many messages this turn of the event loop has delivered. */
  #delivered = 0;
  #stallTimer: ClockTimer | undefined;

  constructor(terms: SocketTerms) {
    this.#terms = terms;
  }

  /**
   * Opens the connection.
   *
   * @throws {UsageError} `ERR_ALREADY_STARTED`: on a second call.
   * @throws {ConnectionClosedError} The transport was closed before or during `start`.
   * @throws The error with which opening the socket failed. The transport is then closed.
   */
  async start(): Promise<void> {
    if (this.#closing) throw new ConnectionClosedError();
    if (this.#opening) throw new UsageError('ERR_ALREADY_STARTED');
    this.#abort = new AbortController();
    this.#opening = this.#openSocket(this.#abort.signal);
    await this.#opening;
  }

  /**
   * Sends a message. Resolves at once unless more than 1 MiB is queued.
   *
   * @throws {UsageError} `ERR_NOT_CONNECTED`: before `start`.
   * @throws {ConnectionClosedError} The transport is closed, or closes while this call waits.
   * @throws {UsageError} `ERR_SERIALIZE`: the message cannot be written as JSON.
   */
  send(message: JsonRpcMessage): Promise<void> {
    if (this.#closing) return Promise.reject(new ConnectionClosedError());
    const socket = this.#socket;
    if (!socket) return Promise.reject(new UsageError('ERR_NOT_CONNECTED'));
    try {
      const text = serializeMessage(message);
      if (socket.queuedBytes > this.#terms.maxBacklogBytes) {
        this.#fail(CloseCode.tryAgainLater, 'The peer reads too slowly: too many bytes wait to be sent', 'slow reader');
        return Promise.reject(new ConnectionClosedError());
      }
      socket.send(text);
    } catch (error) {
      return Promise.reject(error);
    }
    return socket.queuedBytes <= MAX_QUEUED_BYTES ? resolvedPromise : this.#waitForRoom(socket, message);
  }

  /** Sends what `send` accepted, closes the connection, and resolves when everything is freed. Safe to call at any time and twice. */
  close(): Promise<void> {
    return this.#end(...this.closeReason);
  }

  async #openSocket(signal: AbortSignal): Promise<void> {
    try {
      this.#socket = await this.#terms.open(signal);
    } catch (error) {
      if (this.#closing) throw new ConnectionClosedError('The transport was closed while it was being opened', { cause: error });
      void this.#end(...NORMAL);
      throw error;
    }
    if (this.#closing) {
      this.#socket.listen(this);
      throw new ConnectionClosedError('The transport was closed while it was being opened');
    }
    this.#terms.heartbeat?.add(this);
    this.#socket.listen(this);
  }

  // ---- in

  onText(text: string): void {
    if (this.#closing) return;
    if (this.#isHolding || this.#unread.length > 0 || this.#delivered === MAX_IN_A_TURN) return this.#keepUnread(text);
    if (this.#delivered === 0) queueMicrotask(this.#onTurn);
    this.#delivered++;
    this.#deliver(text);
  }

  readonly #onTurn = (): void => {
    this.#delivered = 0;
  };

  /** Delivers a message later. One read can contain a thousand requests: the first are responded to before more are delivered. */
  #keepUnread(text: string): void {
    if (this.#unread.push(text) > 1) return;
    this.#socket?.pause();
    soon(this.#deliverUnread);
  }

  readonly #deliverUnread = (): void => {
    if (this.#isHolding) return;
    for (const text of this.#unread.splice(0, MAX_IN_A_TURN)) if (!this.#closing) this.#deliver(text);
    if (this.#unread.length > 0) soon(this.#deliverUnread);
    else if (!this.#isHolding) this.#socket?.resume();
  };

  #deliver(text: string): void {
    const { expiresAtMs } = this.#terms;
    if (expiresAtMs !== undefined && this.#terms.clock.now() >= expiresAtMs) return this.#expire();
    try {
      this.onmessage?.(parseJson(text), this.#toInfo(text));
    } catch (error) {
      emitError(this, toError(error));
    }
  }

  /** Gives the `info` of a message. It has `bytes` for long messages only: all short messages share one object. */
  #toInfo(text: string): MessageInfo | undefined {
    const { info } = this.#terms;
    const bytes = measureMessage(text);
    return bytes === undefined ? info : { ...info, bytes };
  }

  onBinary(): void {
    this.#fail(CloseCode.unsupportedData, 'The peer sent a binary frame, but MCP messages must be text frames', 'text frames only');
  }

  onError(error: Error): void {
    // The socket has already chosen its close code, so this one is not sent.
    this.#failWith(error, CloseCode.internalError, '');
  }

  beat(): boolean {
    const { expiresAtMs } = this.#terms;
    if (expiresAtMs !== undefined && this.#terms.clock.now() >= expiresAtMs) {
      this.#expire();
      return true;
    }
    return this.#socket?.beat?.() ?? true;
  }

  onDead(): void {
    this.#terms.heartbeat?.delete(this);
    this.#fail(CloseCode.abnormal, 'The peer did not respond to a ping', '');
    this.#socket?.terminate();
  }

  #expire(): void {
    this.#fail(CloseCode.unauthorized, 'The token has expired: the connection ends', 'the token has expired');
  }

  // ---- out

  #waitForRoom(socket: MessageSocket, message: JsonRpcMessage): Promise<void> {
    this.#isFull = true;
    // Stops reading from a peer that does not read its responses: they would pile up here. Waiting requests do not stop reading, so that
    // two peers whose requests wait still read each other's responses.
    if (!this.#isHolding && !('method' in message)) {
      this.#isHolding = true;
      socket.pause();
    }
    this.#stallTimer ??= this.#scheduleStall();
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  onRoom(): void {
    const socket = this.#socket;
    this.#hasProgress = true;
    if (!this.#isFull || !socket || socket.queuedBytes > MAX_QUEUED_BYTES / 2) return;
    this.#isFull = false;
    this.#stallTimer?.cancel();
    this.#stallTimer = undefined;
    if (this.#isHolding) {
      this.#isHolding = false;
      if (this.#unread.length > 0) soon(this.#deliverUnread);
      else socket.resume();
    }
    for (const waiter of this.#waiters.splice(0)) waiter.resolve();
  }

  #scheduleStall(): ClockTimer {
    this.#hasProgress = false;
    return this.#terms.clock.schedule(() => this.#onStall(), STALL_MS);
  }

  #onStall(): void {
    if (this.#hasProgress) this.#stallTimer = this.#scheduleStall();
    else this.#fail(CloseCode.tryAgainLater, 'The peer does not read the messages sent to it', 'slow reader');
  }

  // ---- the end

  #fail(code: number, message: string, reason: string): void {
    this.#failWith(new SocketClosedError(code, message), code, reason);
  }

  #failWith(error: Error, code: number, reason: string): void {
    if (this.#closing) return;
    emitError(this, error);
    void this.#end(code, reason);
  }

  onEnd(code: number, reason: string): void {
    this.#isEnded = true;
    if (this.#onEnded) return this.#onEnded();
    if (code === CloseCode.normal) void this.#end(code, reason);
    else this.#failWith(SocketClosedError.ofPeer(code, reason), code, reason);
  }

  #end(code: number, reason: string): Promise<void> {
    this.#abort?.abort(new ConnectionClosedError());
    // In a microtask, so that `#closing` is set before a callback can call `close` again.
    this.#closing ??= Promise.resolve().then(() => this.#finish(code, reason));
    return this.#closing;
  }

  async #finish(code: number, reason: string): Promise<void> {
    await this.#opening?.catch(() => undefined);
    this.#terms.heartbeat?.delete(this);
    this.#stallTimer?.cancel();
    if (this.#socket && !this.#isEnded) await this.#closeSocket(this.#socket, code, reason);
    const closed = new ConnectionClosedError();
    for (const waiter of this.#waiters.splice(0)) waiter.reject(closed);
    emitClose(this);
  }

  async #closeSocket(socket: MessageSocket, code: number, reason: string): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#onEnded = resolve;
    });
    // Messages that still arrive are dropped; the peer's close frame comes after them.
    socket.resume();
    socket.close(code, reason);
    const timer = this.#terms.clock.schedule(() => socket.terminate(), CLOSE_TIMEOUT_MS, { keepAlive: true });
    await ended;
    timer.cancel();
  }
}
