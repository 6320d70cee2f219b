/** Pings a silent legacy server to find out whether it is still there. Quiet while messages come. */

import { type ClockTimer, RemoteError } from '@mortise/jsonrpc-core';
import { ChannelLink } from './link.ts';
import type { Session, SessionSettings } from './session.ts';

/** How a client finds out that a server has gone without a word. Legacy era only: the modern one has no `ping`. */
export interface KeepAliveOptions {
  /** How long the server may be silent before the client pings it, in milliseconds. @default 30_000 */
  readonly intervalMs?: number | undefined;
  /** How long a ping waits for its answer, in milliseconds; three in a row without one end the connection. @default 10_000 */
  readonly timeoutMs?: number | undefined;
}

const MAX_FAILURES = 3;

/**
 * Begins to ping a session's server.
 *
 * @returns Ends it; undefined where the session has no `ping`.
 * @see 2025-11-25 basic/utilities/ping
 */
export function keepSessionAlive(
  session: Session,
  { clock, logger }: SessionSettings,
  { intervalMs = 30_000, timeoutMs = 10_000 }: KeepAliveOptions,
): (() => void) | undefined {
  const { link } = session;
  if (!session.revision.requests.has('ping') || !(link instanceof ChannelLink)) return undefined;
  let timer: ClockTimer;
  let isOver = false;
  let failures = 0;
  const wait = (delayMs: number): void => {
    if (!isOver) timer = clock.schedule(look, delayMs);
  };
  const onAnswer = (): void => {
    failures = 0;
    wait(intervalMs);
  };
  const onFailure = (error: unknown): void => {
    // An error is an answer too.
    if (error instanceof RemoteError) return onAnswer();
    if (isOver) return;
    failures += 1;
    logger.log('warning', `the server did not answer a ping (${failures} in a row)`);
    if (failures < MAX_FAILURES) return wait(intervalMs);
    isOver = true;
    void link.close();
  };
  const look = (): void => {
    const silentMs = clock.monotonicMs() - link.heardAtMs;
    if (silentMs >= intervalMs) return void session.ping({ timeoutMs }).then(onAnswer, onFailure);
    failures = 0;
    wait(intervalMs - silentMs);
  };
  wait(intervalMs);
  return () => {
    isOver = true;
    timer.cancel();
  };
}
