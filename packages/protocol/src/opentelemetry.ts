/**
 * `@mortise/protocol/opentelemetry`: a `Tracer` on OpenTelemetry, for the `tracer` option of servers and clients. The one entry that
 * needs `@opentelemetry/api`, an optional peer.
 */

export { createOpenTelemetryTracer, type OpenTelemetryOptions } from './opentelemetry/create-tracer.ts';
