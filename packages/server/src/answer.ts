/** The second half of a request's way: middleware, the handler with its time, and its outcome as exactly one response. */

import {
  isMortiseError,
  type JsonObject,
  type JsonRpcResponse,
  type JsonValue,
  type ProtocolError,
  type RequestId,
} from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { URL_ELICITATION_REQUIRED } from '@mortise/protocol/wire';
import { isCacheScope, isTtl } from './check-server.ts';
import type { Context, Outcome } from './context.ts';
import { HandlerStoppedError, InvalidHandlerResultError } from './errors.ts';
import { isThenable } from './thenable.ts';
import { toCallError } from './wire-error.ts';

/** A response; a plain one where nothing waits, so that it costs no promise. */
export type Answer = JsonRpcResponse | Promise<JsonRpcResponse>;

/** Runs a request and answers it. Neither throws nor rejects. */
export function answer(context: Context): Answer {
  let result: JsonObject | Promise<JsonObject>;
  try {
    result = context.route.chain.length === 0 ? runHandler(context) : runFrom(context, 0);
  } catch (error) {
    return settle(context, { error });
  }
  return isThenable(result) ? answerLater(context, result) : settle(context, { result });
}

function answerLater(context: Context, result: PromiseLike<JsonObject>): Promise<JsonRpcResponse> {
  return new Promise((resolve) => {
    if (!context.route.entry.isUnbounded) context.bound((timeoutMs) => resolve(expire(context, timeoutMs)));
    context.onSuspended = (asked) => resolve(settleAsked(context, asked));
    const onSettled = (outcome: Outcome): void => {
      if (!context.isEnded) resolve(settle(context, outcome));
    };
    result.then(
      (value) => onSettled({ result: value }),
      (error: unknown) => onSettled({ error }),
    );
  });
}

// ---- middleware and the handler

async function runFrom(context: Context, index: number): Promise<JsonObject> {
  const link = context.route.chain[index];
  if (!link) return runInChain(context);
  return link(context, (params) => {
    if (params) context.params = params;
    return runFrom(context, index + 1);
  });
}

/** Middleware sees an `input_required` result like any other, and never the `Suspended` that the handler threw. */
async function runInChain(context: Context): Promise<JsonObject> {
  let outcome: Outcome;
  try {
    outcome = { result: await runHandler(context) };
  } catch (error) {
    outcome = { error };
  }
  const asked = context.route.mayAsk ? findQuestion(context, outcome) : undefined;
  if (asked) return asked;
  if ('error' in outcome) throw outcome.error;
  return outcome.result;
}

function runHandler(context: Context): JsonObject | Promise<JsonObject> {
  const { params, route } = context;
  const isRetry = params['requestState'] !== undefined || params['inputResponses'] !== undefined;
  if (isRetry && route.facts?.inputRequired) return context.server.withAsks((asks) => asks.resume(context));
  return route.entry.run(params, context);
}

// ---- questions in place of an outcome

/** The result that asks the client, instead of the handler's outcome; undefined where the outcome is the answer. */
function findQuestion(context: Context, outcome: Outcome): Promise<JsonObject> | undefined {
  const { round, server } = context;
  if (context.isConcluded) return undefined;
  if (round?.isSuspended) return round.conclude(outcome);
  round?.abandon();
  if ('error' in outcome) {
    const pages = findPages(outcome.error);
    return pages && server.withAsks((asks) => asks.askInstead(context, { pages }));
  }
  if (!isJsonObject(outcome.result) || outcome.result['resultType'] !== 'input_required') return undefined;
  return server.withAsks((asks) => asks.askInstead(context, outcome));
}

/** The pages that a `UrlElicitationRequiredError` names. */
function findPages(error: unknown): readonly JsonObject[] | undefined {
  if (!isMortiseError(error) || error.code !== 'ERR_PROTOCOL') return undefined;
  const { rpcCode, data } = error as ProtocolError;
  const pages = rpcCode === URL_ELICITATION_REQUIRED && isJsonObject(data) ? data['elicitations'] : undefined;
  return Array.isArray(pages) && pages.length > 0 ? (pages as readonly JsonObject[]) : undefined;
}

