/** What a server says to the people who run it, where the program has not said where: standard error. */

import { inspect } from 'node:util';
import type { Logger, LogLevel } from '@mortise/jsonrpc-core';

const WRITTEN: ReadonlySet<LogLevel> = new Set(['warning', 'error', 'critical', 'alert', 'emergency']);

/** Writes warnings and what is worse; errors with their stack and those that caused them. */
export const stderrLogger: Logger = {
  log(level, message, data) {
    if (WRITTEN.has(level)) process.stderr.write(`${level}: ${message}${data === undefined ? '' : ` ${inspect(data, { depth: 4 })}`}\n`);
  },
};
