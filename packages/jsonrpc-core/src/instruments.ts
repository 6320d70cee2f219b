/** The instruments that every part takes instead of reaching for the platform's: a clock, a logger, a meter. */

/** A running timer of a `Clock`. */
export interface ClockTimer {
  /** Stops the timer. Does nothing once it has fired. */
  cancel(): void;
}

/** A timer that can be told, while it runs, whether a process must live for it. Clocks without such timers need not have them. */
export interface HoldableTimer extends ClockTimer {
  /** The process lives until it fires. */
  hold(): void;
  /** The process does not wait for it. */
  release(): void;
}

/** Whether a timer can be held and released. */
export function isHoldableTimer(timer: ClockTimer): timer is HoldableTimer {
  return 'hold' in timer && 'release' in timer;
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
