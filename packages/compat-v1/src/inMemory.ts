/** `/inMemory`: a client and a server in one process. */

import type { Transport } from './shared/transport.ts';
import type { AuthInfo } from './types/auth-info.ts';
import type { JSONRPCMessage, MessageExtraInfo, RequestId } from './types.ts';

/** One end of a pair. Messages that arrive before `start` wait for it. */
export class InMemoryTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage, extra?: MessageExtraInfo) => void) | undefined;
  sessionId?: string;
  readonly #waiting: (readonly [JSONRPCMessage, MessageExtraInfo])[] = [];
  #other: InMemoryTransport | undefined;

  /** Makes two ends: one for the client, one for the server. */
  static createLinkedPair(): [InMemoryTransport, InMemoryTransport] {
    const [client, server] = [new InMemoryTransport(), new InMemoryTransport()];
    client.#other = server;
    server.#other = client;
    return [client, server];
  }

  async start(): Promise<void> {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) this.onmessage?.(...next);
  }

  /** Closes both ends. */
  async close(): Promise<void> {
    const other = this.#other;
    this.#other = undefined;
    await other?.close();
    this.onclose?.();
  }

  /**
   * @param options.authInfo Who the other end takes the sender for.
   * @throws {Error} The pair is closed.
   */
  async send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId | undefined; authInfo?: AuthInfo }): Promise<void> {
    if (!this.#other) throw new Error('Not connected');
    this.#other.#receive(message, { authInfo: options?.authInfo });
  }

  #receive(message: JSONRPCMessage, extra: MessageExtraInfo): void {
    if (this.onmessage) this.onmessage(message, extra);
    else this.#waiting.push([message, extra]);
  }
}
