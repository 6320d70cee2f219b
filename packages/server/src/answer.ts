/** Runs a request and answers it: exactly once, whatever its handler does. */

import { isMortiseError, type JsonObject, type JsonRpcErrorResponse, type JsonRpcResponse, type RequestId } from '@mortise/jsonrpc-core';
import { isJsonObject, toWireError } from '@mortise/jsonrpc-core/messages';
import { afterError, afterResult } from './asks/after-run.ts';
import { HandlerTimeoutError, InvalidHandlerResultError } from './errors.ts';
import { finishResult } from './finish-result.ts';
import { onDemand } from './on-demand.ts';
import type { RequestCall } from './request-call.ts';
import { isThenable } from './thenable.ts';
import { toCallError } from './wire-error.ts';

const withTracing = onDemand(() => import('./tracing.ts'));

/** A plain answer where nothing waits, so that it costs no promise. */
export type Answer = JsonRpcResponse | Promise<JsonRpcResponse>;

/** Runs a call. Neither throws nor rejects. */
export function answer(call: RequestCall): Answer {
  const { tracer } = call.core.options;
  return tracer ? withTracing(({ traceRequest }) => traceRequest(tracer, call, () => serve(call))) : serve(call);
}

function serve(call: RequestCall): Answer {
  let outcome: JsonObject | Promise<JsonObject>;
  try {
    outcome = call.resolved.invoke(call);
  } catch (error) {
    return settleError(call, error);
  }
  if (isThenable(outcome)) return answerLater(call, outcome);
  const asked = call.resolved.runsInRounds ? afterResult(call, outcome) : undefined;
  return asked ? answerLater(call, asked) : succeed(call, outcome);
}

/** The answer to a request that fails before it has a call. */
export function toErrorAnswer(id: RequestId, error: unknown): JsonRpcErrorResponse {
  return { jsonrpc: '2.0', id, error: toWireError(error) };
}

function answerLater(call: RequestCall, outcome: PromiseLike<JsonObject>): Promise<JsonRpcResponse> {
  return new Promise((resolve) => {
    if (call.resolved.entry.isBounded) call.bound((timeoutMs) => resolve(expire(call, timeoutMs)));
    if (call.resolved.runsInRounds) call.onSuspended = (asked) => resolve(answerWith(call, asked));
    outcome.then(
      (result) => {
        if (!call.isEnded) resolve(settleResult(call, result));
      },
      (error: unknown) => {
        if (!call.isEnded) resolve(settleError(call, error));
      },
    );
  });
}

/** A handler's result, or what the client is asked in its place. */
function settleResult(call: RequestCall, result: JsonObject): Answer {
  const asked = call.resolved.runsInRounds ? afterResult(call, result) : undefined;
  return asked ? answerWith(call, asked) : succeed(call, result);
}

function settleError(call: RequestCall, error: unknown): Answer {
  const asked = call.resolved.runsInRounds ? afterError(call, error) : undefined;
  return asked ? answerWith(call, asked) : fail(call, error);
}

async function answerWith(call: RequestCall, asked: Promise<JsonObject>): Promise<JsonRpcResponse> {
  try {
    return succeed(call, await asked);
  } catch (error) {
    return fail(call, error);
  }
}

function succeed(call: RequestCall, result: JsonObject): JsonRpcResponse {
  if (!isJsonObject(result)) {
    const kind = result === null ? 'null' : Array.isArray(result) ? 'an array' : typeof result;
    const told = `"${call.method}" gave ${kind}, which is no result: a handler gives an object, middleware what next() gave`;
    return fail(call, new InvalidHandlerResultError(told));
  }
  try {
    call.end();
    reportCancelled(call);
    return { jsonrpc: '2.0', id: call.requestId, result: finishResult(result, call) };
  } catch (error) {
    return fail(call, error);
  }
}

function fail(call: RequestCall, error: unknown): JsonRpcResponse {
  try {
    call.end();
    if (!reportCancelled(call)) reportFault(call, error);
    call.span?.recordError(error);
  } catch {
    // What tells the operator must not cost the request its answer.
  }
  return { jsonrpc: '2.0', id: call.requestId, error: toCallError(error, call.revision) };
}

function expire(call: RequestCall, timeoutMs: number): JsonRpcResponse {
  const error = new HandlerTimeoutError(
    `${call.target === undefined ? call.method : `"${call.target}"`} did not finish within ${timeoutMs} ms`,
    timeoutMs,
  );
  call.abort(error);
  call.core.logger.log('warning', 'A handler was stopped at its bound', { method: call.method, target: call.target, timeoutMs });
  const result = call.resolved.entry.toExpiredResult?.(error);
  return result ? succeed(call, result) : fail(call, error);
}

function reportCancelled(call: RequestCall): boolean {
  if (!call.host.isCancelled) return false;
  const reason: unknown = call.host.signal.reason;
  const told = isMortiseError(reason) && 'reason' in reason ? reason.reason : undefined;
  call.core.logger.log('info', 'A call was cancelled', { method: call.method, requestId: call.requestId, reason: told });
  return true;
}

/** What the client is told nothing of, the operator must see. */
function reportFault(call: RequestCall, error: unknown): void {
  if (isMortiseError(error) && error.code === 'ERR_PROTOCOL') return;
  call.core.logger.log('error', 'A handler failed', { method: call.method, target: call.target, error });
}
