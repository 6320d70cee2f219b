/** One WebSocket as a `Transport`, on any platform. */

import { type Clock, type ClockTimer, ConnectionClosedError, type JsonRpcMessage, type Transport, UsageError } from '@mortise/jsonrpc-core';
import { measureMessage, parseJson, serializeMessage } from '@mortise/jsonrpc-core/messages';
import { emitClose, emitError, type MessageInfo, resolvedPromise, toError } from '@mortise/jsonrpc-core/transport';
import { SocketClosedError } from './errors.ts';
import type { Beating, Heartbeat } from './heartbeat.ts';
import type { MessageSocket, SocketListener } from './message-socket.ts';
import { CloseCode } from './wire.ts';

/** What a transport is made of. */
export interface SocketTerms {
  /** Opens the socket; called once, by `start`. Aborting `signal` gives up. */
  readonly open: (signal: AbortSignal) => Promise<MessageSocket>;
  readonly clock: Clock;
  /** Finds dead peers. */
  readonly heartbeat: Heartbeat | undefined;
  /** How many bytes may wait before one more message ends the connection, for senders that do not wait. */
  readonly maxBacklogBytes: number;
  /** Passed on with each message. */
  readonly info: MessageInfo | undefined;
  /** When the caller's authorization ends, in milliseconds since the epoch: so does the connection. */
  readonly expiresAtMs: number | undefined;
}

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/** Beyond this many bytes that the peer has not taken, `send` waits. */
const MAX_QUEUED_BYTES = 1024 * 1024;
/** How long a full queue may stand still before the connection ends. */
const STALL_MS = 30_000;
/** How long `close` waits for the peer to take what was sent and to close its side. */
const CLOSE_TIMEOUT_MS = 2000;
/** How many messages of one read are delivered at once. */
const MAX_IN_A_TURN = 16;

/** Runs something after the answers that are under way. */
const soon: (fn: () => void) => void =
  (globalThis as { setImmediate?: (fn: () => void) => void }).setImmediate ?? ((fn) => void setTimeout(fn, 0));

/** A close code, and why. */
export type CloseReason = readonly [code: number, reason: string];

const NORMAL: CloseReason = [CloseCode.normal, ''];

/**
 * A transport over one WebSocket: one message a text frame.
 *
 * Keeps the promises T1 to T14. A message that is too long (T6), a binary frame and a text frame that is not UTF-8 end the
 * connection with 1009, 1003 and 1007, as RFC 6455 has it.
 *
 * @see 2026-07-28 basic/transports#custom-transports; RFC 6455
 */
export class SocketTransport implements Transport, SocketListener, Beating {
  onmessage?: ((message: JsonRpcMessage, info?: MessageInfo) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  /** What `close` says. */
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
  /** The peer is not read until it has taken what it was sent. */
  #isHolding = false;
  /** What was read before the socket could be paused, and is not delivered yet. */
  readonly #unread: string[] = [];
  /** How many messages this turn of the event loop has delivered. */
  #delivered = 0;
  #stallTimer: ClockTimer | undefined;

  constructor(terms: SocketTerms) {
    this.#terms = terms;
  }

  /**
   * @throws {UsageError} `ERR_ALREADY_STARTED`: on a second call.
   * @throws {ConnectionClosedError} After `close`, or when it is closed while it opens.
   * @throws Whatever opening the socket rejects with; the transport is then closed.
   */
  async start(): Promise<void> {
    if (this.#closing) throw new ConnectionClosedError();
    if (this.#opening) throw new UsageError('ERR_ALREADY_STARTED');
    this.#abort = new AbortController();
    this.#opening = this.#openSocket(this.#abort.signal);
    await this.#opening;
  }

  /**
   * @throws {UsageError} `ERR_NOT_CONNECTED`: before `start`.
   * @throws {ConnectionClosedError} Once the transport is closed, also while waiting.
   * @throws {UsageError} `ERR_SERIALIZE`: JSON cannot carry the message.
   */
  send(message: JsonRpcMessage): Promise<void> {
    if (this.#closing) return Promise.reject(new ConnectionClosedError());
    const socket = this.#socket;
    if (!socket) return Promise.reject(new UsageError('ERR_NOT_CONNECTED'));
    try {
      const text = serializeMessage(message);
      if (socket.queuedBytes > this.#terms.maxBacklogBytes) {
        this.#fail(CloseCode.tryAgainLater, 'The peer reads too slowly: too much waits for it', 'slow reader');
        return Promise.reject(new ConnectionClosedError());
      }
      socket.send(text);
    } catch (error) {
      return Promise.reject(error);
    }
    return socket.queuedBytes <= MAX_QUEUED_BYTES ? resolvedPromise : this.#waitForRoom(socket, message);
  }

  /** Sends what was accepted, closes both sides, frees everything, and resolves. May be called at any time and again. */
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

  /** One read of the network can bring a thousand requests: their answers are sent before more of them are delivered. */
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
      const message = parseJson(text);
      this.onmessage?.(message as unknown as JsonRpcMessage, this.#toInfo(text));
    } catch (error) {
      emitError(this, toError(error));
    }
  }

  /** Short messages are bounded by their number, so they need no object of their own. */
  #toInfo(text: string): MessageInfo | undefined {
    const { info } = this.#terms;
    const bytes = measureMessage(text);
    return bytes === undefined ? info : { ...info, bytes };
  }

  onBinary(): void {
    this.#fail(CloseCode.unsupportedData, 'The peer sent a binary frame: MCP travels in text frames', 'text frames only');
  }

  onError(error: Error): void {
    // The socket has chosen its close code already; this one is not sent.
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
    this.#fail(CloseCode.abnormal, 'The peer gives no sign of life', '');
    this.#socket?.terminate();
  }

  #expire(): void {
    this.#fail(CloseCode.unauthorized, 'The token has expired: the connection ends', 'the token has expired');
  }

  // ---- out

  #waitForRoom(socket: MessageSocket, message: JsonRpcMessage): Promise<void> {
    this.#isFull = true;
    // A peer that sends requests and never reads is not read any further, or its answers would pile up here. Only answers hold the
    // input: two peers that wait with requests must still read each other's answers.
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
    else this.#fail(CloseCode.tryAgainLater, 'The peer does not read what it is sent', 'slow reader');
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
    // Later, so that a callback that closes again finds the promise that is already there.
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
    // What still arrives is dropped; the peer's close frame is behind it.
    socket.resume();
    socket.close(code, reason);
    const timer = this.#terms.clock.schedule(() => socket.terminate(), CLOSE_TIMEOUT_MS, { keepAlive: true });
    await ended;
    timer.cancel();
  }
}
