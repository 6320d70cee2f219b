/**
 * The channel of the legacy era to a server of whom only the address is known: Streamable HTTP, or HTTP+SSE where `initialize` is refused
 * as a server of that kind refuses it.
 *
 * @see 2025-11-25 basic/transports#backwards-compatibility
 */

import type { JsonRpcMessage, JsonRpcRequest, Transport } from '@mortise/jsonrpc-core';
import { METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import type { MessageInfo, SendOptions, WaitingCaller } from '@mortise/jsonrpc-core/transport';
import { isModernError } from '@mortise/protocol/wire';
import type { HttpFailure } from '../http-failure.ts';
import type { HttpTransportOptions } from '../http-transport-options.ts';
import type { Wire } from '../wire.ts';
import { type LegacySettings, type Lineage, toLegacySettings } from './legacy-settings.ts';
import { type SavedSession, SessionChannel } from './session-channel.ts';
import { SseChannel } from './sse-channel.ts';

export class LegacyChannel implements Transport {
  onmessage?: ((message: JsonRpcMessage, info?: MessageInfo) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  readonly #wire: Wire;
  readonly #settings: LegacySettings;
  readonly #session: SessionChannel;
  #sse: SseChannel | undefined;
  /** The one of the two that is spoken through. */
  #active: Transport;

  /** @param options Names the session that is gone on with, where there is one. */
  constructor(wire: Wire, options: HttpTransportOptions & SavedSession, lineage: Lineage) {
    const settings = toLegacySettings(options, lineage);
    this.#wire = wire;
    this.#settings = settings;
    this.#session = new SessionChannel(wire, settings, options);
    this.#active = this.#session;
    this.#listen(this.#session);
    if (settings.sseFallback) this.#session.fallback = (message, failure, caller) => this.#trySse(message, failure, caller);
  }

  get sessionId(): string | undefined {
    return this.#session.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#session.setProtocolVersion(version);
  }

  start(): Promise<void> {
    return this.#session.start();
  }

  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    return this.#active.send(message, options);
  }

  /** Ends the session at the server. */
  terminateSession(): Promise<void> {
    return this.#session.terminateSession();
  }

  async close(): Promise<void> {
    await Promise.all([this.#session.close(), this.#sse?.close()]);
  }

  #listen(inner: Transport): void {
    inner.onmessage = (message, info) => this.onmessage?.(message, info);
    inner.onerror = (error) => this.onerror?.(error);
    inner.onclose = () => {
      if (this.#active === inner) this.onclose?.();
    };
  }

  async #trySse(message: JsonRpcRequest, failure: HttpFailure, caller: WaitingCaller | undefined): Promise<boolean> {
    if (!mayBeSse(failure)) return false;
    const sse = new SseChannel(this.#wire, this.#settings);
    this.#sse = sse;
    this.#listen(sse);
    try {
      await sse.start(caller);
    } catch {
      // Not that kind of server either: what it said first is what counts.
      return false;
    }
    this.#active = sse;
    await sse.send(message, caller);
    return true;
  }
}

/** Only 400, 404 and 405, and only where the body is not the error of a modern server: an unknown method is one (ledger C-03). */
function mayBeSse({ status, error: { rpcError } }: HttpFailure): boolean {
  if (status !== 400 && status !== 404 && status !== 405) return false;
  return rpcError === undefined || !(isModernError(rpcError.code) || rpcError.code === METHOD_NOT_FOUND);
}
