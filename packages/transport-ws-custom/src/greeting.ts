/** The first frame of a socket, read before anyone else listens. */

import type { Clock } from '@mortise/jsonrpc-core';
import { CloseCode } from './close-codes.ts';
import { FrameError, PeerUnresponsiveError, SocketClosedError } from './errors.ts';
import type { MessageSocket, SocketListener } from './message-socket.ts';

/** The first text, and the texts that came with it. */
export interface Greeting {
  readonly first: string;
  readonly rest: readonly string[];
}

/**
 * Waits for the first text.
 *
 * @throws {SocketClosedError} It ended before. {PeerUnresponsiveError} Nothing came in time; the socket is then ended. {FrameError} It was not text.
 */
export async function readGreeting(socket: MessageSocket, timeoutMs: number, clock: Clock, signal: AbortSignal): Promise<Greeting> {
  const reader = new GreetingReader(socket);
  const timer = clock.schedule(
    () => reader.fail(new PeerUnresponsiveError(`The peer did not say hello within ${timeoutMs} ms`)),
    timeoutMs,
  );
  const onAbort = (): void => reader.fail(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    socket.listen(reader);
    return await reader.greeting;
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', onAbort);
  }
}

class GreetingReader implements SocketListener {
  readonly greeting: Promise<Greeting>;
  readonly #socket: MessageSocket;
  readonly #rest: string[] = [];
  #resolve: (greeting: Greeting) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  #hasFirst = false;

  constructor(socket: MessageSocket) {
    this.#socket = socket;
    this.greeting = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Whoever waits is told; nobody has to wait.
    this.greeting.catch(() => undefined);
  }

  fail(error: Error): void {
    this.#socket.terminate();
    this.#reject(error);
  }

  onText(text: string): void {
    if (this.#hasFirst) return void this.#rest.push(text);
    this.#hasFirst = true;
    this.#socket.pause();
    this.#resolve({ first: text, rest: this.#rest });
  }

  onBinary(): void {
    this.fail(new FrameError('The peer sent a binary frame: MCP travels in text frames'));
  }

  onError(error: Error): void {
    this.#reject(error);
  }

  onRoom(): void {
    // Nothing waits yet.
  }

  onEnd(code: number, reason: string): void {
    this.#reject(new SocketClosedError(code === CloseCode.normal ? CloseCode.abnormal : code, reason));
  }
}
