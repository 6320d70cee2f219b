/** The end of what stays open on the strength of a token: when that expires, the client has to come back with a fresh one. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import type { AuthInfo } from '@mortise/protocol/contracts';

/** A verifier may let a token pass that has just expired by this machine's clock: its stream lives long enough to be of use. */
const SHORTEST_LIFE_MS = 1_000;

/**
 * Calls `end` when the token that a stream was opened with expires.
 *
 * @returns The timer, to be cancelled when the stream ends earlier; undefined for a token that does not say when it expires, or none.
 */
export function watchExpiry(clock: Clock, auth: AuthInfo | undefined, end: () => void): ClockTimer | undefined {
  const expiresAtMs = auth?.expiresAtMs;
  if (expiresAtMs === undefined || !Number.isFinite(expiresAtMs)) return undefined;
  return clock.schedule(end, Math.max(SHORTEST_LIFE_MS, expiresAtMs - clock.now()));
}
