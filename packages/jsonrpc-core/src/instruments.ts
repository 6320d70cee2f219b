/** What every part writes to instead of reaching for the platform's: a logger and a meter, and their defaults. */

import { runCallback } from './transport/hold-transport.ts';

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

/** A logger that drops every line. */
export const silentLogger: Logger = { log: () => undefined };

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
