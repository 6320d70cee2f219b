/** Asks a silent legacy server whether it is still there. Quiet while messages come. Loaded where the program wants it. */

import { type Clock, type ClockTimer, RemoteError } from '@mortise/jsonrpc-core';
import type { ChannelLink } from './channel-link.ts';
import type { Session, SessionSettings } from './session.ts';

/** How a client finds out that a server has gone without a word. Legacy era only: the modern one has no `ping`. */
export interface KeepAliveOptions {
  /** How long the server may be silent before it is asked, in milliseconds. @default 30_000 */
  readonly intervalMs?: number | undefined;
  /** How long the answer is waited for, in milliseconds. @default 10_000 */
  readonly timeoutMs?: number | undefined;
  /** How many pings in a row may fail before the connection counts as lost. @default 3 */
  readonly failures?: number | undefined;
}

/**
 * Begins to ask a session's server.
 *
 * @returns Ends it.
 */
export function keepSessionAlive(session: Session, { clock, logger }: SessionSettings, options: KeepAliveOptions): () => void {
  // Only channels have sessions with pings.
  const link = session.link as ChannelLink;
  const target: KeepAliveTarget = {
    heardAtMs: () => link.heardAtMs,
    ping: (timeoutMs) => session.ping({ timeoutMs }).catch(ignoreRemote),
    onFailure: (inARow) => logger.log('warning', `the server did not answer a ping (${inARow} in a row)`),
    onDead: () => void link.close(),
  };
  return keepAlive(target, clock, options);
}

/** An error is an answer too. */
function ignoreRemote(error: unknown): void {
  if (!(error instanceof RemoteError)) throw error;
}

/** What keep-alive does with its findings. */
interface KeepAliveTarget {
  /** When the last message came, by the clock's monotonic time. */
  heardAtMs(): number;
  /** Resolves with the answer, whatever it says; rejects when none came in time. */
  ping(timeoutMs: number): Promise<void>;
  /** One ping failed. @param inARow How many have, with this one. */
  onFailure(inARow: number): void;
  /** The server is gone. */
  onDead(): void;
}

/**
 * Begins to ask.
 *
 * @returns Ends it.
 * @see 2025-11-25 basic/utilities/ping
 */
function keepAlive(target: KeepAliveTarget, clock: Clock, options: KeepAliveOptions): () => void {
  const [intervalMs, timeoutMs, maxFailures] = [options.intervalMs ?? 30_000, options.timeoutMs ?? 10_000, options.failures ?? 3];
  let timer: ClockTimer | undefined;
  let isOver = false;
  let failures = 0;
  const wait = (delayMs: number): void => {
    if (!isOver) timer = clock.schedule(look, delayMs);
  };
  const look = (): void => {
    const silentMs = clock.monotonicMs() - target.heardAtMs();
    if (silentMs < intervalMs) {
      failures = 0;
      return wait(intervalMs - silentMs);
    }
    target.ping(timeoutMs).then(() => {
      failures = 0;
      wait(intervalMs);
    }, onFailed);
  };
  const onFailed = (): void => {
    if (isOver) return;
    failures += 1;
    target.onFailure(failures);
    if (failures < maxFailures) return wait(intervalMs);
    isOver = true;
    target.onDead();
  };
  wait(intervalMs);
  return () => {
    isOver = true;
    timer?.cancel();
  };
}
