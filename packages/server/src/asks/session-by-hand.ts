/** Results by which a handler asks without waiting, on the legacy wire, which does not have them: the same by requests. */

import { isMortiseError, type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { type UrlElicitationData, urlElicitationRequiredError } from '@mortise/protocol/wire';
import { ClientCapabilityError, TooManyAsksError } from '../errors.ts';
import type { RequestCall } from '../request-call.ts';
import { nameCall } from './ask-identity.ts';
import { prepareAsk, readInputRequest } from './prepare-ask.ts';
import { requireClientCapability } from './required-capabilities.ts';
import { SessionRun } from './session-run.ts';

/** Asks what a result asks, and runs the handler again with the answers until it gives another result. */
export async function runByHand(call: RequestCall, first: JsonObject): Promise<JsonObject> {
  call.isConcluded = true;
  const { maxRounds = 10 } = call.core.options.requestState ?? {};
  let result = first;
  for (let round = 0; result['resultType'] === 'input_required'; round++) {
    if (round >= maxRounds) throw new TooManyAsksError(`${nameCall(call)} asked back ${maxRounds} times: raise requestState.maxRounds`);
    const inputResponses = await askAll(call, result['inputRequests'] ?? {});
    if (call.isEnded) return result;
    call.round = { inputResponses, requestState: result['requestState'], reports: countReports(call), progress: undefined };
    result = await call.resolved.entry.run(call.params, call);
  }
  return result;
}

/**
 * @throws {ProtocolError} -32042 with the pages.
 * @throws {ClientCapabilityError} The revision or the client has no pages.
 * @see 2025-11-25 client/elicitation#url-elicitation-required-error
 */
export async function requirePages(call: RequestCall, pages: UrlElicitationData['elicitations']): Promise<JsonObject> {
  if (!call.revision.rules.elicitationIds) {
    throw new ClientCapabilityError(`${nameCall(call)} needs the user to open a page, which ${call.revision.version} cannot ask for`, {
      elicitation: { url: {} },
    });
  }
  const asks = pages.map((page) => prepareAsk({ method: 'elicitation/create', params: { ...page, mode: 'url' } }, call));
  for (const ask of asks) requireClientCapability(ask, call.revision, call.client.capabilities);
  throw urlElicitationRequiredError(asks.map(({ params }) => params as unknown as UrlElicitationData['elicitations'][number]));
}

async function askAll(call: RequestCall, inputRequests: unknown): Promise<Readonly<Record<string, JsonObject>>> {
  const entries = Object.entries(isJsonObject(inputRequests) ? inputRequests : {});
  const asks = entries.map(([key, request]) => prepareAsk(readInputRequest(key, request), call));
  try {
    const answers = asks.map(async (ask) => [ask.key ?? '', await call.run.ask(ask)] as const);
    return Object.fromEntries(await Promise.all(answers));
  } catch (error) {
    throw isMortiseError(error) && error.code === 'ERR_REMOTE'
      ? new ProtocolError(INTERNAL_ERROR, `${nameCall(call)} cannot go on: the client did not answer`, undefined, { cause: error })
      : error;
  }
}

/** What was sent so far is not sent again. */
function countReports({ run }: RequestCall): number {
  return run instanceof SessionRun ? run.beginAgain() : 0;
}
