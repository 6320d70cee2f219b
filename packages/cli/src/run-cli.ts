/** `runCli`: a command line in, an exit code out. */

import { CommanderError } from 'commander';
import { createProgram } from './program.ts';
import { ExitCode, toExitCode, toMessage } from './errors.ts';
import { type CliIo, clean, Terminal } from './terminal.ts';

/**
 * Runs one command of `mortise` and prints to the given streams. Never exits the process.
 *
 * @param args The arguments after the program's name.
 * @param io The streams and the environment. @default those of this process; Ctrl-C, SIGTERM and SIGHUP interrupt the command, a second one ends the process
 * @returns The exit code, see `ExitCode`. Never rejects.
 */
export async function runCli(args: readonly string[], io: CliIo = ofProcess()): Promise<number> {
  const terminal = new Terminal(io);
  try {
    await createProgram(terminal).parseAsync(args, { from: 'user' });
    return terminal.exitCode;
  } catch (error) {
    if (io.signal?.aborted) return ExitCode.interrupted;
    // commander has printed its own errors and the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
    report(terminal, error);
    return toExitCode(error);
  } finally {
    terminal.end();
  }
}

function report(terminal: Terminal, error: unknown): void {
  const message = clean(toMessage(error));
  if (terminal.isJson) terminal.printJson({ error: { message, ...codesOf(error) } });
  else terminal.note(`${terminal.styleNote('red', 'error')}: ${message}`);
}

function codesOf(error: unknown): { readonly code?: string; readonly rpcCode?: number } {
  const { code, rpcCode } = Object(error) as { readonly code?: unknown; readonly rpcCode?: unknown };
  return { ...(typeof code === 'string' ? { code } : {}), ...(typeof rpcCode === 'number' ? { rpcCode } : {}) };
}

function ofProcess(): CliIo {
  const aborting = new AbortController();
  const interrupt = (): void => aborting.abort(new Error('interrupted'));
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, interrupt);
  const { stdin, stdout, stderr, env } = process;
  // What reads the output may have enough of it, as `head` does.
  stdout.on('error', (error: NodeJS.ErrnoException) => aborting.abort(error));
  // Notes that nobody reads end nothing.
  stderr.on('error', () => undefined);
  return { stdin, stdout, stderr, env, cwd: process.cwd(), signal: aborting.signal, interrupt };
}
