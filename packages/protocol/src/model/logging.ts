/**
 * Log messages that a server sends to the client.
 *
 * Deprecated since 2026-07-28: write to stderr (stdio), or use OpenTelemetry.
 */

import type { JsonValue } from '@mortise/jsonrpc-core';
import type { NotificationParams, RequestParams } from './meta.ts';

/** The severities of syslog (RFC 5424 section 6.2.1). */
export type LoggingLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** All levels, from least to most severe. */
export const LOGGING_LEVELS: readonly LoggingLevel[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** Params of `logging/setLevel`. @until 2025-11-25; later revisions have `io.modelcontextprotocol/logLevel` in `_meta` of each request. */
export interface SetLevelRequestParams extends RequestParams {
  readonly level: LoggingLevel;
}

/**
 * Params of `notifications/message`.
 *
 * @deprecated since 2026-07-28: write to stderr, or use OpenTelemetry.
 */
export interface LoggingMessageNotificationParams extends NotificationParams {
  readonly level: LoggingLevel;
  readonly logger?: string | undefined;
  readonly data: JsonValue;
}

/** Tells whether a value is one of the eight log levels. */
export function isLoggingLevel(value: unknown): value is LoggingLevel {
  return (LOGGING_LEVELS as readonly unknown[]).includes(value);
}

/** Tells whether the log level `level` is at least as severe as `threshold`. */
export function isLevelEnabled(level: LoggingLevel, threshold: LoggingLevel): boolean {
  return LOGGING_LEVELS.indexOf(level) >= LOGGING_LEVELS.indexOf(threshold);
}
