/** The default logger of a server: it writes to standard error. */

import { inspect } from 'node:util';
import type { Logger, LogLevel } from '@mortise/jsonrpc-core';

const WRITTEN: ReadonlySet<LogLevel> = new Set(['warning', 'error', 'critical', 'alert', 'emergency']);

/** Writes warnings and more severe levels to standard error. Errors include their stacks and causes. */
export const stderrLogger: Logger = {
  log(level, message, data) {
    if (WRITTEN.has(level)) process.stderr.write(`${level}: ${message}${data === undefined ? '' : ` ${inspect(data, { depth: 4 })}`}\n`);
  },
};
