/** How long one call may still wait. */

import { isAmount } from '../check-amounts.ts';

/** The hard bound of a call where nothing says another, in milliseconds. */
export const DEFAULT_MAX_TIMEOUT_MS = 600_000;

/** What bounds a call, in milliseconds; `Infinity` for no bound. */
export interface TimeBounds {
  /** Since it was sent, or since it was last heard of. */
  readonly timeoutMs: number;
  /** Since it was sent, whatever is heard of it. */
  readonly maxTimeoutMs: number;
}

/** How often and since when a call's time stands still. Most calls never have one. */
interface Standstill {
  /** How many pauses there are now. */
  count: number;
  sinceMs: number;
  /** How much longer than until `sinceMs` the time may stand still in all. */
  leftMs: number;
}

/** A base and not a member, so that a call is its own time limit and costs one object. All times are by `Clock.monotonicMs`. */
export abstract class TimeLimit {
  /** When the call has waited long enough; `Infinity` for never. While its time stands still, when it would have without that. */
  deadlineMs: number;
  readonly #bounds: TimeBounds;
  #hardDeadlineMs: number;
  #standstill: Standstill | undefined;

  constructor(bounds: TimeBounds, nowMs: number) {
    this.#bounds = bounds;
    this.#hardDeadlineMs = nowMs + bounds.maxTimeoutMs;
    this.deadlineMs = Math.min(nowMs + bounds.timeoutMs, this.#hardDeadlineMs);
  }

  /** When the call ends if nothing more is heard of it, though the pauses of now should never end. */
  get endMs(): number {
    return this.deadlineMs + (this.#pause?.leftMs ?? 0);
  }

  /** The call has been heard of: `timeoutMs` begins anew, within the hard bound. */
  restart(nowMs: number): void {
    const pause = this.#pause;
    const sinceMs = pause ? Math.max(pause.sinceMs, nowMs - pause.leftMs) : nowMs;
    this.deadlineMs = Math.min(sinceMs + this.#bounds.timeoutMs, this.#hardDeadlineMs);
  }

  /**
   * Lets the time stand still, the hard bound's too.
   *
   * @param mostMs How long it may stand still in all, counted over every pause of the call; then it goes on by itself.
   */
  pause(nowMs: number, mostMs: number = Infinity): void {
    const standstill = (this.#standstill ??= { count: 0, sinceMs: nowMs, leftMs: mostMs });
    if (standstill.count === 0) standstill.sinceMs = nowMs;
    standstill.count += 1;
  }

  /** Ends one pause; the last one lets the time go on, by exactly what was lost later. @returns Whether it goes on. */
  resume(nowMs: number): boolean {
    const pause = this.#pause;
    if (!pause) return true;
    pause.count -= 1;
    if (pause.count > 0) return false;
    const lostMs = Math.min(nowMs - pause.sinceMs, pause.leftMs);
    pause.leftMs -= lostMs;
    this.#hardDeadlineMs += lostMs;
    this.deadlineMs += lostMs;
    return true;
  }

  /** Ends the call if its time is over and goes on. */
  expire(nowMs: number): void {
    if (this.endMs > nowMs) return;
    const lostMs = this.#pause?.leftMs ?? 0;
    this.onTimeout(nowMs - lostMs >= this.#hardDeadlineMs ? this.#bounds.maxTimeoutMs : this.#bounds.timeoutMs);
  }

  /** The time is over. Must not throw. @param boundMs Which of the two bounds was reached. */
  protected abstract onTimeout(boundMs: number): void;

  /** The standstill of now; undefined while the time goes on. */
  get #pause(): Standstill | undefined {
    return this.#standstill && this.#standstill.count > 0 ? this.#standstill : undefined;
  }
}

/** @returns Why the times that a call was given cannot hold; undefined if they can. `null` is not given. */
export function findBadTimes({
  timeoutMs,
  maxTimeoutMs,
}: { readonly [Name in keyof TimeBounds]?: TimeBounds[Name] | undefined }): RangeError | undefined {
  if (isAmount(timeoutMs ?? 0) && isAmount(maxTimeoutMs ?? 0)) return undefined;
  const bad = isAmount(timeoutMs ?? 0) ? `maxTimeoutMs: ${String(maxTimeoutMs)}` : `timeoutMs: ${String(timeoutMs)}`;
  return new RangeError(`timeoutMs and maxTimeoutMs must be 0 or more milliseconds, got ${bad}`);
}
