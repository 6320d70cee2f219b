/** Sends log messages to clients: implements `ctx.log`, and filters messages by level and rate. */

import type { Clock, JsonObject, JsonValue, LogLevel } from '@mortise/jsonrpc-core';
import { LOGGING_LEVELS, type Revision } from '@mortise/protocol';
import { isLevelEnabled, isLoggingLevel } from '@mortise/protocol/checks';
import { META_LOG_LEVEL } from '@mortise/protocol/wire';
import type { Context } from './context.ts';
import type { HandlerLog } from './handler-context.ts';
import { hideSecrets } from './hide-secrets.ts';
import type { Server } from './server.ts';
import { TokenBucket } from './token-bucket.ts';

/** How many log messages one session, or one modern request, may receive at once. Further ones are dropped and counted. */
const BURST = 100;
const PER_SECOND = 50;

/** Filters log messages by level and rate, and removes likely secrets. Each legacy session and each modern request has its own. */
export class LogGate {
  /** The log level that the client has set: less severe messages are not sent. */
  threshold: LogLevel;
  readonly #clock: Clock;
  #bucket: TokenBucket | undefined;
  #dropped = 0;

  constructor(threshold: LogLevel, clock: Clock) {
    this.threshold = threshold;
    this.#clock = clock;
  }

  /** Returns the params of `notifications/message`, or undefined if the log message must not be sent. */
  admit(level: LogLevel, data: JsonValue, logger: string | undefined): JsonObject | undefined {
    if (!isLevelEnabled(level, this.threshold)) return undefined;
    this.#bucket ??= new TokenBucket(BURST, PER_SECOND, this.#clock);
    if (!this.#bucket.take()) {
      this.#dropped += 1;
      return undefined;
    }
    // Tells the client how many messages were dropped before this one.
    const meta = this.#dropped === 0 ? {} : { _meta: { 'dev.mortise/droppedMessages': this.#dropped } };
    this.#dropped = 0;
    return { level, ...(logger === undefined ? {} : { logger }), data: hideSecrets(data), ...meta };
  }
}

/** Writes one warning to the server's `logger` if a log message is dropped because the server does not declare the capability `logging`. */
export function warnOfSilence(server: Server, revision: Revision, use: string): void {
  if (server.capabilities.has(revision, 'logging')) return;
  server.warnOnce(
    `${use} sends nothing, because the server does not declare logging: new McpServer(info, { capabilities: { logging: {} } })`,
  );
}

export function noSuchLevel(level: unknown): TypeError {
  return new TypeError(`log level ${JSON.stringify(level)} does not exist: use one of ${LOGGING_LEVELS.join(', ')}`);
}

/** Makes `ctx.log` with its methods such as `ctx.log.info`. */
export function createLog(context: Context): HandlerLog {
  let gate: LogGate | undefined;
  const write = async (level: LogLevel, data: JsonValue, logger?: string): Promise<void> => {
    if (!isLoggingLevel(level)) throw noSuchLevel(level);
    if (context.isOver) return;
    warnOfSilence(context.server, context.revision, 'ctx.log');
    gate ??= findGate(context);
    const params = gate?.admit(level, data ?? null, logger);
    if (params) await context.report({ jsonrpc: '2.0', method: 'notifications/message', params });
  };
  const byLevel = LOGGING_LEVELS.map((level) => [level, (data: JsonValue, logger?: string) => write(level, data, logger)] as const);
  return Object.assign(write, Object.fromEntries(byLevel) as Record<LogLevel, (typeof byLevel)[number][1]>);
}

/** Returns the filter for a request's log messages. Undefined if the client gets no log messages. */
function findGate({ server, session, revision, meta }: Context): LogGate | undefined {
  if (!server.capabilities.has(revision, 'logging')) return undefined;
  if (session && revision.rules.logLevel === 'session') return session.logGate;
  const level = meta[META_LOG_LEVEL];
  return isLoggingLevel(level) ? new LogGate(level, server.clock) : undefined;
}
