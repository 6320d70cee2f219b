/**
 * `@mortise/protocol/opentelemetry`: a `Tracer` for OpenTelemetry, for the `tracer` option of servers and clients. Only this entry
 * needs `@opentelemetry/api`, an optional peer dependency.
 */

import { type Context, context, type Span as OtelSpan, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Span, Tracer } from './contracts/tracer.ts';
import { readTraceContext, writeTraceContext } from './opentelemetry/trace-context.ts';

/** The name of the OpenTelemetry instrumentation scope of all spans. */
const SCOPE = '@mortise/protocol';

/**
 * Creates a tracer that starts its spans with the globally registered tracer provider.
 *
 * The trace context is sent in `_meta` in the W3C formats; the registered propagator is not used. A span without a parent from the
 * peer becomes a child of the active span.
 *
 * ```ts
 * const server = new McpServer(info, { tracer: createOpenTelemetryTracer() });
 * ```
 *
 * @see 2026-07-28 basic/index#meta
 */
export function createOpenTelemetryTracer(): Tracer {
  return {
    startSpan(spanName, kind, parent) {
      // Looked up for each span, so that a provider registered later is used too.
      const tracer = trace.getTracer(SCOPE);
      const around = parent ? readTraceContext(context.active(), parent) : context.active();
      const span = tracer.startSpan(spanName, { kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.SERVER }, around);
      return new OpenTelemetrySpan(span, trace.setSpan(around, span));
    },
    run: (span, fn) => (span instanceof OpenTelemetrySpan ? context.with(span.context, fn) : fn()),
  };
}

class OpenTelemetrySpan implements Span {
  readonly context: Context;
  readonly #span: OtelSpan;

  constructor(span: OtelSpan, around: Context) {
    this.#span = span;
    this.context = around;
  }

  setAttribute(name: string, value: string | number | boolean): void {
    this.#span.setAttribute(name, value);
  }

  recordError(error: unknown): void {
    const isError = error instanceof Error;
    this.#span.recordException(isError ? error : String(error));
    this.#span.setAttribute('error.type', isError ? error.name : typeof error);
    this.#span.setStatus({ code: SpanStatusCode.ERROR, message: isError ? error.message : String(error) });
  }

  end(): void {
    this.#span.end();
  }

  inject(): JsonObject {
    return writeTraceContext(this.context);
  }
}
