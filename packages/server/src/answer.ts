/** The second half of a request's way: middleware, the handler with its time, and its outcome as exactly one response. */

import { isMortiseError, type JsonObject, type JsonRpcResponse, type ProtocolError, type RequestId } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { URL_ELICITATION_REQUIRED, type UrlElicitationData } from '@mortise/protocol/wire';
import type { Context, Outcome } from './context.ts';
import { HandlerTimeoutError, InvalidHandlerResultError } from './errors.ts';
import { finishResult } from './finish-result.ts';
import { isThenable } from './thenable.ts';
import { isForProtocol, toCallError } from './wire-error.ts';

/** A response; a plain one where nothing waits, so that it costs no promise. */
export type Answer = JsonRpcResponse | Promise<JsonRpcResponse>;

/** Runs a request and answers it. Neither throws nor rejects. */
export function answer(context: Context): Answer {
  let result: JsonObject | Promise<JsonObject>;
  try {
    result = invoke(context);
  } catch (error) {
    return settle(context, { error });
  }
  return isThenable(result) ? answerLater(context, result) : settle(context, { result });
}

function answerLater(context: Context, result: PromiseLike<JsonObject>): Promise<JsonRpcResponse> {
  return new Promise((resolve) => {
    if (!context.route.entry.isUnbounded) context.bound((timeoutMs) => resolve(expire(context, timeoutMs)));
    context.onSuspended = (asked) => resolve(settleAsked(context, asked));
    result.then(
      (value) => {
        if (!context.isEnded) resolve(settle(context, { result: value }));
      },
      (error: unknown) => {
        if (!context.isEnded) resolve(settle(context, { error }));
      },
    );
  });
}

// ---- middleware and the handler

function invoke(context: Context): JsonObject | Promise<JsonObject> {
  const makeApp = context.server.options.context;
  if (!makeApp && context.route.chain.length === 0) return runHandler(context);
  return invokeChain(context, makeApp as ((context: Context) => unknown) | undefined);
}

async function invokeChain(context: Context, makeApp: ((context: Context) => unknown) | undefined): Promise<JsonObject> {
  if (makeApp) context.app = await makeApp(context);
  return invokeFrom(context, 0);
}

async function invokeFrom(context: Context, index: number): Promise<JsonObject> {
  const link = context.route.chain[index];
  if (!link) return runInChain(context);
  return link(context, (params) => {
    if (params) context.params = params;
    return invokeFrom(context, index + 1);
  });
}

/** Middleware sees an `input_required` result like any other, and never the `Suspended` by which the handler was left. */
async function runInChain(context: Context): Promise<JsonObject> {
  let outcome: Outcome;
  try {
    outcome = { result: await runHandler(context) };
  } catch (error) {
    outcome = { error };
  }
  const asked = findQuestion(context, outcome);
  if (asked) return asked;
  if ('error' in outcome) throw outcome.error;
  return outcome.result;
}

function runHandler(context: Context): JsonObject | Promise<JsonObject> {
  const { requestState, inputResponses } = context.params;
  const isRetry = requestState !== undefined || inputResponses !== undefined;
  if (isRetry && context.route.facts?.inputRequired) return context.server.withAsks((asks) => asks.resume(context));
  return context.route.entry.run(context.params, context);
}

// ---- questions in place of an outcome

/** The result that puts questions to the client in place of the handler's outcome; undefined where the outcome stands. */
function findQuestion(context: Context, outcome: Outcome): Promise<JsonObject> | undefined {
  const { route, round, server } = context;
  if (!route.mayAsk || context.isConcluded) return undefined;
  if (round?.isSuspended) return round.conclude(outcome);
  round?.abandon();
  if ('result' in outcome) {
    const { result } = outcome;
    if (!isJsonObject(result) || result['resultType'] !== 'input_required') return undefined;
    return orFailure(
      context,
      server.withAsks((asks) => asks.askByHand(context, result)),
    );
  }
  const pages = findPages(outcome.error);
  if (!pages) return undefined;
  return orFailure(
    context,
    server.withAsks((asks) => asks.askForPages(context, pages)),
  );
}

