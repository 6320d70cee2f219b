/** A transport with v1's interface as one of ours. Tells of each message, and of the end, before the connection above it hears of it. */

import type { JsonRpcMessage, Transport as OurTransport } from '@mortise/jsonrpc-core';
import type { MessageInfo, SendOptions } from '@mortise/jsonrpc-core/transport';
import type { JSONRPCMessage, MessageExtraInfo } from '../types.ts';
import type { Transport } from './transport.ts';

export interface TransportWatcher {
  /** Called with each message. `deliver` passes it on. */
  onMessage(message: JSONRPCMessage, extra: MessageExtraInfo | undefined, deliver: (info?: MessageInfo) => void): void;
  onError(error: Error): void;
  /** Called after the connection above has ended. */
  onClose(): void;
}

export class AdaptedTransport implements OurTransport {
  onmessage?: OurTransport['onmessage'];
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  readonly setProtocolVersion?: (version: string) => void;
  readonly #inner: Transport;
  readonly #watcher: TransportWatcher;

  constructor(inner: Transport, watcher: TransportWatcher) {
    this.#inner = inner;
    this.#watcher = watcher;
    if (inner.setProtocolVersion) this.setProtocolVersion = (version) => inner.setProtocolVersion?.(version);
  }

  /** Names no server: v1 keeps no memory of servers. A client that asks its memory learns that v1's handshake comes first. */
  get eraKey(): string {
    return 'https://compat-v1.invalid';
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  /** Starts the transport. The callbacks that the program has set on it are called first. */
  start(): Promise<void> {
    const inner = this.#inner;
    const { onmessage, onerror, onclose } = inner;
    inner.onmessage = (message, extra) => {
      onmessage?.call(inner, message, extra);
      this.#watcher.onMessage(message, extra, (info) => this.onmessage?.(message as JsonRpcMessage, info));
    };
    inner.onerror = (error) => {
      onerror?.call(inner, error);
      this.onerror?.(error);
      this.#watcher.onError(error);
    };
    inner.onclose = () => {
      onclose?.call(inner);
      this.onclose?.();
      this.#watcher.onClose();
    };
    return inner.start();
  }

  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    const { relatedRequestId } = options ?? {};
    const sent = message as JSONRPCMessage;
    if (!('method' in sent)) return this.#inner.send(sent);
    return this.#inner.send(sent, 'id' in sent || relatedRequestId !== undefined ? { relatedRequestId } : undefined);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
