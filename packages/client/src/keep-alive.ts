/** Pings a silent legacy server to find out whether it is still there. Quiet while messages come. */

import { type ClockTimer, RemoteError } from '@mortise/jsonrpc-core';
import { ChannelLink } from './link.ts';
import type { Session, SessionSettings } from './session.ts';

const MAX_FAILURES = 3;
/** How long one ping waits for its answer. */
const PING_TIMEOUT_MS = 10_000;

/**
 * Begins to ping a session's server.
 *
 * @param silenceMs How long the server may be silent before it is pinged; undefined for no ping.
 * @returns Ends it; undefined where the session has no `ping`.
 * @see 2025-11-25 basic/utilities/ping
 */
export function keepSessionAlive(
  session: Session,
  { clock, logger }: SessionSettings,
  silenceMs: number | undefined,
): (() => void) | undefined {
  const { link } = session;
  if (silenceMs === undefined || !session.revision.requests.has('ping') || !(link instanceof ChannelLink)) return undefined;
  let timer: ClockTimer;
  let isOver = false;
  let failures = 0;
  const wait = (delayMs: number): void => {
    if (!isOver) timer = clock.schedule(look, delayMs);
  };
  const onAnswer = (): void => {
    failures = 0;
    wait(silenceMs);
  };
  const onFailure = (error: unknown): void => {
    // An error is an answer too.
    if (error instanceof RemoteError) return onAnswer();
    if (isOver) return;
    failures += 1;
    logger.log('warning', `the server did not answer a ping (${failures} in a row)`);
    if (failures < MAX_FAILURES) return wait(silenceMs);
    isOver = true;
    void link.close();
  };
  const look = (): void => {
    const silentMs = clock.monotonicMs() - link.heardAtMs;
    if (silentMs >= silenceMs) return void session.ping({ timeoutMs: PING_TIMEOUT_MS }).then(onAnswer, onFailure);
    failures = 0;
    wait(silenceMs - silentMs);
  };
  wait(silenceMs);
  return () => {
    isOver = true;
    timer.cancel();
  };
}
