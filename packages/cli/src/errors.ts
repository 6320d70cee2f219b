/** Exit codes, and how an error becomes one line and a code. */

import { MissingCapabilityError } from '@mortise/client';
import { isMortiseError, RemoteError } from '@mortise/jsonrpc-core';

/** What the exit codes of `mortise` mean. */
export const ExitCode = {
  /** The command did what was asked. */
  ok: 0,
  /** The server answered with an error, a tool failed, or `doctor` found a fault. */
  failed: 1,
  /** The command line is wrong: an unknown option, a missing argument, a value of the wrong type. */
  usage: 2,
  /** The server could not be started or reached, it did not answer in time, or it ended what the command follows. */
  unreachable: 3,
  /** The user interrupted the command. */
  interrupted: 130,
} as const;

/** An error with an exit code. Its message is shown to the user as it is. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = ExitCode.usage, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The errors of a server that was not reached, or did not answer. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'ERR_SERVER_START',
  'ERR_SERVER_PROCESS_EXITED',
  'ERR_SERVER_UNAVAILABLE',
  'ERR_CONNECT_FAILED',
  'ERR_CONNECTION_CLOSED',
  'ERR_CONNECTION_LOST',
  'ERR_SOCKET_CLOSED',
  'ERR_TIMEOUT',
  'ERR_AUTH_NETWORK',
  'ERR_AUTH_TIMEOUT',
]);

export function toExitCode(error: unknown): number {
  if (error instanceof CliError) return error.exitCode;
  if (!isMortiseError(error)) return ExitCode.failed;
  if (error.code === 'ERR_HTTP_OPTION') return ExitCode.usage;
  return UNREACHABLE.has(error.code) ? ExitCode.unreachable : ExitCode.failed;
}

/** What the library's errors say to a program, and how the command's user does it. */
const OPTIONS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:requestTimeoutMs|probeTimeoutMs|timeoutMs)\b/g, '--timeout'],
  [/\bset PATH in "env"/g, 'set PATH by --env'],
];

/** Says what went wrong in one sentence, with the causes that add something. */
export function toMessage(error: unknown): string {
  // The client's own message speaks to a program.
  if (error instanceof MissingCapabilityError && error.side === 'client') return toNeed(error.missing);
  if (error instanceof RemoteError) return `The server answered with error ${error.rpcCode}: ${error.message}`;
  if (!(error instanceof Error)) return String(error);
  const message = isMortiseError(error)
    ? OPTIONS.reduce((text, [option, flag]) => text.replace(option, flag), error.message)
    : error.message;
  const cause = error.cause === undefined ? '' : toMessage(error.cause);
  return cause === '' || message.includes(cause) ? message : `${message}: ${cause}`;
}

/** @param missing The capabilities of a client that the server asked for. */
function toNeed(missing: readonly string[]): string {
  const needed = missing.join(', ');
  if (needed.startsWith('elicitation'))
    return `The server asks the user something (${needed}): run the command in a terminal, without --json`;
  if (needed.startsWith('roots')) return 'The server asks for folders (roots): name them by --root <folder>';
  return `The server asks for ${needed}, which this command cannot give: use mortise inspector`;
}
