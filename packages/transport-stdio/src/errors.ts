/** The errors of the stdio transports, in addition to those that every transport can throw. */

import { MortiseError } from '@mortise/jsonrpc-core';
import type { ChannelEndError } from '@mortise/jsonrpc-core/transport';

/**
 * The command that runs the server could not be started. The message says what to do: install the program, correct the path or the folder,
 * or move the words after the program's name to `args`.
 */
export class ServerStartError extends MortiseError {
  override readonly name: string = 'ServerStartError';
  override readonly code: 'ERR_SERVER_START' = 'ERR_SERVER_START';
  /** The command that should run the server, without its arguments. */
  readonly command: string;
  /** The error code of the operating system, such as `ENOENT`; `undefined` if there is none. */
  readonly errno: string | undefined;

  constructor(message: string, detail: { readonly command: string; readonly errno?: string | undefined }, options?: ErrorOptions) {
    super(message, options);
    this.command = detail.command;
    this.errno = detail.errno;
  }
}

/** How a server's process ended. */
export interface ServerProcessExit {
  /** The command that ran the server, without its arguments. */
  readonly command: string;
  /** The exit code of the server's process; `null` if a signal ended the process. */
  readonly exitCode: number | null;
  /** The signal that ended the server's process; `null` if the process exited by itself. */
  readonly signal: NodeJS.Signals | null;
  /** The standard stream that the server closed although it kept running; the transport then stopped its process. `undefined` if none. */
  readonly closedStream: 'output' | 'input' | undefined;
  /** The server's last lines on standard error; empty with `stderr: 'inherit'` and `'ignore'`. */
  readonly lastStderrLines: readonly string[];
}

/**
 * The server's process ended or closed a standard stream before the client closed. `onerror` gets this error, before `onclose`.
 *
 * Often the `cause` of an `ERR_CONNECTION_CLOSED`. Remedy: read `lastStderrLines`, or run the command in a terminal: the program may have
 * crashed, or may not be an MCP server.
 */
export class ServerProcessExitedError extends MortiseError implements ServerProcessExit, ChannelEndError {
  override readonly name: string = 'ServerProcessExitedError';
  override readonly code: 'ERR_SERVER_PROCESS_EXITED' = 'ERR_SERVER_PROCESS_EXITED';
  /** Marks the error that ended the connection: requests in flight reject with a `ConnectionClosedError` whose `cause` is this error. */
  readonly endsChannel = true;
  readonly command: string;
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly closedStream: 'output' | 'input' | undefined;
  readonly lastStderrLines: readonly string[];

  /**
   * @param hasPrinted Whether the server wrote anything to its standard output. @default false
   * @param readsStderr Whether the transport read its standard error. @default false
   */
  constructor(exit: ServerProcessExit, hasPrinted: boolean = false, readsStderr: boolean = false) {
    super(toExitMessage(exit, hasPrinted, readsStderr));
    this.command = exit.command;
    this.exitCode = exit.exitCode;
    this.signal = exit.signal;
    this.closedStream = exit.closedStream;
    this.lastStderrLines = exit.lastStderrLines;
  }
}

/** Every error class of this package; `switch (error.code)` narrows it. */
export type AnyStdioError = ServerStartError | ServerProcessExitedError;

function toExitMessage(exit: ServerProcessExit, hasPrinted: boolean, readsStderr: boolean): string {
  const { command, exitCode, signal, closedStream, lastStderrLines } = exit;
  const lastWords = toLastWords(lastStderrLines, readsStderr);
  if (closedStream !== undefined) {
    return (
      `The server process "${command}" closed its standard ${closedStream} but kept running, and was stopped: run the server in the ` +
      `foreground and leave its standard streams open. ${lastWords}`
    );
  }
  const how = signal === null ? `exited with code ${exitCode}` : `was ended by ${signal}`;
  const hint = exitCode === 0 ? toHint(hasPrinted) : '';
  const words = hint === '' || lastStderrLines.length > 0 ? ` ${lastWords}` : '';
  return `The server process "${command}" ${how}.${hint}${words}`;
}

/** The part of the error message for exit code 0, which is an error only if the server sent no MCP message. */
function toHint(hasPrinted: boolean): string {
  const said = hasPrinted ? 'text that is not MCP messages' : 'nothing';
  return ` It wrote ${said} to its standard output: check that the program serves MCP, as with serveStdio(server)`;
}

function toLastWords(lines: readonly string[], readsStderr: boolean): string {
  if (lines.length > 0) return `Its standard error ends with:\n${lines.join('\n')}`;
  return readsStderr
    ? 'It wrote nothing to standard error'
    : 'Read its standard error for the reason; with stderr: "pipe" this message includes its last lines';
}
