/** Traces and metrics of one process for OpenTelemetry: sent to a collector by OTLP over HTTP, or printed. */

import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { ConsoleMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor, ConsoleSpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Meter } from '@mortise/jsonrpc-core';
import type { Tracer } from '@mortise/protocol/contracts';
import { createOpenTelemetryTracer } from '@mortise/protocol/opentelemetry';
import type { Middleware } from '@mortise/server/middleware';
import type { HttpHandler } from '@mortise/transport-http/server';

export interface Telemetry {
  readonly tracer: Tracer;
  /** Counts what becomes of tasks. */
  readonly meter: Meter;
  /** Measures how long requests take. */
  readonly middleware: Middleware;
  /** Reports what a handler has open. */
  watch(handler: HttpHandler): void;
  /** Sends what has not been sent yet. */
  close(): Promise<void>;
}

const EXPORT_EVERY_MS = 10_000;
/** A collector that is down must not keep a process from ending. */
const TIMEOUT_MS = 2_000;

/** @param to The URL of a collector, such as `http://127.0.0.1:4318`, or `console`. */
export function startTelemetry(to: string, service: string): Telemetry {
  const resource = resourceFromAttributes({ 'service.name': service, 'service.instance.id': crypto.randomUUID() });
  const toCollector = (signal: string) => ({ url: `${to.replace(/\/$/, '')}/v1/${signal}`, timeoutMillis: TIMEOUT_MS });
  const spans = to === 'console' ? new ConsoleSpanExporter() : new OTLPTraceExporter(toCollector('traces'));
  const values = to === 'console' ? new ConsoleMetricExporter() : new OTLPMetricExporter(toCollector('metrics'));
  const reader = new PeriodicExportingMetricReader({
    exporter: values,
    exportIntervalMillis: EXPORT_EVERY_MS,
    exportTimeoutMillis: TIMEOUT_MS,
  });
  const traces = new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(spans)] });
  const meters = new MeterProvider({ resource, readers: [reader] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(traces);
  metrics.setGlobalMeterProvider(meters);

  const meter = meters.getMeter('many-machines');
  // The name, unit and attributes of OpenTelemetry's conventions for MCP.
  const duration = meter.createHistogram('mcp.server.operation.duration', { unit: 's' });
  const middleware: Middleware = async ({ method, target }, next) => {
    const fromMs = performance.now();
    const attributes = { 'mcp.method.name': method, ...(method === 'tools/call' && { 'gen_ai.tool.name': target }) };
    const record = (more: { readonly 'error.type'?: string }): void =>
      duration.record((performance.now() - fromMs) / 1000, { ...attributes, ...more });
    try {
      const result = await next();
      record(result['isError'] === true ? { 'error.type': 'tool_error' } : {});
      return result;
    } catch (error) {
      record({ 'error.type': error instanceof Error ? error.name : typeof error });
      throw error;
    }
  };
  return {
    tracer: createOpenTelemetryTracer(),
    // An instrument that is there already is used again.
    meter: {
      count: (name, value, attributes) => meter.createCounter(name).add(value, attributes),
      record: (name, value, attributes) => meter.createHistogram(name).record(value, attributes),
    },
    middleware,
    watch(handler) {
      for (const name of ['sessions', 'streams', 'calls'] as const)
        meter.createObservableGauge(`many_machines.open_${name}`).addCallback((result) => result.observe(handler.counts[name]));
    },
    async close() {
      await Promise.allSettled([traces.shutdown(), meters.shutdown()]);
    },
  };
}
