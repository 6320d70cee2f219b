/** `/client/websocket`: the client transport for WebSocket. */

import { type WebSocketTransport, webSocketTransport } from '@mortise/transport-ws-custom/client';
import type { Transport } from '../shared/transport.ts';
import type { JSONRPCMessage } from '../types.ts';

/** The client transport for WebSocket, which no revision of the specification has. */
export class WebSocketClientTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  readonly #own: WebSocketTransport;

  constructor(url: URL) {
    this.#own = webSocketTransport(url);
    this.#own.onmessage = (message) => this.onmessage?.(message as JSONRPCMessage);
    this.#own.onerror = (error) => this.onerror?.(error);
    this.#own.onclose = () => this.onclose?.();
  }

  start(): Promise<void> {
    return this.#own.start();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#own.send(message as Parameters<WebSocketTransport['send']>[0]);
  }

  close(): Promise<void> {
    return this.#own.close();
  }
}
