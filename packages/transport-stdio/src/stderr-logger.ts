/** What a server on stdio says to the people who run it: standard error, which hosts show or keep. */

import type { Logger, LogLevel } from '@mortise/jsonrpc-core';

const WRITTEN: ReadonlySet<LogLevel> = new Set(['warning', 'error', 'critical', 'alert', 'emergency']);

/**
 * Writes warnings and what is worse to the standard error of this process, a line each; below an error stands its stack. `serveStdio` uses it
 * unless it is given another, and so does a server that is connected to a `StdioServerTransport` and has none of its own.
 */
export const stderrLogger: Logger = {
  log(level, message, data) {
    if (WRITTEN.has(level)) process.stderr.write(`${toLine(level, message, data)}\n`);
  },
};

function toLine(level: LogLevel, message: string, data: Readonly<Record<string, unknown>> = {}): string {
  const { error, ...rest } = data;
  const detail = Object.keys(rest).length === 0 ? '' : ` ${toText(rest)}`;
  return `${level}: ${message}${detail}${error === undefined ? '' : `\n${describe(error)}`}`;
}

/** An error with its stack and those that caused it. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return toText(error);
  const { stack = `${error.name}: ${error.message}`, cause } = error;
  return cause === undefined ? stack : `${stack}\ncaused by ${describe(cause)}`;
}

function toText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
