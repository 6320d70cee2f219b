/** Checks the figures that a program gives a client. */

import { checkAmounts } from '@mortise/jsonrpc-core/transport';
import type { AskLimits, ElicitationHandlers } from './answers.ts';
import type { ClientOptions } from './client-options.ts';
import type { KeepAliveOptions } from './keep-alive.ts';

type Least<Options> = { readonly [Name in keyof Options]?: number };

const LEAST = {
  probeTimeoutMs: 0,
  initializeTimeoutMs: 0,
  requestTimeoutMs: 0,
  maxRequestTimeoutMs: 0,
  maxInFlightBytes: 0,
  maxInputRounds: 0,
  maxPages: 1,
} satisfies Least<ClientOptions>;
const LEAST_KEEP_ALIVE = { intervalMs: 1, timeoutMs: 0, failures: 1 } satisfies Least<KeepAliveOptions>;
const LEAST_ASKS = { elicitationsPerMinute: 0, samplingsPerMinute: 0 } satisfies Least<AskLimits>;
const LEAST_ELICITATION = { pageTimeoutMs: 0 } satisfies Least<ElicitationHandlers>;

/** @throws {RangeError} A numeric option is no number, or less than it may be. */
export function checkClient(options: ClientOptions): void {
  checkAmounts("the client's options", options, LEAST);
  checkAmounts("the client's options: keepAlive", options.keepAlive ?? {}, LEAST_KEEP_ALIVE);
  checkAmounts("the client's options: askLimits", options.askLimits ?? {}, LEAST_ASKS);
  checkAmounts("the client's options: elicitation", options.elicitation ?? {}, LEAST_ELICITATION);
}
