/** `withReplay`: a transport that plays back the messages that a peer sent in a recording. */

import { ConnectionClosedError, type JsonObject, type JsonRpcMessage, type Transport, UsageError } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { createCallableTransport, type TransportFactory } from '@mortise/jsonrpc-core/transport';
import { KitFailure } from '../check.ts';
import type { RecordedMessage } from './with-record.ts';

/**
 * Makes a transport that plays back the messages of a recorded peer. Calling the transport as a function makes a further one.
 *
 * Sent messages must equal the recorded ones, in the same order. Ids and progress tokens may differ; replayed messages use the new ones. If
 * a sent message differs, `send` rejects with a `KitFailure` that shows both.
 */
export function withReplay(recording: readonly RecordedMessage[]): Transport & TransportFactory {
  return createCallableTransport(new ReplayTransport(recording), () => new ReplayTransport(recording));
}

class ReplayTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  readonly #entries: readonly RecordedMessage[];
  /** Maps the ids and progress tokens in the recording to those of the current messages. */
  readonly #ids = new Map<unknown, unknown>();
  #position = 0;
  #state: 'new' | 'open' | 'closed' = 'new';

  constructor(entries: readonly RecordedMessage[]) {
    this.#entries = entries;
  }

  async start(): Promise<void> {
    if (this.#state === 'open') throw new UsageError('ERR_ALREADY_STARTED');
    if (this.#state === 'closed') throw new ConnectionClosedError();
    this.#state = 'open';
    this.#schedule();
  }

  async send(message: JsonRpcMessage): Promise<void> {
    if (this.#state === 'new') throw new UsageError('ERR_NOT_CONNECTED');
    if (this.#state === 'closed') throw new ConnectionClosedError();
    const entry = this.#entries[this.#position];
    if (entry?.direction !== 'sent')
      throw new KitFailure(`The recording has no sent message here, but this was sent: ${JSON.stringify(message)}`);
    this.#learn(entry.message, message);
    const [expected, actual] = [canonical(this.#translate(entry.message)), canonical(message)];
    if (expected !== actual) throw new KitFailure(`The sent message differs from the recording. Recorded: ${expected}. Sent: ${actual}`);
    this.#position++;
    this.#schedule();
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    await Promise.resolve();
    this.onclose?.();
  }

  /** Delivers the messages of the recorded peer that come before the next message to be sent. */
  #schedule(): void {
    if (this.#entries[this.#position]?.direction !== 'received') return;
    queueMicrotask(() => {
      const entry = this.#entries[this.#position];
      if (this.#state !== 'open' || entry?.direction !== 'received') return;
      this.#position++;
      this.#schedule();
      try {
        this.onmessage?.(this.#translate(entry.message));
      } catch (error) {
        this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  #learn(recorded: JsonRpcMessage, sent: JsonRpcMessage): void {
    if (!('method' in recorded && 'method' in sent)) return;
    if ('id' in recorded && 'id' in sent) this.#ids.set(recorded.id, sent.id);
    const [before, now] = [progressTokenOf(recorded.params), progressTokenOf(sent.params)];
    if (before !== undefined && now !== undefined) this.#ids.set(before, now);
  }

  /** Replaces the ids and progress tokens in a recorded message by the current ones. */
  #translate(message: JsonRpcMessage): JsonRpcMessage {
    const translated: Record<string, unknown> = { ...message };
    const isOurs = 'method' in message ? this.#isSent(message) : !this.#isSent(message);
    if (isOurs && 'id' in message) translated['id'] = this.#idFor(message.id);
    if ('params' in message && message.params) translated['params'] = this.#translateParams(message.params);
    return translated as unknown as JsonRpcMessage;
  }

  #translateParams(params: JsonObject): JsonObject {
    const translated: Record<string, unknown> = { ...params };
    for (const key of ['requestId', 'progressToken']) if (key in params) translated[key] = this.#idFor(params[key]);
    if (isJsonObject(params['_meta'])) {
      const meta: Record<string, unknown> = { ...params['_meta'] };
      for (const key of ['progressToken', SUBSCRIPTION_ID]) if (key in meta) meta[key] = this.#idFor(meta[key]);
      translated['_meta'] = meta;
    }
    return translated as JsonObject;
  }

  #isSent(message: JsonRpcMessage): boolean {
    return this.#entries.some((entry) => entry.message === message && entry.direction === 'sent');
  }

  #idFor(recorded: unknown): unknown {
    return this.#ids.has(recorded) ? this.#ids.get(recorded) : recorded;
  }
}

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

function progressTokenOf(params: JsonObject | undefined): unknown {
  const meta = params?.['_meta'];
  return isJsonObject(meta) ? meta['progressToken'] : undefined;
}

/** Converts a message to JSON with sorted keys, so that equal messages have equal texts. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1))) : member,
  );
}