// ---- the response

function settle(context: Context, outcome: Outcome): Answer {
  const asked = context.route.mayAsk ? findQuestion(context, outcome) : undefined;
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
  try {
    if (!isJsonObject(result)) throw notAnObject(context, result);
    context.end();
    if (context.call.isCancelled) logCancelled(context);
    return { jsonrpc: '2.0', id: context.requestId as RequestId, result: finishResult(result, context) };
  } catch (error) {
    return fail(context, error);
  }
}

function notAnObject({ method }: Context, value: unknown): InvalidHandlerResultError {
  const kind = value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value;
  return new InvalidHandlerResultError(
    `"${method}" gave ${kind}, which is not a result: a handler gives an object, middleware what next() gave`,
  );
}

function fail(context: Context, error: unknown): JsonRpcResponse {
  try {
    context.end();
    const isPlanned = isMortiseError(error) && error.code === 'ERR_PROTOCOL';
    if (context.call.isCancelled) logCancelled(context);
    // The client gets a neutral sentence, the operator all of it.
    else if (!isPlanned) context.server.logger.log('error', 'A handler failed', { method: context.method, target: context.target, error });
    context.span?.recordError(error);
  } catch {
    // What informs the operator must not cost the request its answer.
  }
  return { jsonrpc: '2.0', id: context.requestId as RequestId, error: toCallError(error, context.revision) };
}

function expire(context: Context, timeoutMs: number): JsonRpcResponse {
  const { method, target, server } = context;
  const name = target === undefined ? method : `"${target}"`;
  const error = new HandlerStoppedError('ERR_HANDLER_TIMEOUT', `${name} did not finish within ${timeoutMs} ms`);
  context.abort(error);
  server.logger.log('warning', 'A handler was stopped at its time limit', { method, target, timeoutMs });
  const result = context.route.entry.toFailedResult?.(error);
  return result ? succeed(context, result) : fail(context, error);
}

function logCancelled({ call, server, method, requestId }: Context): void {
  const error: unknown = call.signal.reason;
  const reason = isMortiseError(error) && 'reason' in error ? error.reason : undefined;
  server.logger.log('info', 'A call was cancelled', { method, requestId, reason });
}

// ---- the result in its revision's shape, with what the revision requires on every result

/** Marks results that are finished already, as kept pages of lists are. */
const FINISHED: unique symbol = Symbol('finished');

/** Marks a result as finished. @returns The same object. */
export function markFinished<R extends JsonObject>(result: R): R {
  return Object.defineProperty(result, FINISHED, { value: true });
}

export function finishResult(result: JsonObject, context: Context): JsonObject {
  if ((result as { readonly [FINISHED]?: true })[FINISHED]) return result;
  const { writeResult, revision } = context.route;
  const shaped = writeResult && result !== context.ownResult ? writeResult(result) : result;
  return revision.rules.resultType ? addModernMembers(shaped, context) : shaped;
}

function addModernMembers(result: JsonObject, { route, server }: Context): JsonObject {
  const resultType = result['resultType'] ?? 'complete';
  if (resultType === 'input_required' && route.facts && !route.facts.inputRequired)
    throw new InvalidHandlerResultError(`"${route.method}" may not be answered with input_required: only tools, prompts and resources ask`);
  const finished: Record<string, JsonValue | undefined> = { resultType, ...result };
  finished['resultType'] = resultType;
  const meta = result['_meta'];
  finished['_meta'] = isJsonObject(meta) ? { ...server.resultMeta, ...meta } : server.resultMeta;
  if (route.facts?.cacheable && resultType === 'complete') {
    // What is read is its reader's own unless the resource says otherwise.
    const { listTtlMs = 0, listScope = 'public', readTtlMs = 0 } = server.options.cache ?? {};
    const isRead = route.method === 'resources/read';
    if (!isTtl(finished['ttlMs'])) finished['ttlMs'] = isRead ? readTtlMs : listTtlMs;
    if (!isCacheScope(finished['cacheScope'])) finished['cacheScope'] = isRead ? 'private' : listScope;
  }
  return finished;
}
