/** The client's stdio transport: starts the server as a child process and connects to its standard streams. */

import { createHash, createHmac, randomBytes } from 'node:crypto';
import { PassThrough, type Readable } from 'node:stream';
import type { Clock, ClockTimer, Transport } from '@mortise/jsonrpc-core';
import {
  checkOptions,
  createCallableTransport,
  type OptionTable,
  systemClock,
  type TransportFactory,
} from '@mortise/jsonrpc-core/transport';
import type { ByteChannel, ChannelControl } from './byte-channel.ts';
import {
  endServer,
  type EndTimes,
  LAST_WORDS_MS,
  type RunningServer,
  type ServerCommand,
  startServer,
  StderrLines,
} from './child-process.ts';
import { ServerProcessExitedError } from './errors.ts';
import { BOUND_OPTIONS, StreamTransport, type StreamTransportOptions } from './stream-transport.ts';

/** The command that runs the server, and the options of the transport to the server. */
export interface StdioClientTransportOptions extends ServerCommand, EndTimes, Omit<StreamTransportOptions, 'drainMs' | 'maxPendingBytes'> {
  /**
   * Where the server's standard error goes. `inherit`: to that of this process. `pipe`: to the transport's property `stderr`. `ignore`:
   * nowhere. A function gets each line. Text there does not mean failure. It is always read, so that the server never blocks on it.
   *
   * @default 'inherit'
   */
  readonly stderr?: 'inherit' | 'pipe' | 'ignore' | ((line: string) => void) | undefined;
}

const CLIENT_OPTIONS: OptionTable<StdioClientTransportOptions> = {
  command: 'any',
  args: 'array',
  env: 'object',
  cwd: 'string',
  stderr: ['string', 'function'],
  stdinCloseMs: 0,
  terminateMs: 0,
  ...BOUND_OPTIONS,
};

/**
 * Runs a server as a child process and exchanges messages over its standard input and output.
 *
 * `start` runs the command, without a shell. `close` ends the server's input, waits `stdinCloseMs`, sends SIGTERM, waits
 * `terminateMs`, sends SIGKILL, and resolves once the process has ended. If the server crashes or exits before it sent a message, `onerror`
 * gets a `ServerProcessExitedError` before `onclose` is called. If the server closes a standard stream but keeps running, it is ended as by
 * `close`, and `onerror` gets the same error. To run a server again make a new transport (see `stdioTransport`).
 *
 * @throws {TypeError} `command` is missing, or an option is unknown or has a wrong value.
 * @throws {ServerStartError} From `start`, `ERR_SERVER_START`: the command cannot be run.
 * @see 2026-07-28 basic/transports/stdio
 */
export class StdioClientTransport extends StreamTransport {
  readonly #child: Child;

  constructor(options: StdioClientTransportOptions) {
    const child = new Child(options);
    const { maxMessageBytes, maxQueuedBytes, flushMs, clock } = options;
    super((control) => child.open(control), { maxMessageBytes, maxQueuedBytes, flushMs, clock, drainMs: 0 });
    this.#child = child;
  }

  /**
   * The key under which a client remembers whether the server is legacy or modern: the command, and a digest of `args`, `cwd` and `env`,
   * which may contain secrets. With an `env` the key is different in each run of this program.
   */
  get eraKey(): string {
    return this.#child.eraKey;
  }

  /** The process id of the server while it runs; `undefined` before and after. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The server's standard error if the option `stderr` is `'pipe'`, even before `start`; else `null`. Drops unread text above 1 MiB. */
  get stderr(): Readable | null {
    return this.#child.stderr;
  }
}

/** A transport to a server's process. Calling it as a function returns another, unstarted transport, which runs its own process. */
export interface StdioTransport extends Transport, TransportFactory {
  /** The key under which a client remembers whether the server is legacy or modern: the command, and a digest of `args`, `cwd`, `env`. */
  readonly eraKey: string;
  /** The process id of this transport's server while it runs. */
  readonly pid: number | undefined;
  /** The standard error of this transport's server if the option `stderr` is `'pipe'`; else `null`. */
  readonly stderr: Readable | null;
}

/**
 * Makes a transport that runs a server as a child process: `stdioTransport({ command: 'node', args: ['server.js'] })`.
 *
 * Calling the result makes a further transport, so that a client can run the server again after a crash. Nothing runs before `start`.
 */
