/** Pings a legacy server now and then to find out whether it is still there. */

import { type ClockTimer, RemoteError } from '@mortise/jsonrpc-core';
import type { Session, SessionSettings } from './session.ts';

const MAX_FAILURES = 3;
/** How long one ping waits for its answer. */
const PING_TIMEOUT_MS = 10_000;

/**
 * Begins to ping a session's server, and closes the session's link after three pings in a row without an answer.
 *
 * @param everyMs The pause between two pings; undefined for no ping.
 * @returns Ends it.
 * @see 2025-11-25 basic/utilities/ping
 */
export function keepSessionAlive(session: Session, { clock, logger }: SessionSettings, everyMs: number | undefined): () => void {
  let timer: ClockTimer | undefined;
  let isOver = everyMs === undefined || !session.revision.requests.has('ping');
  let failures = 0;
  const onOutcome = (error?: unknown): void => {
    if (isOver) return;
    // An error is an answer too.
    failures = error === undefined || error instanceof RemoteError ? 0 : failures + 1;
    if (failures > 0) logger.log('warning', `the server did not answer a ping (${failures} in a row)`);
    if (failures < MAX_FAILURES) wait();
    else void session.link.close();
  };
  const ping = (): void => void session.ping({ timeoutMs: PING_TIMEOUT_MS }).then(() => onOutcome(), onOutcome);
  const wait = (): void => {
    timer = clock.schedule(ping, everyMs ?? Infinity);
  };
  if (!isOver) wait();
  return () => {
    isOver = true;
    timer?.cancel();
  };
}
