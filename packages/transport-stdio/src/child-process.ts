/** Starts a server's process without a shell, reads its standard error, and ends the process in the order that MCP specifies. */

import { type ChildProcess, type SpawnOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import crossSpawn from 'cross-spawn';
import { ServerStartError } from './errors.ts';

/**
 * The command that starts a server, with its environment variables and working directory.
 *
 * A started server has the rights of your program: nothing here confines it or judges its command. If the command comes from a link, a
 * file or another person, show all of it to the user, and start it only after they agree. For less trust, run a sandbox or a container.
 */
export interface ServerCommand {
  /**
   * The program: a path, or a name that is looked up in `PATH`. It runs without a shell. On Windows, scripts such as `npx` are found and
   * run too, by `cross-spawn`.
   */
  readonly command: string;
  /** The program's arguments, passed on unchanged: no quoting or expansion. @default [] */
  readonly args?: readonly string[] | undefined;
  /**
   * Environment variables to add to `getDefaultEnvironment()`, such as the server's credentials. `undefined` removes a default variable.
   *
   * @default {}
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The working directory of the server. @default that of this process */
  readonly cwd?: string | undefined;
}

/** How long `close` waits for the server's process to end before it sends a signal. */
export interface EndTimes {
  /** The time between closing the server's input and SIGTERM, in milliseconds. @default 2,000 */
  readonly stdinCloseMs?: number | undefined;
  /** The time between SIGTERM and SIGKILL, in milliseconds. @default 2,000 */
  readonly terminateMs?: number | undefined;
}

/** A running server process with piped input and output. */
export interface RunningServer {
  readonly process: ChildProcess;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The server's standard error; `null` unless it is piped. */
  readonly stderr: Readable | null;
  /** Resolves when the process has ended and its exit status is known. */
  readonly exited: Promise<void>;
  /** Resolves when the process has ended and its output was read to the end. A child of the process may keep the output open for longer. */
  readonly closed: Promise<void>;
}

/**
 * Starts a server's process. Resolves once the process runs.
 *
 * @throws {ServerStartError} `ERR_SERVER_START`: the command or folder does not exist, or the command is not executable.
 */
export async function startServer(command: ServerCommand, stderr: 'inherit' | 'pipe' | 'ignore'): Promise<RunningServer> {
  const options: SpawnOptions = {
    stdio: ['pipe', 'pipe', stderr],
    shell: false,
    windowsHide: true,
    env: { ...getDefaultEnvironment(), ...command.env },
    ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
  };
  const child = spawn(command, options);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(toStartError(command, error)));
  });
  // A signal that could not be sent needs no handling: the exit of the process tells what happened.
  child.on('error', () => undefined);
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new ServerStartError(`The server "${command.command}" has no stdin or stdout`, { command: command.command });
  return { process: child, stdin, stdout, stderr: child.stderr, exited, closed };
}

/**
 * Ends a server's process and waits for its exit: closes its input, sends SIGTERM after `stdinCloseMs`, SIGKILL after `terminateMs` more.
 * On Windows SIGTERM already kills the process.
 *
 * @returns True if a signal ended the process: the process died of it, or exited with code 0 or 143 after it. False if the process exited
 *   before the first signal, or with another code.
 * @see 2026-07-28 basic/transports/stdio#shutdown
 */
export async function endServer(server: RunningServer, times: EndTimes, clock: Clock = systemClock): Promise<boolean> {
  const { process: child, exited } = server;
  server.stdin.end();
  // Reads and drops the remaining output: a full pipe would keep the process from ending.
  server.stdout.resume();
  const hasEnded = await within(exited, times.stdinCloseMs ?? 2000, clock);
  if (!hasEnded) {
    child.kill('SIGTERM');
    if (!(await within(exited, times.terminateMs ?? 2000, clock))) child.kill('SIGKILL');
    await exited;
  }
  await within(server.closed, LAST_WORDS_MS, clock);
  for (const stream of [server.stdin, server.stdout, server.stderr]) stream?.destroy();
  return !hasEnded && (child.signalCode === 'SIGTERM' || child.signalCode === 'SIGKILL' || child.exitCode === 0 || child.exitCode === 143);
}

/** How long the rest of a server's output is still read after the server's process has ended, in milliseconds. */
export const LAST_WORDS_MS: number = 100;

function spawn(command: ServerCommand, options: SpawnOptions): ChildProcess {
  try {
    return crossSpawn(command.command, [...(command.args ?? [])], options);
  } catch (error) {
    throw toStartError(command, error as NodeJS.ErrnoException);
  }
}

function toStartError({ command, cwd }: ServerCommand, error: NodeJS.ErrnoException): ServerStartError {
  return new ServerStartError(
    `The server "${command}" could not be started: ${explain(error, command, cwd)}`,
    { command, errno: error.code },
    { cause: error },
  );
}

