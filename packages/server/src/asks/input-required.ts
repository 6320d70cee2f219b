/** `inputRequired`: makes an `input_required` result, by which a handler requests input from the client. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import type { InputRequest, InputRequiredResult } from '@mortise/protocol/model';

/** The argument of `inputRequired`. At least one of `inputRequests` and `requestState` must be given. */
export interface InputWanted {
  /** Elicitation, sampling or roots requests, under keys of your choice. Their answers are in `ctx.inputResponses` under the same keys. */
  readonly inputRequests?: Readonly<Record<string, InputRequest>> | undefined;
  /** Any JSON value that the handler needs when it is called again. Sent encrypted; it is in `ctx.requestState` when the answers arrive. */
  readonly requestState?: JsonValue | undefined;
}

/**
 * Makes an `input_required` result, by which a tool, prompt or resource handler requests input from the client. The handler is called again
 * with the answers, so it checks `ctx.inputResponses` first. Works in every revision: a legacy session sends `inputRequests` as requests.
 *
 * ```ts
 * if (!ctx.inputResponses?.['who'])
 *   return inputRequired({ inputRequests: { who: { method: 'elicitation/create', params } } });
 * ```
 *
 * Only the shape of the client's answers is checked: the handler must check form values itself. An answer may be missing.
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
