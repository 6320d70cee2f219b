/** Results by which a handler asks without waiting, `return inputRequired({ ... })`, and pages without which it cannot go on. */

import { isMortiseError, type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { toDigestKey } from '@mortise/jsonrpc-core/encoding';
import { INTERNAL_ERROR, INVALID_REQUEST, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Ask } from '@mortise/protocol/contracts';
import { type UrlElicitationData, urlElicitationRequiredError } from '@mortise/protocol/wire';
import type { Context } from '../context.ts';
import { AskError, ClientCapabilityError, InvalidHandlerResultError } from '../errors.ts';
import { describeAsk, digestAsk, nameCall } from './ask-identity.ts';
import { prepareAsk } from './questions.ts';
import { DEFAULT_MAX_ROUNDS } from './round.ts';
import type { AskedNow } from './round-state.ts';
import { requireClientCapability, requireEmbeddable } from './send.ts';

type Pages = UrlElicitationData['elicitations'];

/** What becomes of a result that asks: sealed where results may ask, else asked by requests until the handler gives another result. */
export function askByHand(context: Context, result: JsonObject): Promise<JsonObject> {
  return context.session ? runUntilAnswered(context, result) : sealByHand(context, result);
}

/**
 * Asks for pages without which the handler cannot go on; it runs again when the user has agreed to open them.
 *
 * @throws {ProtocolError} -32042 with the pages, where the revision has that in place of a question.
 */
export async function askForPages(context: Context, pages: Pages): Promise<JsonObject> {
  if (context.session) throw toPagesError(context, pages);
  const asks = await Promise.all(
    pages.map(async (page): Promise<Ask> => {
      const ask = prepareAsk({ method: 'elicitation/create', params: { ...page, mode: 'url' } }, context);
      return { ...ask, key: toDigestKey(ask.method, await digestAsk(ask.method, ask.params)) };
    }),
  );
  refuseIfDeclined(context, asks);
  return seal(context, asks, context.earlier?.requestState);
}

// ---- where results may ask

async function sealByHand(context: Context, { inputRequests = {}, requestState, _meta }: JsonObject): Promise<JsonObject> {
  if (!isJsonObject(inputRequests) || (Object.keys(inputRequests).length === 0 && requestState === undefined)) {
    throw new InvalidHandlerResultError(
      `${nameCall(context)}: an input_required result has inputRequests by key, or a requestState, or both: say what is wanted`,
    );
  }
  const sealed = await seal(context, readInputRequests(context, inputRequests), requestState);
  return _meta === undefined ? sealed : { ...sealed, _meta };
}

async function seal(context: Context, asks: readonly Ask[], given: JsonObject[string]): Promise<JsonObject> {
  if (context.taskRun) throw new AskError('ERR_ASK_UNAVAILABLE', `${nameCall(context)} cannot ask here`);
  const round = await context.openRound();
  round.requireRound();
  const asked = new Map<string, AskedNow>();
  for (const ask of asks) {
    requireEmbeddable(ask, context.revision, context.client.capabilities);
    const { method, params, key = '' } = ask;
    asked.set(key, { method, params, source: 'by hand', digest: await digestAsk(method, params), text: describeAsk(method, params) });
  }
  return round.seal(asked, given);
}

/** @throws {ProtocolError} The user refused: asking again would not end. */
function refuseIfDeclined(context: Context, asks: readonly Ask[]): void {
  const answers = context.earlier?.inputResponses ?? {};
  const isDeclined = asks.some(({ key = '' }) => {
    const action = Object.hasOwn(answers, key) ? answers[key]?.['action'] : undefined;
    return action === 'decline' || action === 'cancel';
  });
  if (isDeclined)
    throw new ProtocolError(INVALID_REQUEST, `${nameCall(context)} cannot go on: the user did not open the page that it needs`);
}

// ---- where there is a session

async function runUntilAnswered(context: Context, first: JsonObject): Promise<JsonObject> {
  context.isConcluded = true;
  const { maxRounds = DEFAULT_MAX_ROUNDS } = context.server.options.requestState ?? {};
  let result = first;
  for (let round = 0; result['resultType'] === 'input_required'; round++) {
    if (round >= maxRounds)
      throw new AskError('ERR_TOO_MANY_ASKS', `${nameCall(context)} asked back ${maxRounds} times: raise requestState.maxRounds`);
    const inputResponses = await askAll(context, result['inputRequests'] ?? {});
    if (context.isEnded) return result;
    context.beginAgain(inputResponses, result['requestState']);
    result = await context.route.entry.run(context.params, context);
  }
  return result;
}

async function askAll(context: Context, inputRequests: unknown): Promise<Readonly<Record<string, JsonObject>>> {
  const asks = readInputRequests(context, isJsonObject(inputRequests) ? inputRequests : {});
  try {
    const answers = asks.map(async (ask) => [ask.key ?? '', await context.ask(ask)] as const);
    return Object.fromEntries(await Promise.all(answers));
  } catch (error) {
    if (!isMortiseError(error) || error.code !== 'ERR_REMOTE') throw error;
    throw new ProtocolError(INTERNAL_ERROR, `${nameCall(context)} cannot go on: the client did not answer`, undefined, { cause: error });
  }
}

/** @see 2025-11-25 client/elicitation#url-elicitation-required-error */
function toPagesError(context: Context, pages: Pages): Error {
  const { revision, client } = context;
  if (!revision.rules.elicitationIds) {
    const problem = `${nameCall(context)} needs the user to open a page, which ${revision.version} cannot ask for`;
    return new ClientCapabilityError(problem, { elicitation: { url: {} } });
  }
  const asks = pages.map((page) => prepareAsk({ method: 'elicitation/create', params: { ...page, mode: 'url' } }, context));
  for (const ask of asks) requireClientCapability(ask, revision, client.capabilities);
  return urlElicitationRequiredError(asks.map(({ params }) => params as unknown as Pages[number]));
}

function readInputRequests(context: Context, inputRequests: JsonObject): readonly Ask[] {
  return Object.entries(inputRequests).map(([key, request]) => {
    const { method, params } = isJsonObject(request) ? request : {};
    if (typeof method !== 'string' || (params !== undefined && !isJsonObject(params)))
      throw new AskError('ERR_INVALID_ASK', `inputRequests[${JSON.stringify(key)}] must be { method, params }`);
    return prepareAsk({ method, key, ...(params === undefined ? {} : { params }) }, context);
  });
}
