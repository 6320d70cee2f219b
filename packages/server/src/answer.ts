/** Runs a request and answers it: exactly once, whatever its handler does. */

import {
  isJsonObject,
  isMortiseError,
  type JsonObject,
  type JsonRpcErrorResponse,
  type JsonRpcResponse,
  type RequestId,
  toWireError,
} from '@mortise/jsonrpc-core';
import { HandlerTimeoutError, InvalidHandlerResultError } from './errors.ts';
import { finishResult } from './finish-result.ts';
import type { RequestCall } from './request-call.ts';
import { isThenable } from './thenable.ts';
import { toCallError } from './wire-error.ts';

/** A plain answer where nothing waits, so that it costs no promise. */
export type Answer = JsonRpcResponse | Promise<JsonRpcResponse>;

/** Runs a call. Neither throws nor rejects. */
export function answer(call: RequestCall): Answer {
  let outcome: JsonObject | Promise<JsonObject>;
  try {
    outcome = call.resolved.invoke(call);
  } catch (error) {
    return fail(call, error);
  }
  return isThenable(outcome) ? answerLater(call, outcome) : succeed(call, outcome);
}

/** The answer to a request that fails before it has a call. */
export function toErrorAnswer(id: RequestId, error: unknown): JsonRpcErrorResponse {
  return { jsonrpc: '2.0', id, error: toWireError(error) };
}

function answerLater(call: RequestCall, outcome: PromiseLike<JsonObject>): Promise<JsonRpcResponse> {
  return new Promise((resolve) => {
    if (call.resolved.entry.isBounded) call.bound((timeoutMs) => resolve(expire(call, timeoutMs)));
    outcome.then(
      (result) => {
        if (!call.isEnded) resolve(succeed(call, result));
      },
      (error: unknown) => {
        if (!call.isEnded) resolve(fail(call, error));
      },
    );
  });
}

function succeed(call: RequestCall, result: JsonObject): JsonRpcResponse {
  if (!isJsonObject(result))
    return fail(call, new InvalidHandlerResultError(`"${call.method}" gave something that is not an object as its result`));
  try {
    call.end();
    reportCancelled(call);
    return { jsonrpc: '2.0', id: call.requestId, result: finishResult(result, call) };
  } catch (error) {
    return fail(call, error);
  }
}

function fail(call: RequestCall, error: unknown): JsonRpcResponse {
  call.end();
  if (!reportCancelled(call)) reportFault(call, error);
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
