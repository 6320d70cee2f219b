/** `withRecord`: records the messages of a transport, to inspect them or to play them back with `withReplay`. */

import type { Clock, JsonRpcMessage, Transport } from '@mortise/jsonrpc-core';
import { systemClock, type TransportFactory } from '@mortise/jsonrpc-core/transport';
import { watchMessages, wrapTransport } from '@mortise/jsonrpc-core/wrap';

/** One recorded message. It is plain JSON, so that a file can store one message a line. */
export interface RecordedMessage {
  readonly direction: 'sent' | 'received';
  readonly message: JsonRpcMessage;
  /** When the message was sent or received, in milliseconds since the first message. */
  readonly atMs: number;
}

/**
 * Wraps a transport so that `record` is called with a copy of every message, in order, including the messages of exchanges.
 *
 * Recordings contain the whole messages, including any secrets in them.
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
