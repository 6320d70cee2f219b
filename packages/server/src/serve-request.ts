/** Serves one request: calls its handler, and makes exactly one response from what the handler returns or throws. */

import { isThenable } from '@mortise/jsonrpc-core/connection';
import {
  isMortiseError,
  type JsonObject,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type JsonValue,
  type ProtocolError,
  type RequestId,
} from '@mortise/jsonrpc-core';
import { isJsonObject, toWireError } from '@mortise/jsonrpc-core/messages';
import type { Revision } from '@mortise/protocol';
import { checkClientParams } from '@mortise/protocol/checks';
import type { Call } from '@mortise/protocol/contracts';
import { invalidParamsError, readRequestMeta, unsupportedVersionError, URL_ELICITATION_REQUIRED } from '@mortise/protocol/wire';
import { isCacheScope, isTtl } from './options.ts';
import { Context, type Outcome } from './context.ts';
import { HandlerStoppedError, InvalidHandlerResultError } from './errors.ts';
import type { ClientFacts } from './middleware/middleware.ts';
import type { Server } from './server.ts';
import type { Session } from './session.ts';
import { toClientFacts } from './session-state.ts';
import { traceRequest } from './tracing.ts';
import { methodNotFoundError, toCallError } from './wire-error.ts';

/** The response to a request, or a promise of it if something has to be awaited. */
export type Served = JsonRpcResponse | Promise<JsonRpcResponse>;

const NO_PARAMS: JsonObject = Object.freeze({});

/** Serves a request and returns its response. Neither throws nor rejects. @param session The session of a legacy client. */
export function serveRequest(server: Server, request: JsonRpcRequest, call: Call, session: Session | undefined): Served {
  const { id, method } = request;
  try {
    // 1. Find revision and client: from the session, or from a modern request's `_meta`.
    const { revision, client } = session ? session.callerOf(request) : readCaller(server, request);
    // 2. Find the route of the method in this revision.
    const route = server.methods.findRoute(revision, method);
    if (!route) throw methodNotFoundError(method);
    // 3. Check the params. Revisions without tasks in the core ignore `params.task`.
    const given = request.params?.['task'] === undefined || revision.rules.coreTasks ? request.params : withoutTask(request.params);
    const problem = route.facts && checkClientParams(method, given);
    if (problem !== undefined) throw invalidParamsError(problem);
    // 4. Convert the params from this revision's shape to the canonical one.
    const params = route.readParams?.(given ?? NO_PARAMS) ?? given ?? NO_PARAMS;
    // 5. Create the request's context.
    const context = new Context({ server, route, requestId: id, params, client: client ?? toClientFacts(params), call, session });
    const { tracer } = server.options;
    return tracer ? traceRequest(tracer, context, () => run(context)) : run(context);
  } catch (error) {
    return { jsonrpc: '2.0', id, error: toWireError(error) };
  }
}

function readCaller(server: Server, { params }: JsonRpcRequest): { readonly revision: Revision; readonly client: ClientFacts } {
  const meta = readRequestMeta(params);
  if (typeof meta === 'string') throw invalidParamsError(meta);
  const revision = server.modern.get(meta.protocolVersion);
  // A client may name a supported legacy version here, but legacy versions need `initialize`.
  if (!revision) throw unsupportedVersionError(meta.protocolVersion.slice(0, 100), server.versions);
  return { revision, client: { info: meta.clientInfo, capabilities: meta.clientCapabilities } };
}

function withoutTask({ task: _task, ...rest }: JsonObject = {}): JsonObject {
  return rest;
}

function run(context: Context): Served {
  let result: JsonObject | Promise<JsonObject>;
  try {
    result = context.route.chain.length === 0 ? runHandler(context) : runFrom(context, 0);
  } catch (error) {
    return settle(context, { error });
  }
  return isThenable(result) ? settleLater(context, result) : settle(context, { result });
}

