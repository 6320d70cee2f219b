/** Joins calls into traces. The default does nothing; an adapter for OpenTelemetry is an entry of its own. */

import type { JsonObject } from '@mortise/jsonrpc-core';

/** One span of a trace. */
export interface Span {
  setAttribute(name: string, value: string | number | boolean): void;
  recordError(error: unknown): void;
  end(): void;
  /** The span's context as `_meta` members: `traceparent`, `tracestate`, `baggage`. */
  inject(): JsonObject;
}

/** Opens spans. */
export interface Tracer {
  /** @param parent The `_meta` that a peer sent, whose trace context is continued. */
  startSpan(name: string, kind: 'client' | 'server', parent?: JsonObject): Span;
  /** Runs `fn` with the span as the current one. */
  run<T>(span: Span, fn: () => T): T;
}
