/** Writes down what passes over a transport, so that it can be looked at, or played again by `withReplay`. */

import type { Clock, JsonRpcMessage, Transport } from '@mortise/jsonrpc-core';
import { systemClock, type TransportFactory } from '@mortise/jsonrpc-core/transport';
import { wrapTransport } from '@mortise/jsonrpc-core/wrap';

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
  return wrapTransport(inner, {
    send(message, options, next) {
      note('sent', message);
      return next(message, options);
    },
    receive(message, info, next) {
      note('received', message);
      next(message, info);
    },
    async exchange(request, options, next) {
      note('sent', request);
      const response = await next(request, {
        ...options,
        onMessage(message) {
          note('received', message);
          options?.onMessage?.(message);
        },
      });
      note('received', response);
      return response;
    },
  });
}
