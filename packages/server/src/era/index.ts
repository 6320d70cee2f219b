/** What an era does its own way. The one place that looks at `revision.era`; which era a message is of is told by `isModernParams`. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Era, Revision } from '@mortise/protocol';
import type { UrlElicitationData } from '@mortise/protocol/wire';
import type { HandlerRun } from '@mortise/protocol/contracts';
import { createExchangeRun } from '../asks/exchange-run.ts';
import { withAsking } from '../asks/load-asking.ts';
import { createSessionRun } from '../asks/session-run.ts';
import type { RequestCall } from '../request-call.ts';

/** What differs by era and is no fact of a single revision. */
export interface EraWays {
  /** How a handler reaches the client beyond its answer. */
  createRun(call: RequestCall): HandlerRun;
  /** What becomes of a result that asks and was written by hand. */
  askByHand(call: RequestCall, result: JsonObject): Promise<JsonObject>;
  /** What becomes of a handler's word that the user has to open pages first. */
  askForPages(call: RequestCall, pages: UrlElicitationData['elicitations']): Promise<JsonObject>;
  /** Error codes from here down to -32099 may be sent only where the revision defines them. */
  readonly reservedCodesFrom: number;
}

const WAYS: Readonly<Record<Era, EraWays>> = {
  legacy: {
    createRun: createSessionRun,
    askByHand: (call, result) => withAsking(({ runByHand }) => runByHand(call, result)),
    askForPages: (call, pages) => withAsking(({ requirePages }) => requirePages(call, pages)),
    reservedCodesFrom: -32020,
  },
  modern: {
    createRun: createExchangeRun,
    askByHand: (call, result) => withAsking(({ sealByHand }) => sealByHand(call, result)),
    askForPages: (call, pages) => withAsking(({ askForPages }) => askForPages(call, pages)),
    reservedCodesFrom: -32000,
  },
};

/** The ways of a revision's era. */
export function eraOf(revision: Revision): EraWays {
  return WAYS[revision.era];
}