function explain(error: NodeJS.ErrnoException, command: string, cwd: string | undefined): string {
  if (error.code === 'ENOENT') {
    if (typeof cwd === 'string' && !existsSync(cwd)) return `the folder "${cwd}" does not exist. Correct "cwd"`;
    const isPath = /[\\/]/.test(command);
    const what = isPath
      ? 'there is no such file. Correct the path'
      : 'it was not found in PATH. Install it, give its full path, or set PATH in "env"';
    return /\s/.test(command) ? `${what}. Put only the program into "command" and its arguments into "args"` : what;
  }
  if (error.code === 'EACCES') return 'the file is not executable. Make it executable, or give the program that runs it as "command"';
  return error.message;
}

/** Resolves with true once a promise settles, or with false if it does not settle within `limitMs`. */
async function within(promise: Promise<void>, limitMs: number, clock: Clock): Promise<boolean> {
  let timer: ClockTimer | undefined;
  const limit = new Promise<false>((resolve) => {
    timer = clock.schedule(() => resolve(false), limitMs, { keepAlive: true });
  });
  const isInTime = await Promise.race([promise.then(() => true as const), limit]);
  timer?.cancel();
  return isInTime;
}

/**
 * The names of the environment variables that a server's process gets by default, by platform.
 *
 * - `posix`: HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TERM TMPDIR TZ USER
 * - `windows`: APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES
 *   PROGRAMFILES(X86) SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE WINDIR
 */
export const INHERITED_VARIABLES: Readonly<Record<'posix' | 'windows', readonly string[]>> = {
  posix: ['HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'],
  windows: [
    'APPDATA',
    'COMSPEC',
    'HOMEDRIVE',
    'HOMEPATH',
    'LOCALAPPDATA',
    'PATH',
    'PATHEXT',
    'PROCESSOR_ARCHITECTURE',
    'PROGRAMDATA',
    'PROGRAMFILES',
    'PROGRAMFILES(X86)',
    'SYSTEMDRIVE',
    'SYSTEMROOT',
    'TEMP',
    'TMP',
    'USERNAME',
    'USERPROFILE',
    'WINDIR',
  ],
};

/**
 * Gives the environment variables that a server's process inherits by default: those of `INHERITED_VARIABLES` that are set. Leaves out
 * shell functions, whose values begin with `()`.
 *
 * @param environment The variables to choose from. @default process.env
 */
export function getDefaultEnvironment(environment: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const chosen: Record<string, string> = {};
  for (const name of INHERITED_VARIABLES[process.platform === 'win32' ? 'windows' : 'posix']) {
    const value = environment[name];
    if (value !== undefined && !value.startsWith('()')) chosen[name] = value;
  }
  return chosen;
}

const MAX_KEPT_LINES = 20;
const MAX_LINE_LENGTH = 4096;

/**
 * Reads a server's standard error and keeps its last lines. Always reads, so that a full pipe never blocks the server. Bytes that are
 * not UTF-8 become U+FFFD. A line longer than 4,096 characters becomes several lines.
 */
export class StderrLines {
  readonly #decoder = new TextDecoder();
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #kept: string[] = [];
  #rest = '';

  /** @param onLine Called with each line of the server's standard error, without its line end. Errors that it throws are ignored. */
  constructor(stream: Readable, onLine?: (line: string) => void) {
    this.#onLine = onLine;
    stream.on('data', (chunk: Uint8Array) => this.#push(this.#decoder.decode(chunk, { stream: true })));
    stream.on('close', () => this.#end());
    // Without a listener an error of the pipe would end this process.
    stream.on('error', () => undefined);
  }

  /** The last lines that the server wrote to standard error, at most 20. The last one may be unfinished. */
  get last(): readonly string[] {
    return this.#rest === '' ? [...this.#kept] : [...this.#kept, this.#rest].slice(-MAX_KEPT_LINES);
  }

  #push(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#tell(line.endsWith('\r') ? line.slice(0, -1) : line);
    while (this.#rest.length > MAX_LINE_LENGTH) {
      this.#tell(this.#rest.slice(0, MAX_LINE_LENGTH));
      this.#rest = this.#rest.slice(MAX_LINE_LENGTH);
    }
  }

  #end(): void {
    if (this.#rest !== '') this.#tell(this.#rest);
    this.#rest = '';
  }

  #tell(line: string): void {
    this.#kept.push(line.slice(0, MAX_LINE_LENGTH));
    if (this.#kept.length > MAX_KEPT_LINES) this.#kept.shift();
    try {
      this.#onLine?.(line);
    } catch {
      // An error of the log's listener must not end the connection.
    }
  }
}
