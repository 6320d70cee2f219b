/** A result that asks, written by hand. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import type { InputRequest, InputRequiredResult } from '@mortise/protocol/model';

/** What a handler wants before it can answer. At least one of the two. */
export interface InputWanted {
  /** Questions by keys of the handler's own. The answers are in `ctx.inputResponses` under the same keys. */
  readonly inputRequests?: Readonly<Record<string, InputRequest>> | undefined;
  /** State that the handler needs again, any JSON. It is sealed, and is in `ctx.requestState` when the answers come. */
  readonly requestState?: JsonValue | undefined;
}

/**
 * Makes the result by which a tool, prompt or resource handler asks without waiting: it is called again with the answers, and looks at
 * `ctx.inputResponses` first. Works in every revision; where servers ask by requests, the requests are sent instead.
 *
 * ```ts
 * if (!ctx.inputResponses?.['who']) return inputRequired({ inputRequests: { who: { method: 'elicitation/create', params } } });
 * ```
 *
 * Answers are checked for their shape alone: what a form allows, the handler checks itself. An answer may be missing.
 *
 * @see 2026-07-28 basic/patterns/mrtr#inputrequiredresult
 */
export function inputRequired(wanted: InputWanted): InputRequiredResult {
  const { inputRequests, requestState } = wanted;
  return {
    resultType: 'input_required',
    ...(inputRequests === undefined ? {} : { inputRequests }),
    // Typed as the wire has it; until it is sealed it may be any JSON.
    ...(requestState === undefined ? {} : { requestState: requestState as string }),
  };
}
