/** Opens a trace span around each request, and around each request to the client. */

import type { JsonObject, JsonRpcResponse } from '@mortise/jsonrpc-core';
import type { Revision } from '@mortise/protocol';
import type { Span, Tracer } from '@mortise/protocol/contracts';
import type { Context } from './context.ts';
import type { Served } from './serve-request.ts';

/**
 * Serves a request within a span that continues the trace named in the request's `_meta`.
 *
 * @see 2026-07-28 basic/index#meta
 */
export function traceRequest(tracer: Tracer, context: Context, serve: () => Served): Served {
  const { method, target } = context;
  const span = tracer.startSpan(target === undefined ? method : `${method} ${target}`, 'server', context.meta);
  context.span = span;
  describe(span, method, context.revision);
  describeRequest(span, context);
  const served = tracer.run(span, serve);
  if (!(served instanceof Promise)) return conclude(span, served, context);
  return served.then((response) => conclude(span, response, context));
}

/**
 * Sends a request to the client within its own span, a child of the span of the client's call.
 *
 * @param send Called with the params, which include the trace context.
 */
export async function traceAsk(
  { method, params }: { readonly method: string; readonly params?: JsonObject | undefined },
  { server, span: parent, revision }: Context,
  send: (params: JsonObject | undefined) => Promise<JsonObject>,
): Promise<JsonObject> {
  const span = parent && server.options.tracer?.startSpan(method, 'client', parent.inject());
  if (!span) return send(params);
  describe(span, method, revision);
  const carried = span.inject();
  const isEmpty = Object.keys(carried).length === 0;
  try {
    return await send(isEmpty ? params : { ...params, _meta: { ...(params?.['_meta'] as JsonObject | undefined), ...carried } });
  } catch (error) {
    span.recordError(error);
    throw error;
  } finally {
    span.end();
  }
}

/** Sets a span's attributes by OpenTelemetry's semantic conventions for MCP. */
function describe(span: Span, method: string, revision: Revision): void {
  span.setAttribute('rpc.system', 'jsonrpc');
  span.setAttribute('mcp.method.name', method);
  span.setAttribute('mcp.protocol.version', revision.version);
}

function describeRequest(span: Span, { method, target, requestId, sessionId }: Context): void {
  span.setAttribute('jsonrpc.request.id', String(requestId));
  if (sessionId !== undefined) span.setAttribute('mcp.session.id', sessionId);
  if (target === undefined) return;
  if (method === 'tools/call') span.setAttribute('gen_ai.tool.name', target);
  if (method === 'prompts/get') span.setAttribute('gen_ai.prompt.name', target);
  if (method.startsWith('resources/')) span.setAttribute('mcp.resource.uri', target);
}

/** Ends the span of a request. If the tracer throws, the request still gets its response. */
function conclude(span: Span, response: JsonRpcResponse, { server }: Context): JsonRpcResponse {
  try {
    if ('error' in response) span.setAttribute('rpc.response.status_code', String(response.error.code));
    else if (response.result['isError'] === true) span.setAttribute('error.type', 'tool_error');
    else if (response.result['resultType'] === 'input_required') span.setAttribute('mcp.result.type', 'input_required');
    span.end();
  } catch (error) {
    server.logger.log('error', 'The tracer failed', { error });
  }
  return response;
}
