/** `withRecord`: records the messages of a transport, to inspect them or to play them back with `withReplay`. */

import type { Clock, JsonRpcMessage, Transport } from '@mortise/jsonrpc-core';
import { systemClock, type TransportFactory } from '@mortise/jsonrpc-core/transport';
import { watchMessages, wrapTransport } from '@mortise/jsonrpc-core/wrap';

/** One recorded message. Plain JSON, so that a file can hold one a line. */
export interface RecordedMessage {
  readonly direction: 'sent' | 'received';
  readonly message: JsonRpcMessage;
  /** Milliseconds since the first message. */
  readonly atMs: number;
}

/**
 * Calls `record` with a copy of every message, in order. Exchanges are recorded like other messages.
 *
 * Recordings contain the whole messages, secrets included.
 */
export function withRecord<T extends Transport | TransportFactory>(
  inner: T,
  record: (entry: RecordedMessage) => void,
  clock: Clock = systemClock,
): T {
  let startMs: number | undefined;
  const note = (direction: RecordedMessage['direction'], message: JsonRpcMessage): void => {
    const nowMs = clock.monotonicMs();
    startMs ??= nowMs;
    record({ direction, message: structuredClone(message), atMs: nowMs - startMs });
  };
  return wrapTransport(
    inner,
    watchMessages((direction, message) => note(direction === 'out' ? 'sent' : 'received', message)),
  );
}