/** The pages that a `UrlElicitationRequiredError` names. */
function findPages(error: unknown): UrlElicitationData['elicitations'] | undefined {
  if (!isMortiseError(error) || error.code !== 'ERR_PROTOCOL') return undefined;
  const { rpcCode, data } = error as ProtocolError;
  if (rpcCode !== URL_ELICITATION_REQUIRED || !isJsonObject(data)) return undefined;
  const { elicitations } = data;
  return Array.isArray(elicitations) && elicitations.length > 0 ? (elicitations as UrlElicitationData['elicitations']) : undefined;
}

/** A question that cannot be asked is the tool's failure, as it is where the tool waits for the answer. */
async function orFailure(context: Context, asked: Promise<JsonObject>): Promise<JsonObject> {
  try {
    return await asked;
  } catch (error) {
    const { toFailedResult } = context.route.entry;
    if (!toFailedResult || !isMortiseError(error) || isForProtocol(error, context)) throw error;
    context.isConcluded = true;
    context.server.logger.log('error', 'A tool could not ask', { tool: context.target, error });
    return toFailedResult(error);
  }
}

// ---- the response

function settle(context: Context, outcome: Outcome): Answer {
  const asked = findQuestion(context, outcome);
  if (asked) return settleAsked(context, asked);
  return 'error' in outcome ? fail(context, outcome.error) : succeed(context, outcome.result);
}

async function settleAsked(context: Context, asked: Promise<JsonObject>): Promise<JsonRpcResponse> {
  try {
    return succeed(context, await asked);
  } catch (error) {
    return fail(context, error);
  }
}

function succeed(context: Context, result: JsonObject): JsonRpcResponse {
  if (!isJsonObject(result)) {
    const kind = result === null ? 'null' : Array.isArray(result) ? 'an array' : typeof result;
    const message = `"${context.method}" gave ${kind}, which is no result: a handler gives an object, middleware what next() gave`;
    return fail(context, new InvalidHandlerResultError(message));
  }
  try {
    context.end();
    logCancelled(context);
    return { jsonrpc: '2.0', id: context.requestId as RequestId, result: finishResult(result, context) };
  } catch (error) {
    return fail(context, error);
  }
}

function fail(context: Context, error: unknown): JsonRpcResponse {
  try {
    context.end();
    const isPlanned = isMortiseError(error) && error.code === 'ERR_PROTOCOL';
    if (!logCancelled(context) && !isPlanned) {
      // The client gets a neutral sentence, the operator all of it.
      context.server.logger.log('error', 'A handler failed', { method: context.method, target: context.target, error });
    }
    context.span?.recordError(error);
  } catch {
    // What informs the operator must not cost the request its answer.
  }
  return { jsonrpc: '2.0', id: context.requestId as RequestId, error: toCallError(error, context.revision) };
}

function expire(context: Context, timeoutMs: number): JsonRpcResponse {
  const { method, target, server } = context;
  const name = target === undefined ? method : `"${target}"`;
  const error = new HandlerTimeoutError(`${name} did not finish within ${timeoutMs} ms`, timeoutMs);
  context.abort(error);
  server.logger.log('warning', 'A handler was stopped at its bound', { method, target, timeoutMs });
  const result = context.route.entry.toFailedResult?.(error);
  return result ? succeed(context, result) : fail(context, error);
}

function logCancelled({ host, server, method, requestId }: Context): boolean {
  if (!host.isCancelled) return false;
  const error: unknown = host.signal.reason;
  const reason = isMortiseError(error) && 'reason' in error ? error.reason : undefined;
  server.logger.log('info', 'A call was cancelled', { method, requestId, reason });
  return true;
}
