/** A server's process: started without a shell, read on standard error, and ended as the specification orders: end of input, SIGTERM, SIGKILL. */

import { type ChildProcess, type SpawnOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import crossSpawn from 'cross-spawn';
import { ServerStartError } from './errors.ts';

/** What to run, and how. */
export interface ServerCommand {
  /** The program: a path, or a name that is looked up in `PATH`. No shell sees it. */
  readonly command: string;
  /** The program's arguments, each as it is. @default [] */
  readonly args?: readonly string[] | undefined;
  /**
   * Variables to set beside those of `getDefaultEnvironment()`; `undefined` leaves one of those out. A server's credentials go here.
   *
   * @default {}
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The folder to run in. @default this process's */
  readonly cwd?: string | undefined;
}

/** How long a process is given to end. */
export interface EndTimes {
  /** After the end of its input, before SIGTERM, in milliseconds. @default 2,000 */
  readonly stdinCloseMs?: number | undefined;
  /** After SIGTERM, before SIGKILL, in milliseconds. @default 2,000 */
  readonly terminateMs?: number | undefined;
}

/** A process whose streams are piped. */
export interface RunningServer {
  readonly process: ChildProcess;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** `null` unless it is piped. */
  readonly stderr: Readable | null;
  /** Resolves when the process has ended; its status has then been collected. */
  readonly exited: Promise<void>;
  /** Resolves when its output has been read to the end, too. A process that it started may keep that open. */
  readonly closed: Promise<void>;
}

/**
 * Starts a process. Resolves once it runs.
 *
 * @throws {ServerStartError} `ERR_SERVER_START`: there is no such command or folder, or it may not be run.
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
  // Later errors (a signal that could not be sent) show in the process's end.
  child.on('error', () => undefined);
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new ServerStartError(`The server "${command.command}" has no pipes`, { command: command.command });
  return { process: child, stdin, stdout, stderr: child.stderr, exited, closed };
}

/**
 * Ends a process and waits until it has ended: closes its input, after `stdinCloseMs` asks it by SIGTERM, after `terminateMs`
 * more kills it. On Windows, which has no such signals, the first of them already terminates it.
 *
 * @returns Whether it was one of these signals that ended it. One that was sent a signal and exits with a code of its own, for which 0 and 143
 *   (what programs give that end on SIGTERM) do not count, has ended by itself, if late.
 * @see 2026-07-28 basic/transports/stdio#shutdown
 */
export async function endServer(server: RunningServer, times: EndTimes, clock: Clock = systemClock): Promise<boolean> {
  const { process: child, exited } = server;
  server.stdin.end();
  // What it still writes is dropped, but a full pipe would keep it from ending.
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

/** How long after its end the output of a process is still waited for. */
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
  if (error.code === 'EACCES') return 'it may not be run. Make the file executable, or name the program that runs it';
  return error.message;
}

/** Tells whether a promise settles in time. */
async function within(promise: Promise<void>, limitMs: number, clock: Clock): Promise<boolean> {
  let timer: ClockTimer | undefined;
  const limit = new Promise<false>((resolve) => {
    timer = clock.schedule(() => resolve(false), limitMs, { keepAlive: true });
  });
  const isInTime = await Promise.race([promise.then(() => true as const), limit]);
  timer?.cancel();
  return isInTime;
}

/** The variables that are passed on by default, by platform. */
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
 * Gives the part of this process's environment that a server's process is started with: `INHERITED_VARIABLES`, as far as they
 * are set. Functions that a shell exported are left out.
 *
 * @param environment What to choose from. @default process.env
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
 * Reads what a server writes to standard error, always, so that it is never held up, and keeps the last lines. Bytes that are not UTF-8 become U+FFFD; a line longer than 4,096 characters
 * is cut into several.
 */
export class StderrLines {
  readonly #decoder = new TextDecoder();
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #kept: string[] = [];
  #rest = '';

  /** @param onLine Called with each line without its end. May throw, which is ignored. */
  constructor(stream: Readable, onLine?: (line: string) => void) {
    this.#onLine = onLine;
    stream.on('data', (chunk: Uint8Array) => this.#push(this.#decoder.decode(chunk, { stream: true })));
    stream.on('close', () => this.#end());
    // A pipe that breaks has said all that it will say.
    stream.on('error', () => undefined);
  }

  /** The last lines, at most 20, an unfinished one included. */
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
      // What listens to a log must not disturb the connection.
    }
  }
}
