/** A transport over byte streams, one message a line: for stdio, sockets and pipes. */

import type { EventEmitter } from 'node:events';
import {
  type Clock,
  type ClockTimer,
  ConnectionClosedError,
  type JsonRpcMessage,
  ParseError,
  type Transport,
  UsageError,
} from '@mortise/jsonrpc-core';
import { measureMessage, parseJson, serializeMessage } from '@mortise/jsonrpc-core/messages';
import {
  checkOptions,
  emitClose,
  emitError,
  type MessageInfo,
  type OptionTable,
  resolvedPromise,
  systemClock,
  toError,
} from '@mortise/jsonrpc-core/transport';
import type { ByteChannel, ChannelEnd, OpenChannel } from './byte-channel.ts';
import { DEFAULT_MAX_MESSAGE_BYTES, LineReader } from './line-reader.ts';
import { LineWriter } from './line-writer.ts';
import { ReadGate } from './read-gate.ts';
import { UnansweredRequests } from './unanswered-requests.ts';

/** The limits and timeouts of a `StreamTransport`. */
export interface StreamTransportOptions {
  /**
   * How many bytes a message from the peer may have. A longer message is skipped, and `onerror` gets a `MessageTooLargeError`. A message
   * of more than 500,000 JSON values is skipped too, with a `ParseError`.
   *
   * @default 16 MiB
   */
  readonly maxMessageBytes?: number | undefined;
  /**
   * How many bytes may be queued for a slow reader; while there are more, `send` waits.
   *
   * @default 1 MiB
   */
  readonly maxQueuedBytes?: number | undefined;
  /**
   * How many bytes of responses the peer may leave unread. Above this, the peer's further requests wait until it has read the responses; up
   * to as many bytes of requests are buffered. Set this for servers only: two sides that both stop reading could wait for each other.
   *
   * @default Infinity; maxMessageBytes in a `StdioServerTransport`
   */
  readonly maxPendingBytes?: number | undefined;
  /**
   * How long requests in flight may still run after the peer has ended its stream, in milliseconds; then they are aborted. With
   * `serveStdio`, requests in flight get the same time after a signal.
   *
   * @default 500, which is also the most that `serveStdio` takes
   */
  readonly drainMs?: number | undefined;
  /**
   * How long `close` waits for a slow reader to take the messages already passed to `send`, in milliseconds.
   *
   * @default 2,000
   */
  readonly flushMs?: number | undefined;
  /** The clock that times `drainMs`, `flushMs` and the like. @default systemClock */
  readonly clock?: Clock | undefined;
}

/** The allowed values of the options that the stdio transports of clients and of servers have in common. */
export const BOUND_OPTIONS: OptionTable<Omit<StreamTransportOptions, 'maxPendingBytes' | 'drainMs'>> = {
  maxMessageBytes: 1,
  maxQueuedBytes: 0,
  flushMs: 0,
  clock: 'object',
};

const STREAM_OPTIONS: OptionTable<StreamTransportOptions> = { ...BOUND_OPTIONS, maxPendingBytes: 0, drainMs: 0 };

/**
 * A transport over a reliable byte stream, such as a socket or a pipe. On the wire:
 *
 * - **Connection**: `start` opens the stream with the function that the constructor gets; `close` of either side ends it.
 * - **Framing**: one JSON message a line, in UTF-8, ended by `\n`. `\r\n` is accepted, and empty lines are ignored.
 * - **Cancellation**: a `notifications/cancelled` message, since no request has a stream of its own.
 * - **Metadata**: all of it is in the messages.
 *
 * Has the guarantees T1 to T14 of `Transport`. Skips a message that is too long (T6) and reads on. After the peer has ended its stream,
 * responses can still be sent for `drainMs`. Then the transport closes.
 *
 * @see 2026-07-28 basic/transports#custom-transports, basic/transports/stdio
 */
