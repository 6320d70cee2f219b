/** What can go wrong with stdio beyond what every transport knows. */

import { MortiseError } from '@mortise/jsonrpc-core';
import type { ChannelEndError } from '@mortise/jsonrpc-core/transport';

/** The server's command could not be started. */
export class ServerStartError extends MortiseError {
  override readonly name: string = 'ServerStartError';
  override readonly code: 'ERR_SERVER_START' = 'ERR_SERVER_START';
  /** The command, without its arguments. */
  readonly command: string;
  /** What the operating system said, such as `ENOENT`; `undefined` if it said nothing. */
  readonly errno: string | undefined;

  constructor(message: string, detail: { readonly command: string; readonly errno?: string | undefined }, options?: ErrorOptions) {
    super(message, options);
    this.command = detail.command;
    this.errno = detail.errno;
  }
}

/** How a server's process ended. */
export interface ServerProcessExit {
  /** The command, without its arguments. */
  readonly command: string;
  /** `null` when a signal ended it. */
  readonly exitCode: number | null;
  /** The signal that ended it, or `null`. */
  readonly signal: NodeJS.Signals | null;
  /** The standard stream that it closed while it ran on, so that its process was stopped: `output` is what it writes to, `input` what it reads. */
  readonly closedStream: 'output' | 'input' | undefined;
  /** Its last lines on standard error, where they were captured; empty with `stderr: 'inherit'` and `'ignore'`. */
  readonly lastStderrLines: readonly string[];
}

/** The server's process ended, or closed one of its streams, although it was not asked to. Reported through `onerror`, before `onclose`. */
export class ServerProcessExitedError extends MortiseError implements ServerProcessExit, ChannelEndError {
  override readonly name: string = 'ServerProcessExitedError';
  override readonly code: 'ERR_SERVER_PROCESS_EXITED' = 'ERR_SERVER_PROCESS_EXITED';
  /** Makes it the cause of the `ConnectionClosedError` that requests in flight are rejected with. */
  readonly endsChannel = true;
  readonly command: string;
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly closedStream: 'output' | 'input' | undefined;
  readonly lastStderrLines: readonly string[];

  /** @param hasPrinted Whether it wrote anything to its standard output. @default false */
  constructor(exit: ServerProcessExit, hasPrinted: boolean = false) {
    super(toExitMessage(exit, hasPrinted));
    this.command = exit.command;
    this.exitCode = exit.exitCode;
    this.signal = exit.signal;
    this.closedStream = exit.closedStream;
    this.lastStderrLines = exit.lastStderrLines;
  }
}

/** Every error that this package throws or reports itself. */
export type AnyStdioError = ServerStartError | ServerProcessExitedError;

function toExitMessage({ command, exitCode, signal, closedStream, lastStderrLines }: ServerProcessExit, hasPrinted: boolean): string {
  if (closedStream !== undefined) {
    return (
      `The server process "${command}" closed its standard ${closedStream} without ending, and was stopped: see that the server runs in the ` +
      `foreground and leaves its standard streams open. ${toLastWords(lastStderrLines)}`
    );
  }
  const how = signal === null ? `exited with code ${exitCode}` : `was ended by ${signal}`;
  const hint = exitCode === 0 ? toHint(hasPrinted) : '';
  const words = hint === '' || lastStderrLines.length > 0 ? ` ${toLastWords(lastStderrLines)}` : '';
  return `The server process "${command}" ${how}.${hint}${words}`;
}

/** With code 0 it is an error only where no message was written to standard output. */
function toHint(hasPrinted: boolean): string {
  const said = hasPrinted ? 'and what it wrote to its standard output was no message' : 'without a word on its standard output';
  return ` It ended in good order ${said}: does it serve, as with serveStdio(server)?`;
}

function toLastWords(lines: readonly string[]): string {
  return lines.length === 0
    ? 'Look at its standard error for the reason; with stderr: "pipe" its last lines stand here'
    : `Its standard error ends with:\n${lines.join('\n')}`;
}
