/** Results by which a handler asks without waiting, `return inputRequired({ ... })`, on the modern wire. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { toDigestKey } from '@mortise/jsonrpc-core/encoding';
import type { UrlElicitationData } from '@mortise/protocol/wire';
import type { Ask } from '@mortise/protocol/contracts';
import { AskUnavailableError, InvalidHandlerResultError } from '../errors.ts';
import type { RequestCall } from '../request-call.ts';
import { describeAsk, digestAsk, nameCall } from './ask-identity.ts';
import { ExchangeRun } from './exchange-run.ts';
import { prepareAsk, readInputRequest } from './prepare-ask.ts';
import { refusePages } from './refuse-pages.ts';
import { requireClientCapability } from './required-capabilities.ts';
import type { Asked } from './round-state.ts';

/** Checks and seals a result that asks. */
export async function sealByHand(call: RequestCall, result: JsonObject): Promise<JsonObject> {
  const { inputRequests = {}, requestState, _meta } = result;
  if (!isJsonObject(inputRequests) || (Object.keys(inputRequests).length === 0 && requestState === undefined)) {
    throw new InvalidHandlerResultError(
      `${nameCall(call)}: an input_required result has inputRequests by key, or a requestState, or both: say what is wanted`,
    );
  }
  const asks = Object.entries(inputRequests).map(([key, request]) => prepareAsk(readInputRequest(key, request), call));
  const sealed = await seal(call, asks, requestState);
  return _meta === undefined ? sealed : { ...sealed, _meta };
}

/** Asks for pages without which the handler cannot go on. It runs again when the user has agreed to open them. */
export async function askForPages(call: RequestCall, pages: UrlElicitationData['elicitations']): Promise<JsonObject> {
  const asks = pages.map((page): Ask => {
    const params = { ...page, mode: 'url' };
    const ask = prepareAsk({ method: 'elicitation/create', params }, call);
    return { ...ask, key: toDigestKey(ask.method, digestAsk(ask.method, ask.params)) };
  });
  refusePages(call, asks);
  return seal(call, asks, call.round?.requestState);
}

async function seal(call: RequestCall, asks: readonly Ask[], given: JsonObject[string]): Promise<JsonObject> {
  const { run, revision, client } = call;
  if (!(run instanceof ExchangeRun)) throw new AskUnavailableError(`${nameCall(call)} cannot ask here`);
  const round = await run.open();
  round.requireRound();
  const asked = new Map<string, Asked & { readonly params: JsonObject | undefined }>();
  for (const ask of asks) {
    if (revision.requests.get(ask.method)?.direction !== 'embedded')
      throw new AskUnavailableError(`"${ask.method}" cannot be asked in ${revision.version}`);
    requireClientCapability(ask, revision, client.capabilities);
    const { method, params, key = '' } = ask;
    asked.set(key, { method, params, source: 'by hand', digest: digestAsk(method, params), text: describeAsk(method, params) });
  }
  await run.steps.settled();
  run.steps.close();
  return round.seal(asked, given);
}