function settleLater(context: Context, result: PromiseLike<JsonObject>): Promise<JsonRpcResponse> {
  return new Promise((resolve) => {
    startDeadline(context, resolve);
    let isSuspended = false;
    context.onSuspended = (question) => {
      isSuspended = true;
      void settleQuestion(context, question).then(resolve);
    };
    const onSettled = (outcome: Outcome): void => {
      if (context.isEnded || isSuspended) return;
      const served = settle(context, outcome);
      // Not `resolve(promise)`: the deadline could not end the call any more.
      if (isThenable(served)) void served.then(resolve);
      else resolve(served);
    };
    result.then(
      (value) => onSettled({ result: value }),
      (error: unknown) => onSettled({ error }),
    );
  });
}

function startDeadline(context: Context, respond: (response: JsonRpcResponse) => void): void {
  if (context.deadline || context.route.entry.isUnbounded) return;
  context.deadline = context.server.deadlines.start((timeoutMs) => respond(expire(context, timeoutMs)));
}

// ---- middleware and the handler

/** 6. Runs the middleware, from the given index on. */
async function runFrom(context: Context, index: number): Promise<JsonObject> {
  const link = context.route.chain[index];
  if (!link) return runAtChainEnd(context);
  return link(context, (params) => {
    if (params) context.params = params;
    return runFrom(context, index + 1);
  });
}

/** Runs the handler after all middleware. If it requests input, middleware gets the `input_required` result and never sees `Suspended`. */
async function runAtChainEnd(context: Context): Promise<JsonObject> {
  let outcome: Outcome;
  try {
    outcome = { result: await runHandler(context) };
  } catch (error) {
    outcome = { error };
  }
  const question = context.route.mayAsk ? findQuestion(context, outcome) : undefined;
  if (question) return question;
  if ('error' in outcome) throw outcome.error;
  return outcome.result;
}

/** 7. Runs the handler. Its time limit starts in `startDeadline`. */
function runHandler(context: Context): JsonObject | Promise<JsonObject> {
  const { params, route } = context;
  const isRetry = params['requestState'] !== undefined || params['inputResponses'] !== undefined;
  if (isRetry && route.facts?.inputRequired) return context.server.withAsks((asks) => asks.resume(context));
  return route.entry.run(params, context);
}

// ---- questions in place of an outcome

/** Returns the `input_required` result of a handler that requested input. Undefined if what it returned or threw is the response. */
function findQuestion(context: Context, outcome: Outcome): Promise<JsonObject> | undefined {
  const { round, server } = context;
  if (context.isConcluded) return undefined;
  if (round?.isSuspended) return round.conclude(outcome);
  round?.abandon();
  if ('error' in outcome) {
    const pages = findPages(outcome.error);
    return pages && server.withAsks((asks) => asks.askInstead(context, { pages, message: (outcome.error as ProtocolError).message }));
  }
  if (!isJsonObject(outcome.result) || outcome.result['resultType'] !== 'input_required') return undefined;
  return server.withAsks((asks) => asks.askInstead(context, outcome));
}

/** Returns the URLs of a thrown `UrlElicitationRequiredError`. Undefined for any other error. */
function findPages(error: unknown): readonly JsonObject[] | undefined {
  if (!isMortiseError(error) || error.code !== 'ERR_PROTOCOL') return undefined;
  const { rpcCode, data } = error as ProtocolError;
  const pages = rpcCode === URL_ELICITATION_REQUIRED && isJsonObject(data) ? data['elicitations'] : undefined;
  return Array.isArray(pages) && pages.length > 0 ? (pages as readonly JsonObject[]) : undefined;
}

// ---- the response

function settle(context: Context, outcome: Outcome): Served {
  const question = context.route.mayAsk ? findQuestion(context, outcome) : undefined;
  if (question) return settleQuestion(context, question);
  return 'error' in outcome ? fail(context, outcome.error) : succeed(context, outcome.result);
}

