/** The server's end of a pair whose server runs in another process: does there what it is told here. See `fixtures/relay-server.ts`. */

import { createServer, type Server, type Socket } from 'node:net';
import { ConnectionClosedError, type JsonRpcMessage, type Transport, UsageError } from '@mortise/jsonrpc-core';
import { eachLine } from './each-line.ts';

interface Event {
  readonly call?: number;
  readonly event?: 'message' | 'error' | 'close';
  readonly message?: unknown;
  readonly error?: string;
}

interface Call {
  resolve(): void;
  reject(error: Error): void;
}

export class RemoteEnd implements Transport {
  onmessage?: ((message: JsonRpcMessage) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  readonly #server: Server;
  readonly #socket: Promise<Socket>;
  readonly #calls = new Map<number, Call>();
  #callCount = 0;
  #isConnected = false;
  #isStarted = false;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  /** @param path The socket that the other process connects to. */
  constructor(path: string) {
    let resolveSocket: (socket: Socket) => void = () => undefined;
    this.#socket = new Promise((resolve) => {
      resolveSocket = resolve;
    });
    this.#server = createServer((socket) => {
      this.#isConnected = true;
      socket.on('error', () => undefined);
      socket.on('close', () => this.#end());
      eachLine(socket, (line) => this.#onEvent(JSON.parse(line) as Event));
      resolveSocket(socket);
    });
    this.#server.listen(path);
  }

  async start(): Promise<void> {
    await this.#call('start');
    this.#isStarted = true;
  }

  send(message: JsonRpcMessage): Promise<void> {
    if (!this.#isStarted) return Promise.reject(new UsageError('ERR_NOT_CONNECTED'));
    return this.#call('send', message);
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  /** Stops listening for the other process. */
  async dispose(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #close(): Promise<void> {
    if (this.#isClosed) return;
    // A process that never ran has nothing to close.
    if (!this.#isConnected && !this.#isStarted) return this.#end();
    await this.#call('close').catch(() => undefined);
    this.#end();
  }

  async #call(action: string, message?: JsonRpcMessage): Promise<void> {
    if (this.#isClosed) throw new ConnectionClosedError();
    const socket = await this.#socket;
    const call = ++this.#callCount;
    await new Promise<void>((resolve, reject) => {
      this.#calls.set(call, { resolve, reject });
      socket.write(`${JSON.stringify({ call, action, message })}\n`);
    });
  }

  #onEvent({ call, event, message, error }: Event): void {
    if (event === 'message') this.#tell(message as JsonRpcMessage);
    else if (event === 'error') this.onerror?.(new Error(String(message)));
    else if (event === 'close') this.#end();
    else if (call !== undefined) {
      if (error === undefined) this.#calls.get(call)?.resolve();
      else this.#calls.get(call)?.reject(new Error(error));
      this.#calls.delete(call);
    }
  }

  #tell(message: JsonRpcMessage): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.#report(error as Error);
    }
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { reject } of this.#calls.values()) reject(new ConnectionClosedError());
    this.#calls.clear();
    try {
      this.onclose?.();
    } catch (error) {
      this.#report(error as Error);
    }
  }

  #report(error: Error): void {
    try {
      this.onerror?.(error);
    } catch {
      // As a transport does.
    }
  }
}
