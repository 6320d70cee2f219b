/** The instruments that every part takes instead of reaching for the platform's: a clock, a logger, a meter; and their defaults. */

import { runCallback } from './transport/hold-transport.ts';

/** A running timer of a `Clock`. */
export interface ClockTimer {
  /** Stops the timer. Does nothing once it has fired. */
  cancel(): void;
}

/** What a clock's timers may have, too: whether they keep the process alive can be changed while they run. */
export interface HoldableTimer extends ClockTimer {
  /** Keeps the process alive until the timer fires. */
  hold(): void;
  /** Lets the process end before the timer fires. */
  release(): void;
}

/** Tells the time and wakes callers up, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never run backwards, for measuring spans. */
  monotonicMs(): number;
  /** Calls `fn` once after `delayMs`. The timer does not keep a process alive unless `keepAlive` is true. */
  schedule(fn: () => void, delayMs: number, options?: { readonly keepAlive?: boolean }): ClockTimer;
}

/** The severities of syslog (RFC 5424), least to most severe, as MCP's logging uses them. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** Where a part writes what an operator should see. Never given tokens, payloads or stacks of others. */
export interface Logger {
  /** Writes one line. Must not throw. */
  log(level: LogLevel, message: string, data?: Readonly<Record<string, unknown>>): void;
}

/** Counts and measures. Names are dotted and lower case, `mcp.server.requests`. */
export interface Meter {
  /** Adds to a counter. Must not throw. */
  count(name: string, value: number, attributes?: Readonly<Record<string, string | number | boolean>>): void;
  /** Records one value of a distribution; the unit is in the name (`mcp.server.duration_ms`). Must not throw. */
  record(name: string, value: number, attributes?: Readonly<Record<string, string | number | boolean>>): void;
}

/** The longest delay that platforms take; a longer one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The platform's time. Its timers do not keep a process alive, where the platform can tell, unless they are asked to. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule: (fn, delayMs, options) => new SystemTimer(fn, delayMs, options?.keepAlive === true),
};

/** A logger that drops every line. */
export const silentLogger: Logger = { log: () => undefined };

class SystemTimer implements HoldableTimer {
  readonly #fn: () => void;
  #keepAlive: boolean;
  #restMs: number;
  #handle: ReturnType<typeof setTimeout> | undefined;

  constructor(fn: () => void, delayMs: number, keepAlive: boolean) {
    this.#fn = fn;
    this.#keepAlive = keepAlive;
    this.#restMs = delayMs;
    this.#arm();
  }

  cancel(): void {
    clearTimeout(this.#handle);
    this.#handle = undefined;
  }

  hold(): void {
    this.#keepAlive = true;
    const handle: unknown = this.#handle;
    if (typeof handle === 'object' && handle !== null && 'ref' in handle && typeof handle.ref === 'function') handle.ref();
  }

  release(): void {
    this.#keepAlive = false;
    release(this.#handle);
  }

  #arm(): void {
    const delayMs = Math.min(this.#restMs, MAX_DELAY_MS);
    this.#restMs -= delayMs;
    this.#handle = setTimeout(() => (this.#restMs > 0 ? this.#arm() : this.#fn()), delayMs);
    if (!this.#keepAlive) release(this.#handle);
  }
}

/** On Node a timer is an object with `unref`; elsewhere it is a number. */
function release(handle: unknown): void {
  if (typeof handle === 'object' && handle !== null && 'unref' in handle && typeof handle.unref === 'function') handle.unref();
}

/**
 * Makes a logger safe to call: one that throws or rejects, perhaps over a strange value, must not cost a request its answer, nor end the process.
 *
 * @param logger A line that it fails to write is lost.
 */
export function guardLogger(logger: Logger): Logger {
  if (logger === silentLogger) return logger;
  return {
    log: (level, message, data) =>
      runCallback(
        () => logger.log(level, message, data),
        () => undefined,
      ),
  };
}
