/** `inputRequired`: a handler result that asks the client. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import type { InputRequest, InputRequiredResult } from '@mortise/protocol/model';

/** The arguments of `inputRequired`. At least one of the two is needed. */
export interface InputWanted {
  /** Questions by keys of your choice. The answers are in `ctx.inputResponses` under the same keys. */
  readonly inputRequests?: Readonly<Record<string, InputRequest>> | undefined;
  /** Any JSON that the next run needs. It is sent encrypted, and is in `ctx.requestState` when the answers arrive. */
  readonly requestState?: JsonValue | undefined;
}

/**
 * Makes a result that asks the client without waiting, for a tool, prompt or resource handler. The handler is called again with the answers, so it
 * checks `ctx.inputResponses` first. Works in every revision: in a legacy session the questions are sent as requests.
 *
 * ```ts if (!ctx.inputResponses?.['who']) return inputRequired({ inputRequests: { who: { method: 'elicitation/create', params } } });
 * ```
 *
 * Only the shape of answers is checked: the handler must check form values itself. An answer may be missing.
 *
 * @see 2026-07-28 basic/patterns/mrtr#inputrequiredresult
 */
export function inputRequired(wanted: InputWanted): InputRequiredResult {
  const { inputRequests, requestState } = wanted;
  return {
    resultType: 'input_required',
    ...(inputRequests === undefined ? {} : { inputRequests }),
    // The wire type is a string. Until it is sealed, the state may be any JSON.
    ...(requestState === undefined ? {} : { requestState: requestState as string }),
  };
}
