/** Spans of OpenTelemetry behind the `Tracer` contract. */

import { type Context, context, type Span as OtelSpan, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Span, Tracer } from '../contracts/tracer.ts';
import { readTraceContext, writeTraceContext } from './trace-context.ts';

/** Names the instrumentation to OpenTelemetry. */
export interface OpenTelemetryOptions {
  /** The name of the instrumentation scope. @default '@mortise/protocol' */
  readonly name?: string | undefined;
  /** The version of the instrumentation scope. @default none */
  readonly version?: string | undefined;
}

/**
 * Gives a tracer that opens its spans at the globally registered tracer provider.
 *
 * The context travels in `_meta` in the W3C formats, whichever propagator is registered. A span without a parent from the wire is a
 * child of the active one.
 *
 * ```ts
 * const server = new McpServer(info, { tracer: createOpenTelemetryTracer() });
 * ```
 *
 * @see 2026-07-28 basic/index#meta
 */
export function createOpenTelemetryTracer({ name = '@mortise/protocol', version }: OpenTelemetryOptions = {}): Tracer {
  return {
    startSpan(spanName, kind, parent) {
      // Asked for each time: a provider that is registered later is found too.
      const tracer = trace.getTracer(name, version);
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
