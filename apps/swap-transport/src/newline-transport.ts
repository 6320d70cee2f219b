/** A transport from zero: one JSON message per line, over a Unix domain or TCP socket. */

import type { Socket } from 'node:net';
import {
  ConnectionClosedError,
  type JsonRpcMessage,
  MessageTooLargeError,
  ParseError,
  type Transport,
  UsageError,
} from '@mortise/jsonrpc-core';
import { parseJson, serializeMessage } from '@mortise/jsonrpc-core/messages';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';

const NEWLINE = 0x0a;
const MAX_QUEUED_BYTES = 1024 * 1024;
const CLOSE_MS = 500;

export class NewlineTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;

  readonly #open: () => Promise<Socket>;
  readonly #maxMessageBytes: number;
  readonly #waiters: { resolve(): void; reject(error: Error): void }[] = [];
  #opening: Promise<Socket> | undefined;
  #socket: Socket | undefined;
  #closing: Promise<void> | undefined;
  /** The pieces of the line that is being read. */
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(open: () => Promise<Socket>, { maxMessageBytes = 16 * 1024 * 1024 }: { maxMessageBytes?: number | undefined } = {}) {
    this.#open = open;
    this.#maxMessageBytes = maxMessageBytes;
  }

  async start(): Promise<void> {
    if (this.#closing) throw new ConnectionClosedError();
    if (this.#opening) throw new UsageError('ERR_ALREADY_STARTED');
    this.#opening = this.#open();
    this.#opening.catch(() => void this.close());
    const socket = await this.#opening;
    if (this.#closing) throw new ConnectionClosedError('The transport was closed while it was being opened');
    this.#socket = socket;
    socket.on('drain', () => this.#settleWaiters());
    socket.on('error', (error) => this.#attempt(() => this.onerror?.(error)));
    socket.on('close', () => void this.close());
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    // The program may have paused it so that nothing is lost before `start`.
    socket.resume();
    if (socket.destroyed) void this.close();
  }

  send(message: JsonRpcMessage): Promise<void> {
    if (this.#closing) return Promise.reject(new ConnectionClosedError());
    const socket = this.#socket;
    if (!socket) return Promise.reject(new UsageError('ERR_NOT_CONNECTED'));
    try {
      socket.write(`${serializeMessage(message)}\n`);
    } catch (error) {
      return Promise.reject(error);
    }
    if (socket.writableLength <= MAX_QUEUED_BYTES) return resolvedPromise;
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  close(): Promise<void> {
    // Later, so that a callback that calls `close` gets this promise.
    this.#closing ??= Promise.resolve().then(() => this.#finish());
    return this.#closing;
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      this.#deliver();
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  /** Keeps a piece of a line, but nothing of a line that is too long. */
  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#maxMessageBytes) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  #deliver(): void {
    const [line, length] = [Buffer.concat(this.#pieces), this.#length];
    this.#pieces = [];
    this.#length = 0;
    if (this.#closing || length === 0) return;
    this.#attempt(() => {
      if (length > this.#maxMessageBytes) throw new MessageTooLargeError(this.#maxMessageBytes);
      this.onmessage?.(parseJson(decode(line)));
    });
  }

  #settleWaiters(error?: Error): void {
    for (const { resolve, reject } of this.#waiters.splice(0)) {
      if (error) reject(error);
      else resolve();
    }
  }

  async #finish(): Promise<void> {
    const socket = this.#socket ?? (await this.#opening?.catch(() => undefined));
    if (socket && !socket.destroyed) await endSocket(socket);
    this.#settleWaiters(new ConnectionClosedError());
    this.#attempt(() => this.onclose?.());
  }

  /** Calls a callback of the program. `onerror` gets what it throws; what `onerror` throws is dropped. */
  #attempt(fn: () => void): void {
    try {
      fn();
    } catch (thrown) {
      try {
        this.onerror?.(thrown instanceof Error ? thrown : new Error('A value that is not an error was thrown', { cause: thrown }));
      } catch {
        // No callback is left that could get it.
      }
    }
  }
}

/** Sends what is queued, then ends the stream. A peer that does not read is cut off after a while. */
async function endSocket(socket: Socket): Promise<void> {
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const timer = setTimeout(() => socket.destroy(), CLOSE_MS);
  socket.on('error', () => undefined);
  socket.resume();
  socket.end();
  await closed;
  clearTimeout(timer);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(line: Buffer): string {
  try {
    return utf8.decode(line);
  } catch (cause) {
    throw new ParseError('The line is not UTF-8', { cause });
  }
}
