/** A span around each request, with its context in the request's `_meta`, and a span around each answer. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Span, Tracer } from '@mortise/protocol/contracts';

/** The call that a span stands for. */
export interface TracedCall {
  readonly method: string;
  /** A tool's or prompt's name, a resource's URI. */
  readonly target?: string | undefined;
  readonly protocolVersion: string;
}

/**
 * Runs a request within a span of its own.
 *
 * @param send Gets the `_meta` members that continue the trace at the server.
 * @see 2026-07-28 basic/index#meta
 */
export function traceCall<T>(tracer: Tracer, call: TracedCall, send: (context: JsonObject) => Promise<T>): Promise<T> {
  const span = open(tracer, 'client', call);
  return settle(span, () => tracer.run(span, () => send(span.inject())));
}

/** Runs the answering of a server's request within a span that continues the server's trace. */
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
