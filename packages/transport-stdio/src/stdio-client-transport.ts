/** A client's side of stdio: starts the server as a child process and speaks to it over its standard streams. */

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

/** Which server to start, and how to treat it. */
export interface StdioClientTransportOptions extends ServerCommand, EndTimes, Omit<StreamTransportOptions, 'drainMs' | 'maxPendingBytes'> {
  /**
   * Where the server's standard error goes: to this process's own, to `stderr` of the transport, nowhere, or line by line to a
   * function. It says nothing about failure, and it is read in any case, so that the server is not held up.
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
 * Runs a server and speaks to it over its standard input and output.
 *
 * `start` runs the command, without a shell. `close` ends the server's input, waits `stdinCloseMs`, sends SIGTERM, waits
 * `terminateMs`, sends SIGKILL, and resolves once the process has ended. When the server crashes, or ends without a message, `onerror` gets
 * a `ServerProcessExitedError` before `onclose` is called; to run it again make a new transport (see `stdioTransport`). So it is when it closes one
 * of its streams and runs on: it is then ended as by `close`.
 *
 * @throws {TypeError} No `command` is given, or an option does not exist or has the wrong kind of value.
 * @throws {ServerStartError} From `start`, `ERR_SERVER_START`: the command cannot be run.
 * @see 2026-07-28 basic/transports/stdio
 */
export class StdioClientTransport extends StreamTransport {
  readonly #child: Child;

  constructor(options: StdioClientTransportOptions) {
    const child = new Child(options);
    const { maxMessageBytes, maxValues, maxQueuedBytes, flushMs, clock } = options;
    super((control) => child.open(control), { maxMessageBytes, maxValues, maxQueuedBytes, flushMs, clock, drainMs: 0 });
    this.#child = child;
  }

  /**
   * The key under which a client remembers the server's era: the program, and a digest of `args`, `cwd` and `env`, which may hold secrets.
   * With an `env` the key changes with each start of this process.
   */
  get eraKey(): string {
    return this.#child.eraKey;
  }

  /** The id of the server's process while it runs; `undefined` before and after. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The server's standard error with `stderr: 'pipe'`, also before `start`; else `null`. What is not read is dropped past 1 MiB. */
  get stderr(): Readable | null {
    return this.#child.stderr;
  }
}

/** A transport to a server's process. Called, it gives another, unstarted one that runs a process of its own. */
export interface StdioTransport extends Transport, TransportFactory {
  /** The key under which a client remembers the server's era: the program, and a digest of how it is run. */
  readonly eraKey: string;
  /** The id of this transport's own process while it runs. */
  readonly pid: number | undefined;
  /** The standard error of its own process with `stderr: 'pipe'`, else `null`. */
  readonly stderr: Readable | null;
}

/**
 * Describes a server that is run as a child process: `stdioTransport({ command: 'node', args: ['server.js'] })`.
 *
 * The result is a transport and a factory at once, so that a client can run the server again after it has died. Nothing runs
 * before `start`.
 */
export function stdioTransport(options: StdioClientTransportOptions): StdioTransport {
  return createCallableTransport(new StdioClientTransport(options), () => new StdioClientTransport(options));
}

/** The process behind a transport. */
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
    // A process that it started may keep its output open, so its own end counts.
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
        // A server that a signal had to end would have run on: it must have closed what the transport noticed. Else it may end the session by
        // itself, once it has spoken. One that ends without a message is not a server.
        const stream = end === 'peer-ended' ? 'output' : 'input';
        if (wasSignalled) control.report(toExitError(command, server, lines, stream));
        else if (server.process.exitCode !== 0 || !hasSpoken) control.report(toExitError(command, server, lines));
      },
    };
  }
}

const PROCESS_SALT = randomBytes(32);

/** Says whether two environments are the same, to this process alone: a short password could be guessed from a digest that others can make too. */
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
  return new ServerProcessExitedError({ command, exitCode, signal, closedStream, lastStderrLines: lines?.last ?? [] }, hasPrinted);
}

const STDERR: readonly string[] = ['inherit', 'pipe', 'ignore'];
const MAX_UNREAD_STDERR_BYTES = 1024 * 1024;

/** Passes a stream on without ever being held up by who reads it, or does not. */
function forward(from: Readable, to: PassThrough): void {
  from.on('data', (chunk: Uint8Array) => {
    if (to.readableLength + to.writableLength < MAX_UNREAD_STDERR_BYTES) to.write(chunk);
  });
  from.on('close', () => to.end());
}
