/** OpenTelemetry spans: one around each request, whose trace context goes into `_meta`, and one around each answer to the server. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Span, Tracer } from '@mortise/protocol/contracts';

/** What a span records about a request. */
export interface TracedCall {
  readonly method: string;
  /** The tool's or prompt's name, or the resource's URI. */
  readonly target?: string | undefined;
  readonly protocolVersion: string;
}

/**
 * Sends a request inside a new client span.
 *
 * @param send Called with the trace context, as `_meta` members for the request.
 * @see 2026-07-28 basic/index#meta
 */
export function traceCall<T>(tracer: Tracer, call: TracedCall, send: (context: JsonObject) => Promise<T>): Promise<T> {
  const span = open(tracer, 'client', call);
  return settle(span, () => tracer.run(span, () => send(span.inject())));
}

/** Answers a server's request inside a span that continues the server's trace. */
export function traceAnswer<T>(tracer: Tracer, call: TracedCall, parent: JsonObject | undefined, answer: () => Promise<T>): Promise<T> {
  const span = open(tracer, 'server', call, parent);
  return settle(span, () => tracer.run(span, answer));
}

function open(tracer: Tracer, kind: 'client' | 'server', { method, target, protocolVersion }: TracedCall, parent?: JsonObject): Span {
  const span = tracer.startSpan(target === undefined ? method : `${method} ${target}`, kind, parent);
  span.setAttribute('rpc.system', 'jsonrpc');
  span.setAttribute('mcp.method.name', method);
  span.setAttribute('mcp.protocol.version', protocolVersion);
  if (method === 'tools/call' && target !== undefined) span.setAttribute('gen_ai.tool.name', target);
  if (method === 'prompts/get' && target !== undefined) span.setAttribute('gen_ai.prompt.name', target);
  if (method.startsWith('resources/') && target !== undefined) span.setAttribute('mcp.resource.uri', target);
  return span;
}

async function settle<T>(span: Span, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    span.recordError(error);
    throw error;
  } finally {
    span.end();
  }
}
