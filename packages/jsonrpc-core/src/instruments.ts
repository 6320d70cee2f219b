/** The logger and meter interfaces to which every part of Mortise writes, and their defaults. */

import { runCallback } from './transport/hold-transport.ts';

/** The severities of syslog (RFC 5424) from least to most severe, as in MCP logging. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** Writes log lines for operators. The lines never contain tokens, payloads or the peer's stack traces. */
export interface Logger {
  /** Writes one line. Must not throw. */
  log(level: LogLevel, message: string, data?: Readonly<Record<string, unknown>>): void;
}

/** Receives counts and measurements from Mortise. Names are dotted and lower case, for example `mcp.server.requests`. */
export interface Meter {
  /** Adds to a counter. Must not throw. */
  count(name: string, value: number, attributes?: Readonly<Record<string, string | number | boolean>>): void;
  /** Records one measured value; the unit is in the name (`mcp.server.duration_ms`). Must not throw. */
  record(name: string, value: number, attributes?: Readonly<Record<string, string | number | boolean>>): void;
}

/** A logger that drops every line. */
export const silentLogger: Logger = { log: () => undefined };

/**
 * Makes a logger safe to call. If the logger throws or rejects, the request still gets its response and the process does not end.
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
