/** What a handler's options for a question come to. */

import type { Ask } from '@mortise/protocol/contracts';
import type { AskOptions } from '../context.ts';

/** The part of an `Ask` that options give; what is not given is left out. */
export function toAskOptions(options: AskOptions = {}): Pick<Ask, 'key' | 'signal' | 'timeoutMs'> {
  const { key, signal, timeoutMs } = options;
  return { ...(key === undefined ? {} : { key }), ...(signal ? { signal } : {}), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
}
