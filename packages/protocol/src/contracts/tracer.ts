/** Tracing of calls. By default nothing is traced; `@mortise/protocol/opentelemetry` has a tracer for OpenTelemetry. */

import type { JsonObject } from '@mortise/jsonrpc-core';

/** One span of a trace. */
export interface Span {
  setAttribute(name: string, value: string | number | boolean): void;
  recordError(error: unknown): void;
  end(): void;
  /** Gives the span's context as `_meta` members: `traceparent`, `tracestate`, `baggage`. */
  inject(): JsonObject;
}

/** Starts spans. */
export interface Tracer {
  /** Starts a span. @param parent The `_meta` of a peer's request; its trace context becomes the parent. */
  startSpan(name: string, kind: 'client' | 'server', parent?: JsonObject): Span;
  /** Runs `fn` with the span as the active span. */
  run<T>(span: Span, fn: () => T): T;
}
