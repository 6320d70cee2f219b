/** `stderrLogger`: writes log messages to standard error, which MCP hosts show or store for stdio servers. */

import { isMortiseError, type Logger, type LogLevel } from '@mortise/jsonrpc-core';

const WRITTEN: ReadonlySet<LogLevel> = new Set(['warning', 'error', 'critical', 'alert', 'emergency']);

/**
 * Writes warnings and more severe messages to the standard error of this process, one line each, with the stack of an error below. A line
 * that is not a message gets no stack: the error says what is wrong with it.
 *
 * The default logger of `serveStdio`, and of a server without a logger that is connected to a `StdioServerTransport`.
 */
export const stderrLogger: Logger = {
  log(level, message, data) {
    if (WRITTEN.has(level)) process.stderr.write(`${toLine(level, message, data)}\n`);
  },
};

function toLine(level: LogLevel, message: string, data: Readonly<Record<string, unknown>> = {}): string {
  const { error, ...rest } = data;
  const detail = Object.keys(rest).length === 0 ? '' : ` ${toText(rest)}`;
  const line = `${level}: ${message}${detail}`;
  if (error === undefined) return line;
  return isMortiseError(error) && error.code === 'ERR_PARSE' ? `${line}: ${error.message}` : `${line}\n${describe(error)}`;
}

/** Makes the text to log for an error: its stack and the stacks of its causes. */
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
