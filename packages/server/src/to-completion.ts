/** A completer's answer as the protocol has it. */

import { MAX_COMPLETION_VALUES } from '@mortise/protocol/checks';
import type { Completion } from '@mortise/protocol/model';
import type { CompleteReturn } from './completable.ts';

/**
 * Brings a completer's answer into the protocol's form: at most 100 values, `total` and `hasMore` where values were cut.
 *
 * @see 2026-07-28 server/utilities/completion#completion-results
 */
export function toCompletion(answer: CompleteReturn): Completion {
  const { values, total, hasMore } = isList(answer) ? { values: answer, total: undefined, hasMore: undefined } : answer;
  const isCut = values.length > MAX_COMPLETION_VALUES;
  const known = total ?? (hasMore === true ? undefined : values.length);
  return {
    values: isCut ? values.slice(0, MAX_COMPLETION_VALUES) : values,
    ...(known === undefined ? undefined : { total: known }),
    hasMore: isCut || (hasMore ?? (known !== undefined && known > values.length)),
  };
}

function isList(answer: CompleteReturn): answer is readonly string[] {
  return Array.isArray(answer);
}
