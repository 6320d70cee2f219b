/** Requests input for handlers that `return inputRequired({ ... })` or `throw new UrlElicitationRequiredError([...])`. */

import { isMortiseError, type JsonObject, type JsonValue, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, INVALID_REQUEST, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Ask } from '@mortise/protocol/contracts';
import type { ElicitRequestURLParams } from '@mortise/protocol/model';
import { urlElicitationRequiredError } from '@mortise/protocol/wire';
import type { Context } from '../context.ts';
import { AskError, InvalidHandlerResultError } from '../errors.ts';
import { isForProtocol } from '../wire-error.ts';
import { DEFAULT_MAX_ROUNDS } from './round.ts';
import type { EarlierRounds } from './round-state.ts';
import { prepareAsk, requireClientCapability, requireEmbeddable } from './send.ts';

/** How a handler requested input: the `input_required` result it returned, or what the `UrlElicitationRequiredError` says that it threw. */
type AskingOutcome = { readonly result: JsonObject } | { readonly pages: readonly JsonObject[]; readonly message: string };

/** Returns the result for a handler that returned an `input_required` result or threw `UrlElicitationRequiredError`. */
export async function askInstead(context: Context, outcome: AskingOutcome): Promise<JsonObject> {
  try {
    if ('pages' in outcome) return await askForPages(context, outcome.pages, outcome.message);
    return context.session ? await runUntilAnswered(context, outcome.result) : await askInResult(context, outcome.result);
  } catch (error) {
    // A tool that cannot ask fails with an `isError` result, the same as if `ctx.elicit` had thrown.
    const { toFailedResult } = context.route.entry;
    if (!toFailedResult || !isMortiseError(error) || isForProtocol(error, context)) throw error;
    context.isConcluded = true;
    context.server.logger.log('error', 'A tool could not ask', { tool: context.target, error });
    return toFailedResult(error);
  }
}

async function askInResult(context: Context, { inputRequests = {}, requestState, _meta }: JsonObject): Promise<JsonObject> {
  const asks = readInputRequests(context, inputRequests);
  if (asks.length === 0 && requestState === undefined)
    throw new InvalidHandlerResultError(
      `${context.name}: an input_required result needs inputRequests or requestState: give at least one of them`,
    );
  for (const ask of asks) requireEmbeddable(ask, context);
  const sealed = await (await context.openRound()).askByHand(asks, requestState);
  return _meta === undefined ? sealed : { ...sealed, _meta };
}

/** In a legacy session: sends the `inputRequests` as requests, and calls the handler again until its result is not `input_required`. */
async function runUntilAnswered(context: Context, first: JsonObject): Promise<JsonObject> {
  context.isConcluded = true;
  const { maxRounds = DEFAULT_MAX_ROUNDS } = context.server.options.requestState ?? {};
  let result = first;
  for (let round = 0; result['resultType'] === 'input_required'; round++) {
    if (round >= maxRounds)
      throw new AskError(
        'ERR_TOO_MANY_ASKS',
        `${context.name} asked the client ${maxRounds} times, the maximum: ask fewer times, or raise requestState.maxRounds`,
      );
    const inputResponses = await askAll(context, readInputRequests(context, result['inputRequests'] ?? {}));
    if (context.isEnded) return result;
    beginAgain(context, inputResponses, result['requestState']);
    result = await context.route.entry.run(context.params, context);
  }
  return result;
}

/** Prepares another call of the handler for the same client request. Notifications that the previous call sent are not sent again. */
function beginAgain(context: Context, inputResponses: EarlierRounds['inputResponses'], requestState: JsonValue | undefined): void {
  const reports = Math.max(context.reportCount, context.earlier?.reports ?? 0);
  context.reportCount = 0;
  context.earlier = { inputResponses, requestState, reports };
}

async function askAll(context: Context, asks: readonly Ask[]): Promise<Readonly<Record<string, JsonObject>>> {
  try {
    const answers = asks.map(async (ask) => [ask.key ?? '', await context.ask(ask)] as const);
    return Object.fromEntries(await Promise.all(answers));
  } catch (error) {
    if (!isMortiseError(error) || error.code !== 'ERR_REMOTE') throw error;
    throw new ProtocolError(INTERNAL_ERROR, `${context.name} cannot continue: the client did not answer`, undefined, { cause: error });
  }
}

function readInputRequests(context: Context, inputRequests: unknown): readonly Ask[] {
  return Object.entries(isJsonObject(inputRequests) ? inputRequests : {}).map(([key, request]) => {
    const { method, params } = isJsonObject(request) ? request : {};
    if (typeof method !== 'string' || (params !== undefined && !isJsonObject(params)))
      throw new AskError('ERR_INVALID_ASK', `inputRequests[${JSON.stringify(key)}] must be { method, params }`);
    return prepareAsk({ method, key, ...(params === undefined ? {} : { params }) }, context);
  });
}

/**
 * Asks the user to open URLs, and runs the handler again once the user has agreed.
 *
 * @throws {ProtocolError} -32042 with the URLs, in a revision that has this error code.
 * @see 2025-11-25 client/elicitation#url-elicitation-required-error
 */
async function askForPages(context: Context, pages: readonly JsonObject[], message: string): Promise<JsonObject> {
  const { revision, session, earlier } = context;
  if (session && !revision.rules.elicitationIds) {
    const problem = `${context.name} needs the user to open a URL, but ${revision.version} has no URL elicitation`;
    throw new AskError('ERR_CLIENT_CAPABILITY', problem, { requiredCapabilities: { elicitation: { url: {} } } });
  }
  const asks = pages.map((page) => {
    const params = { ...page, mode: 'url' };
    return prepareAsk({ method: 'elicitation/create', params, key: String(page['url']) }, context);
  });
  for (const ask of asks) requireClientCapability(ask, context);
  if (session)
    throw urlElicitationRequiredError(
      asks.map(({ params }) => params as unknown as ElicitRequestURLParams),
      message,
    );
  const actions = asks.map(({ key = '' }) => earlier?.inputResponses[key]?.['action']);
  // The user refused. Asking again could go on forever.
  if (actions.includes('decline') || actions.includes('cancel'))
    throw new ProtocolError(INVALID_REQUEST, `${context.name} cannot continue: the user did not open the required URL`);
  return (await context.openRound()).askByHand(asks, earlier?.requestState);
}
