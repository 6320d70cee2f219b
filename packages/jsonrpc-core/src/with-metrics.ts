/** Counts the messages of a transport and measures response times. */

import { checkOptions } from './check-options.ts';
import { type Clock, systemClock } from './clock.ts';
import { type Meter } from './instruments.ts';
import { classifyMessage, type JsonRpcMessage, type JsonRpcRequest, type JsonRpcResponse, type RequestId } from './message.ts';
import type { Transport, TransportFactory } from './transport/transport.ts';
import { type TransportHooks, watchMessages, wrapTransport } from './wrap-transport.ts';

/** The options of `withMetrics`. */
export interface MetricsOptions {
  /** Gets every count and duration. */
  readonly meter: Meter;
  /**
   * The value of the attribute `transport` of each measurement.
   *
   * @default 'transport'
   */
  readonly label?: string | undefined;
  /** The clock that measures how long requests take. @default systemClock */
  readonly clock?: Clock | undefined;
}

/** How many requests are timed at once. Further requests are only counted. */
const MAX_TIMED = 10_000;

/**
 * Counts messages (`mcp.transport.messages` by `direction` and `kind`), errors (`mcp.transport.errors`) and closes (`mcp.transport.closes`). Records
 * `mcp.transport.request_duration_ms` of the requests sent, by `method` and `outcome`.
 */
export function withMetrics<T extends Transport | TransportFactory>(inner: T, options: MetricsOptions): T {
  checkOptions('withMetrics options', options, { meter: 'object', label: 'string', clock: 'object' });
  return wrapTransport(inner, () => createHooks(options));
}

interface Timed {
  readonly method: string;
  readonly sinceMs: number;
}

function createHooks({ meter, label = 'transport', clock = systemClock }: MetricsOptions): TransportHooks {
  const timed = new Map<RequestId, Timed>();
  const watching = watchMessages((direction, message) => {
    const kind = Array.isArray(message) ? 'batch' : classifyMessage(message);
    meter.count('mcp.transport.messages', 1, { transport: label, direction, kind });
  });
  const record = ({ method, sinceMs }: Timed, outcome: string): void =>
    meter.record('mcp.transport.request_duration_ms', clock.monotonicMs() - sinceMs, { transport: label, method, outcome });
  const onSent = (message: JsonRpcMessage): void => {
    const { id, method, params } = message as Partial<JsonRpcRequest>;
    if (method === 'notifications/cancelled') timed.delete(params?.['requestId'] as RequestId);
    else if (method !== undefined && id !== undefined && timed.size < MAX_TIMED) timed.set(id, { method, sinceMs: clock.monotonicMs() });
  };
  const onReceived = (message: JsonRpcMessage): void => {
    if (classifyMessage(message) !== 'response') return;
    const { id } = message as JsonRpcResponse;
    const call = timed.get(id as RequestId);
    if (call && timed.delete(id as RequestId)) record(call, toOutcome(message as JsonRpcResponse));
  };
  return {
    send(message, sendOptions, next) {
      onSent(message);
      return watching.send(message, sendOptions, next);
    },
    receive(message, info, next) {
      onReceived(message);
      watching.receive(message, info, next);
    },
    async exchange(request, exchangeOptions, next) {
      // Concurrent exchanges may have equal ids, so each keeps its own start time.
      const call: Timed = { method: request.method, sinceMs: clock.monotonicMs() };
      try {
        const response = await watching.exchange(request, exchangeOptions, next);
        record(call, toOutcome(response));
        return response;
      } catch (error) {
        record(call, 'failed');
        throw error;
      }
    },
    error(error, next) {
      meter.count('mcp.transport.errors', 1, { transport: label });
      next(error);
    },
    close(next) {
      timed.clear();
      meter.count('mcp.transport.closes', 1, { transport: label });
      next();
    },
  };
}

function toOutcome(response: JsonRpcResponse): 'ok' | 'error' {
  return 'error' in response ? 'error' : 'ok';
}
