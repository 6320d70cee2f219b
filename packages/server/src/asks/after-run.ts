/** What becomes of a run of a handler: its own outcome, or a result that asks. */

import { isMortiseError, type JsonObject, type ProtocolError } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { URL_ELICITATION_REQUIRED, type UrlElicitationData } from '@mortise/protocol/wire';
import { eraOf } from '../era/index.ts';
import { isForProtocol } from '../is-for-protocol.ts';
import type { RequestCall } from '../request-call.ts';
import { ExchangeRun } from './exchange-run.ts';

/** How a handler settled. */
export type RunOutcome = { readonly result: JsonObject } | { readonly error: unknown };

/** What the client gets in place of a handler's result; undefined where the result stands. */
export function afterResult(call: RequestCall, result: JsonObject): Promise<JsonObject> | undefined {
  if (call.isConcluded) return undefined;
  if (!isJsonObject(result)) return afterRun(call, { result });
  const asked = afterRun(call, { result });
  if (asked) return asked;
  return result['resultType'] === 'input_required' ? orFailure(call, eraOf(call.revision).askByHand(call, result)) : undefined;
}

/** What the client gets in place of a handler's error; undefined where the error stands. */
export function afterError(call: RequestCall, error: unknown): Promise<JsonObject> | undefined {
  if (call.isConcluded) return undefined;
  const asked = afterRun(call, { error });
  if (asked) return asked;
  const pages = pagesOf(error);
  return pages && orFailure(call, eraOf(call.revision).askForPages(call, pages));
}

function afterRun({ startedRun }: RequestCall, outcome: RunOutcome): Promise<JsonObject> | undefined {
  if (!(startedRun instanceof ExchangeRun)) return undefined;
  if (startedRun.isSuspended) return startedRun.conclude(outcome);
  startedRun.abandon();
  return undefined;
}

/** What cannot be asked is the tool's failure, as it is where the tool waits for the answer. */
async function orFailure(call: RequestCall, asked: Promise<JsonObject>): Promise<JsonObject> {
  try {
    return await asked;
  } catch (error) {
    const { toExpiredResult } = call.resolved.entry;
    if (!toExpiredResult || !isMortiseError(error) || isForProtocol(error, call)) throw error;
    call.isConcluded = true;
    call.core.logger.log('error', 'A tool could not ask', { tool: call.target, error });
    return toExpiredResult(error);
  }
}

/** The pages that an error names. */
function pagesOf(error: unknown): UrlElicitationData['elicitations'] | undefined {
  if (!isMortiseError(error) || error.code !== 'ERR_PROTOCOL') return undefined;
  const { rpcCode, data } = error as ProtocolError;
  if (rpcCode !== URL_ELICITATION_REQUIRED || !isJsonObject(data)) return undefined;
  const { elicitations } = data;
  return Array.isArray(elicitations) && elicitations.length > 0 ? (elicitations as UrlElicitationData['elicitations']) : undefined;
}