export function stdioTransport(options: StdioClientTransportOptions): StdioTransport {
  return createCallableTransport(new StdioClientTransport(options), () => new StdioClientTransport(options));
}

/** The server's process behind one `StdioClientTransport`. */
class Child {
  readonly stderr: PassThrough | null;
  readonly #options: StdioClientTransportOptions;
  readonly #clock: Clock;
  #server: RunningServer | undefined;

  constructor(options: StdioClientTransportOptions) {
    checkOptions('stdioTransport options', options, CLIENT_OPTIONS);
    const { command, stderr }: Partial<StdioClientTransportOptions> = { ...options };
    if (typeof command !== 'string' || command === '') {
      throw new TypeError(`stdioTransport({ command, args }) needs "command", the program to run, such as "node"; got ${String(command)}`);
    }
    if (typeof stderr === 'string' && !STDERR.includes(stderr)) {
      throw new TypeError(`stdioTransport options: "stderr" must be ${STDERR.join(', ')} or a function, got ${stderr}`);
    }
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.stderr = options.stderr === 'pipe' ? new PassThrough() : null;
  }

  get eraKey(): string {
    const { command, args, cwd, env } = this.#options;
    const variables = Object.entries(env ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
    const how = [command, args ?? [], cwd ?? '', ...(variables.length === 0 ? [] : [digestSecrets(variables)])];
    const digest = createHash('sha256').update(JSON.stringify(how)).digest('base64url');
    return `stdio:${command}#${digest}`;
  }

  get pid(): number | undefined {
    return this.#server?.process.pid;
  }

  async open(control: ChannelControl): Promise<ByteChannel> {
    const stderr = this.#options.stderr ?? 'inherit';
    const server = await startServer(this.#options, typeof stderr === 'function' ? 'pipe' : stderr);
    this.#server = server;
    const lines = server.stderr ? new StderrLines(server.stderr, typeof stderr === 'function' ? stderr : undefined) : undefined;
    if (server.stderr && this.stderr) forward(server.stderr, this.stderr);
    let timer: ClockTimer | undefined;
    let isReleased = false;
    // Waits for the exit, not for the end of the output: a child of the server may keep the output open.
    void server.exited.then(() => {
      if (!isReleased) timer = this.#clock.schedule(() => control.peerGone(), LAST_WORDS_MS, { keepAlive: true });
    });
    return {
      input: server.stdout,
      output: server.stdin,
      release: async (end, hasSpoken) => {
        isReleased = true;
        timer?.cancel();
        const wasSignalled = await endServer(server, this.#options, this.#clock);
        this.#server = undefined;
        if (end === 'closed') return;
        const { command } = this.#options;
        // A server that had to be ended by a signal closed a stream but kept running: an error. A server that exits with code 0 after it has
        // sent a message may do so; one that never sent a message is probably not an MCP server.
        const stream = end === 'peer-ended' ? 'output' : 'input';
        if (wasSignalled) control.report(toExitError(command, server, lines, stream));
        else if (server.process.exitCode !== 0 || !hasSpoken) control.report(toExitError(command, server, lines));
      },
    };
  }
}

const PROCESS_SALT = randomBytes(32);

/** Makes a digest of environment variables with a secret key of this process: a plain digest would let others guess a short password. */
function digestSecrets(variables: readonly (readonly [string, string | undefined])[]): string {
  return createHmac('sha256', PROCESS_SALT).update(JSON.stringify(variables)).digest('base64url');
}

function toExitError(
  command: string,
  { process: child, stdout }: RunningServer,
  lines: StderrLines | undefined,
  closedStream?: 'output' | 'input',
): ServerProcessExitedError {
  const { exitCode, signalCode: signal } = child;
  const hasPrinted = 'bytesRead' in stdout && stdout.bytesRead !== 0;
  const exit = { command, exitCode, signal, closedStream, lastStderrLines: lines?.last ?? [] };
  return new ServerProcessExitedError(exit, hasPrinted, lines !== undefined);
}

const STDERR: readonly string[] = ['inherit', 'pipe', 'ignore'];
const MAX_UNREAD_STDERR_BYTES = 1024 * 1024;

/** Copies one stream to another. Never blocks: drops text while `to` is not read. */
function forward(from: Readable, to: PassThrough): void {
  from.on('data', (chunk: Uint8Array) => {
    if (to.readableLength + to.writableLength < MAX_UNREAD_STDERR_BYTES) to.write(chunk);
  });
  from.on('close', () => to.end());
}
