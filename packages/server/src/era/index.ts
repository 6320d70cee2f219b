/** What an era does its own way. The one place that looks at `revision.era`; which era a message is of is told by `isModernParams`. */

import type { Era, Revision } from '@mortise/protocol';
import type { HandlerRun } from '@mortise/protocol/contracts';
import { createExchangeRun } from '../asks/exchange-run.ts';
import { createSessionRun } from '../asks/session-run.ts';
import type { RequestCall } from '../request-call.ts';

/** What differs by era and is no fact of a single revision. */
export interface EraWays {
  /** How a handler reaches the client beyond its answer. */
  createRun(call: RequestCall): HandlerRun;
  /** Error codes from here down to -32099 may be sent only where the revision defines them. */
  readonly reservedCodesFrom: number;
}

const WAYS: Readonly<Record<Era, EraWays>> = {
  legacy: { createRun: createSessionRun, reservedCodesFrom: -32020 },
  modern: { createRun: createExchangeRun, reservedCodesFrom: -32000 },
};

/** The ways of a revision's era. */
export function eraOf(revision: Revision): EraWays {
  return WAYS[revision.era];
}
