/** Interfaces for tracing requests. By default nothing is traced; `@mortise/protocol/opentelemetry` has a tracer for OpenTelemetry. */

import type { JsonObject } from '@mortise/jsonrpc-core';

/** One span of a trace: a timed operation with attributes. */
export interface Span {
  setAttribute(name: string, value: string | number | boolean): void;
  recordError(error: unknown): void;
  end(): void;
  /** Returns the span's trace context as members for `_meta`: `traceparent`, `tracestate`, `baggage`. */
  inject(): JsonObject;
}

/** Starts the spans of traces. Servers and clients get it as their `tracer` option. */
export interface Tracer {
  /** Starts a span. @param parent The `_meta` of a peer's request, whose trace context becomes the span's parent. */
  startSpan(name: string, kind: 'client' | 'server', parent?: JsonObject): Span;
  /** Calls `fn` with the given span as the active one, and returns what `fn` returns. */
  run<T>(span: Span, fn: () => T): T;
}
