/** Writes down what passes over a transport, so that it can be looked at, or played again by `withReplay`. */

import type { Clock, JsonRpcMessage, Transport } from '@mortise/jsonrpc-core';
import { systemClock, type TransportFactory } from '@mortise/jsonrpc-core/transport';
import { watchMessages, wrapTransport } from '@mortise/jsonrpc-core/wrap';

/** One message on its way. Plain JSON: one a line makes a good file. */
export interface RecordedMessage {
  readonly direction: 'sent' | 'received';
  readonly message: JsonRpcMessage;
  /** Milliseconds since the first message. */
  readonly atMs: number;
}

/**
 * Hands a copy of every message to `record`, in the order in which they pass. Exchanges are recorded like messages of a channel.
 *
 * Recordings hold whatever the messages hold, secrets too.
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
