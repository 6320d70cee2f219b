/** Which log messages reach a client: by the level that it set, and no more than it can stand. */

import type { Clock, JsonObject, JsonValue, LogLevel } from '@mortise/jsonrpc-core';
import { LOGGING_LEVELS, type Revision } from '@mortise/protocol';
import { isLevelEnabled } from '@mortise/protocol/checks';
import type { LoggingOptions } from './options.ts';
import { hideSecrets } from './hide-secrets.ts';
import type { ServerCore } from './server-core.ts';
import { TokenBucket } from './token-bucket.ts';

const DEFAULT_BURST = 100;
const DEFAULT_PER_SECOND = 50;

/** Lets messages through by level and rate. One a legacy session, one a modern request. */
export class LogGate {
  /** The least severe level that passes; undefined for silence. */
  threshold: LogLevel | undefined;
  readonly #clock: Clock;
  readonly #options: LoggingOptions;
  #bucket: TokenBucket | undefined;
  #dropped = 0;

  constructor(threshold: LogLevel | undefined, clock: Clock, options: LoggingOptions = {}) {
    this.threshold = threshold;
    this.#clock = clock;
    this.#options = options;
  }

  /** The params of the notification for a message that passes; undefined for one that does not. */
  admit(level: LogLevel, data: JsonValue, logger: string | undefined): JsonObject | undefined {
    if (this.threshold === undefined || !isLevelEnabled(level, this.threshold)) return undefined;
    this.#bucket ??= new TokenBucket(this.#options.burst ?? DEFAULT_BURST, this.#options.perSecond ?? DEFAULT_PER_SECOND, this.#clock);
    if (!this.#bucket.take()) {
      this.#dropped++;
      return undefined;
    }
    const meta = this.#takeDropped();
    return { level, ...(logger === undefined ? {} : { logger }), data: this.#redact(data), ...(meta ? { _meta: meta } : {}) };
  }

  #redact(data: JsonValue): JsonValue {
    const { redact = hideSecrets } = this.#options;
    return redact === false ? data : redact(data);
  }

  /** Says on the next message how many did not pass since the last. */
  #takeDropped(): JsonObject | undefined {
    if (this.#dropped === 0) return undefined;
    const dropped = this.#dropped;
    this.#dropped = 0;
    return { 'dev.mortise/droppedMessages': dropped };
  }
}

/** Tells the operator, once, why nobody gets what is logged. */
export function warnOfSilence(core: ServerCore, revision: Revision, use: string): void {
  if (core.capabilities.has(revision, 'logging')) return;
  core.warnOnce(`${use} sends nothing, as the server does not declare logging: new McpServer(info, { capabilities: { logging: {} } })`);
}

/** What to say of a level that is none. */
export function noSuchLevel(level: unknown): TypeError {
  return new TypeError(`log level ${JSON.stringify(level)} does not exist: use one of ${LOGGING_LEVELS.join(', ')}`);
}