function settleQuestion(context: Context, question: Promise<JsonObject>): Promise<JsonRpcResponse> {
  return new Promise((resolve) => {
    startDeadline(context, resolve);
    question.then(
      (result) => context.isEnded || resolve(succeed(context, result)),
      (error: unknown) => context.isEnded || resolve(fail(context, error)),
    );
  });
}

function succeed(context: Context, result: JsonObject): JsonRpcResponse {
  try {
    const fault = findFault(result);
    if (fault !== undefined)
      throw new InvalidHandlerResultError(
        `"${context.method}" gave ${fault}, which is not a result: return an object (in middleware, what next() gave)`,
      );
    context.end();
    if (context.call.isCancelled) logCancelled(context);
    return { jsonrpc: '2.0', id: context.requestId as RequestId, result: finishResult(result, context) };
  } catch (error) {
    return fail(context, error);
  }
}

/** Describes why what a handler or middleware returned is not a valid result. Undefined if it is valid. */
function findFault(result: unknown): string | undefined {
  if (!isJsonObject(result)) return result === null ? 'null' : Array.isArray(result) ? 'an array' : typeof result;
  const { _meta, resultType } = result;
  if (_meta !== undefined && !isJsonObject(_meta)) return 'a "_meta" that is not an object';
  return resultType === undefined || typeof resultType === 'string' ? undefined : 'a "resultType" that is not a string';
}

function fail(context: Context, error: unknown): JsonRpcResponse {
  try {
    context.end();
    const isPlanned = isMortiseError(error) && error.code === 'ERR_PROTOCOL';
    if (context.call.isCancelled) logCancelled(context);
    // The client gets a neutral message, the operator the whole error.
    else if (!isPlanned) context.server.logger.log('error', 'A handler failed', { method: context.method, target: context.target, error });
    context.span?.recordError(error);
  } catch {
    // If the logger or tracer fails, the request still gets its response.
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
  // Every `subscriptions/listen` ends in this way.
  const level = method === 'subscriptions/listen' ? 'debug' : 'info';
  server.logger.log(level, 'A call was cancelled', { method, requestId, reason });
}

// ---- the result in its revision's shape, with what the revision requires on every result

/** Marks results that are sent without further changes, such as cached pages of lists. */
const FINISHED: unique symbol = Symbol('finished');

/** Marks a result as finished: it is sent without further changes. @returns The same object. */
export function markFinished<R extends JsonObject>(result: R): R {
  return Object.defineProperty(result, FINISHED, { value: true });
}

/** 8. Converts the result to this revision's shape. */
export function finishResult(result: JsonObject, context: Context): JsonObject {
  if ((result as { readonly [FINISHED]?: true })[FINISHED]) return result;
  const { writeResult, revision } = context.route;
  const shaped = writeResult && result !== context.ownResult ? writeResult(result) : result;
  return revision.rules.resultType ? addModernMembers(shaped, context) : shaped;
}

/** 9. Adds what a modern revision has on every result. */
function addModernMembers(result: JsonObject, { route, server }: Context): JsonObject {
  const resultType = result['resultType'] ?? 'complete';
  if (resultType === 'input_required' && route.facts && !route.facts.inputRequired)
    throw new InvalidHandlerResultError(`"${route.method}" must not return input_required: only tools, prompts and resources may`);
  const finished: Record<string, JsonValue | undefined> = { resultType, ...result };
  finished['resultType'] = resultType;
  const meta = result['_meta'];
  finished['_meta'] = isJsonObject(meta) ? { ...server.resultMeta, ...meta } : server.resultMeta;
  if (route.facts?.cacheable && resultType === 'complete') {
    // Content of a resource is private unless the resource says otherwise.
    const { listTtlMs = 0, listScope = 'public', readTtlMs = 0 } = server.options.cache ?? {};
    const isRead = route.method === 'resources/read';
    if (!isTtl(finished['ttlMs'])) finished['ttlMs'] = isRead ? readTtlMs : listTtlMs;
    if (!isCacheScope(finished['cacheScope'])) finished['cacheScope'] = isRead ? 'private' : listScope;
  }
  return finished;
}