export class StreamTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;

  readonly #open: OpenChannel;
  readonly #maxQueuedBytes: number;
  readonly #drainMs: number;
  readonly #flushMs: number;
  readonly #clock: Clock;
  readonly #reader: LineReader;
  readonly #unanswered: UnansweredRequests | undefined;
  readonly #gate: ReadGate;
  #channel: ByteChannel | undefined;
  #writer: LineWriter | undefined;
  #lingerTimer: ClockTimer | undefined;
  #isInputEnded = false;
  /** Whether the peer has sent a message. */
  #hasSpoken = false;
  /** Whether the peer, and not this side, ended the transport. */
  #isPeerDone = false;
  /** How many bytes of responses wait for a peer that does not read. */
  #unreadBytes = 0;
  #opening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  /**
   * @param open Opens the byte streams to the peer. Called once, by `start`.
   * @throws {TypeError} An option is unknown or has a wrong value.
   */
  constructor(open: OpenChannel, options: StreamTransportOptions = {}) {
    checkOptions('StreamTransport options', options, STREAM_OPTIONS);
    this.#open = open;
    const maxMessageBytes = options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES;
    this.#maxQueuedBytes = options.maxQueuedBytes ?? 1024 * 1024;
    this.#drainMs = options.drainMs ?? 500;
    this.#flushMs = options.flushMs ?? 2000;
    this.#clock = options.clock ?? systemClock;
    this.#unanswered = this.#drainMs > 0 ? new UnansweredRequests() : undefined;
    this.#gate = new ReadGate({
      maxPendingBytes: options.maxPendingBytes ?? Infinity,
      unreadBytes: () => (this.#writer?.isFull === true ? this.#writer.queued : 0),
      read: (chunk) => this.#reader.push(chunk),
      pause: () => void this.#channel?.input.pause(),
      resume: () => void this.#channel?.input.resume(),
    });
    this.#reader = new LineReader({
      maxMessageBytes,
      onLine: (line) => this.#onLine(line),
      onError: (error) => emitError(this, error),
    });
  }

  /**
   * Opens the byte streams to the peer, and begins to read messages.
   *
   * @throws {UsageError} `ERR_ALREADY_STARTED`: on a second call.
   * @throws {ConnectionClosedError} The transport was closed before or during `start`.
   * @throws The error with which opening the streams failed. The transport is then closed.
   */
  async start(): Promise<void> {
    if (this.#closing) throw new ConnectionClosedError();
    if (this.#opening) throw new UsageError('ERR_ALREADY_STARTED');
    this.#opening = this.#openChannel();
    await this.#opening;
    if (!this.#closing || this.#writer) return;
    await this.#closing;
    throw new ConnectionClosedError('The transport was closed while it was being opened');
  }

  /**
   * Sends a message. Resolves at once, unless more than `maxQueuedBytes` wait for a slow peer.
   *
   * @throws {UsageError} `ERR_NOT_CONNECTED`: before `start`.
   * @throws {ConnectionClosedError} The transport is closed or the peer no longer reads, also if that happens while this call waits. If the
   *   peer ended the connection, requests are rejected only after `onclose`.
   * @throws {UsageError} `ERR_SERIALIZE`: the message cannot be written as JSON.
   */
  send(message: JsonRpcMessage): Promise<void> {
    if (this.#closing) return this.#refuse(message, this.#closing);
    if (!this.#writer) return Promise.reject(new UsageError('ERR_NOT_CONNECTED'));
    try {
      const line = frame(message);
      const sent = this.#writer.write(line);
      this.#unanswered?.onSent(message);
      if (sent !== resolvedPromise && !('method' in message)) this.#countUnread(sent, line.length);
      return sent;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Rejects a `send` on a closed transport. If the peer ended it, requests are rejected after `onclose`, when the reason is known. */
  #refuse(message: JsonRpcMessage, closing: Promise<void>): Promise<void> {
    const error = new ConnectionClosedError();
    const isRequest = 'method' in message && 'id' in message;
    return isRequest && this.#isPeerDone ? closing.then(() => Promise.reject(error)) : Promise.reject(error);
  }

  #countUnread(sent: Promise<void>, bytes: number): void {
    this.#unreadBytes += bytes;
    const settle = (): void => void (this.#unreadBytes -= bytes);
    sent.then(settle, settle);
  }

  /** Writes the messages already passed to `send`, frees the streams, and then resolves. May be called at any time, also twice. */
  close(): Promise<void> {
    return this.#end('closed');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #openChannel(): Promise<void> {
    try {
      this.#channel = await this.#open({ report: (error) => emitError(this, error), peerGone: () => void this.#end('peer-gone') });
      if (!this.#closing) this.#attach(this.#channel);
    } catch (error) {
      void this.#end('closed');
      throw error;
    }
  }

  #attach(channel: ByteChannel): void {
    const { input, output } = channel;
    this.#writer = new LineWriter({
      output,
      write: channel.write ?? ((text, done) => output.write(text, 'utf8', done)),
      maxQueuedBytes: this.#maxQueuedBytes,
      onRoom: () => this.#gate.open(),
    });
    output.on('error', this.#onOutputError);
    input.on('error', this.#onInputError);
    input.on('end', this.#onInputEnd);
    input.on('close', this.#onInputEnd);
    input.on('data', this.#onData);
    input.resume();
    if (input.readableEnded || input.destroyed) this.#onInputEnd();
  }

  #detach(channel: ByteChannel, end: ChannelEnd): void {
    const { input, output } = channel;
    input.off('data', this.#onData);
    input.off('end', this.#onInputEnd);
    input.off('close', this.#onInputEnd);
    // Paused so that the stream does not keep the process alive, unless other code still reads it.
    if (input.listenerCount('data') === 0) input.pause();
    input.off('error', this.#onInputError);
    output.off('error', this.#onOutputError);
    if (end !== 'closed' || output !== process.stdout) for (const stream of [input, output]) ignoreErrors(stream);
  }

  // ---- in

  readonly #onData = (chunk: Uint8Array | string): void => {
    this.#gate.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  };

  #onLine(line: string): void {
    try {
      const message = parse(line);
      this.#hasSpoken = true;
      this.#unanswered?.onReceived(message);
      this.onmessage?.(message, this.#toInfo(line));
    } catch (error) {
      emitError(this, toError(error));
    } finally {
      this.#unanswered?.onDelivered();
    }
  }

  /** Makes the info that `onmessage` gets: the message's size and the unread bytes. Undefined for short messages, to save an object. */
  #toInfo(line: string): MessageInfo | undefined {
    const bytes = measureMessage(line);
    if (bytes === undefined && this.#unreadBytes === 0) return undefined;
    return { bytes: bytes ?? Buffer.byteLength(line), unreadBytes: this.#unreadBytes };
  }

  readonly #onInputError = (error: Error): void => {
    emitError(this, error);
    this.#onInputEnd();
  };

  readonly #onInputEnd = (): void => {
    if (this.#isInputEnded) return;
    this.#isInputEnded = true;
    this.#gate.end();
    this.#reader.end();
    if (this.#closing) return;
    if (this.#drainMs <= 0) return void this.#end('peer-ended');
    // The peer may end its stream after its last request and still wait for responses.
    this.#linger(this.#drainMs, 'peer-ended');
    this.#unanswered?.whenNone(() => void this.#end('peer-ended'));
  };

  readonly #onOutputError = (error: Error): void => {
    this.#writer?.stop(new ConnectionClosedError('The peer no longer reads messages', { cause: error }));
    // Messages that the peer sent before may still arrive.
    this.#linger(LINGER_MS, 'peer-gone');
  };

  #linger(delayMs: number, end: ChannelEnd): void {
    this.#lingerTimer?.cancel();
    this.#lingerTimer = this.#clock.schedule(() => void this.#end(end), delayMs, { keepAlive: true });
  }

  // ---- the end

  #end(end: ChannelEnd): Promise<void> {
    if (!this.#closing) this.#isPeerDone = end !== 'closed';
    // In a microtask, so that `#closing` is set before a callback can call `close` again.
    this.#closing ??= Promise.resolve().then(() => this.#finish(end));
    this.#gate.stop();
    this.#reader.stop();
    return this.#closing;
  }

  async #finish(end: ChannelEnd): Promise<void> {
    await this.#opening?.catch(() => undefined);
    this.#lingerTimer?.cancel();
    if (this.#channel) await this.#closeChannel(this.#channel, end);
    emitClose(this);
  }

  async #closeChannel(channel: ByteChannel, end: ChannelEnd): Promise<void> {
    if (end !== 'peer-gone') await this.#flush(end === 'closed' ? this.#flushMs : Math.min(this.#flushMs, PEER_ENDED_FLUSH_MS));
    this.#writer?.stop(new ConnectionClosedError());
    this.#detach(channel, end);
    try {
      await channel.release?.(end, this.#hasSpoken);
    } catch (error) {
      emitError(this, toError(error));
    }
  }

  async #flush(limitMs: number): Promise<void> {
    const idle = this.#writer?.idle();
    if (!idle) return;
    let timer: ClockTimer | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = this.#clock.schedule(resolve, limitMs, { keepAlive: true });
    });
    await Promise.race([idle, limit]);
    timer?.cancel();
  }
}

/** Converts a message to one line of text: JSON without newlines, then `\n`. */
export function frame(message: JsonRpcMessage): string {
  return `${serializeMessage(message)}\n`;
}

/** Parses a line as a message. If the line is not JSON, the error quotes its start, because such a line is usually printed text. */
function parse(line: string): JsonRpcMessage {
  try {
    return parseJson(line) as unknown as JsonRpcMessage;
  } catch (cause) {
    if (cause instanceof ParseError && cause.excess !== undefined) throw cause;
    const start = JSON.stringify(line.slice(0, QUOTED_CHARACTERS));
    const { message } = toError(cause);
    throw new ParseError(
      `${message}. The line begins with ${start}: only messages may be written to this stream. Write logs to standard error`,
      {
        cause,
      },
    );
  }
}

const QUOTED_CHARACTERS = 80;

/** How long messages from the peer are still read after writing to the peer has failed, in milliseconds. */
const LINGER_MS = 100;

/** How long a peer that has ended its stream may take to read the last responses, in milliseconds. */
const PEER_ENDED_FLUSH_MS = 200;

/** Ignores later errors of a closed transport's stream: an error without a listener would end the process. */
function ignoreErrors(stream: EventEmitter): void {
  if (!stream.listeners('error').includes(ignoreError)) stream.on('error', ignoreError);
}

function ignoreError(): void {
  // The transport is closed.
}
