/** A server's side of stdio: the process's own standard streams, or two that are given. */

import type { Readable, Writable } from 'node:stream';
import { type Clock, type ClockTimer, type Logger, UsageError } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable, systemClock } from '@mortise/jsonrpc-core/transport';
import type { ByteChannel, ChannelControl } from './byte-channel.ts';
import { DEFAULT_MAX_MESSAGE_BYTES } from './line-reader.ts';
import type { WriteText } from './line-writer.ts';
import { stderrLogger } from './stderr-logger.ts';
import { guardStdout, hasOwnConsole, routeConsole } from './stdout-guard.ts';
import { BOUND_OPTIONS, StreamTransport, type StreamTransportOptions } from './stream-transport.ts';

/** How a `StdioServerTransport` behaves. What speaks of the process holds only for the process's own standard streams. */
export interface StdioServerTransportOptions extends Omit<StreamTransportOptions, 'maxPendingBytes'> {
  /**
   * Whether standard output is kept for the protocol: everything else that is written there goes to standard error.
   *
   * @default true
   */
  readonly guardStdout?: boolean | undefined;
  /**
   * Whether the transport also ends when the parent process does, even if standard input stays open.
   *
   * @default true
   */
  readonly watchParent?: boolean | undefined;
  /**
   * Whether the process is ended, with `process.exitCode` or 0, when the peer is gone and the program does not end by itself
   * within 100 ms of `onclose`. Closing the transport from here never ends the process.
   *
   * @default true
   */
  readonly exitWhenDone?: boolean | undefined;
}

/** Every option of a `StdioServerTransport` and what it must be. */
export const SERVER_OPTIONS: OptionTable<StdioServerTransportOptions> = {
  ...BOUND_OPTIONS,
  drainMs: 0,
  guardStdout: 'boolean',
  watchParent: 'boolean',
  exitWhenDone: 'boolean',
};

/**
 * Speaks to the client that started this process, over standard input and output.
 *
 * When the input ends, requests already read are answered (for at most `drainMs`), and the transport closes. It also closes when
 * nobody reads the output any more, and when the parent process is gone. Signals are left alone: `serveStdio` handles them.
 *
 * @see 2026-07-28 basic/transports/stdio
 */
export class StdioServerTransport extends StreamTransport {
  /**
   * Where a server without a logger of its own writes: `stderrLogger` on the process's own streams, which gets the faults of the transport
   * too unless `onerror` is set; none on others.
   */
  readonly defaultLogger: Logger | undefined;

  /**
   * @param stdin Where the client's messages come from. @default process.stdin
   * @param stdout Where the server's messages go to. Ended on close, unless it is the process's own. @default process.stdout
   * @throws {TypeError} An option that does not exist, or has the wrong kind of value.
   */
  constructor(stdin: Readable = process.stdin, stdout: Writable = process.stdout, options: StdioServerTransportOptions = {}) {
    checkOptions('StdioServerTransport options', options, SERVER_OPTIONS);
    const { maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES, maxValues, maxQueuedBytes, drainMs, flushMs, clock } = options;
    // A client that leaves more answers unread than a message may have is not read any further until it reads.
    const bounds = { maxMessageBytes, maxPendingBytes: maxMessageBytes, maxValues, maxQueuedBytes, drainMs, flushMs, clock };
    super((control) => (stdout === process.stdout ? openProcess(stdin, control, options) : openStreams(stdin, stdout)), bounds);
    this.defaultLogger = stdout === process.stdout ? stderrLogger : undefined;
    if (this.defaultLogger) this.onerror = (error) => stderrLogger.log('warning', TRANSPORT_FAULT, { error });
  }
}

/** What is said of an error that a transport reports. */
export const TRANSPORT_FAULT = 'The stdio transport reported a fault';

function openStreams(input: Readable, output: Writable): ByteChannel {
  return { input, output, release: () => void output.end() };
}

/** One process has one standard output: a second protocol on it would break both. */
let isProcessInUse = false;
const IN_USE = 'The standard streams of this process already carry a transport: close it first, or give this one streams of its own';

function openProcess(stdin: Readable, control: ChannelControl, options: StdioServerTransportOptions): ByteChannel {
  if (isProcessInUse) throw new UsageError('ERR_ALREADY_STARTED', IN_USE);
  isProcessInUse = true;
  const { stdout, stderr } = process;
  // A client that is gone no longer reads standard error either; that must not end the process before its time.
  stderr.on('error', ignoreBrokenPipe);
  const guard = options.guardStdout === false ? undefined : guardStdout(stdout, stderr);
  const unroute = guard && hasOwnConsole() ? routeConsole(console, stdout, stderr) : undefined;
  const write: WriteText | undefined = guard?.write;
  const unwatch = options.watchParent === false ? undefined : watchParent(() => control.peerGone(), options.clock);
  return {
    input: stdin,
    output: stdout,
    write,
    release(end) {
      unwatch?.();
      unroute?.();
      guard?.restore();
      isProcessInUse = false;
      if (end === 'closed') stderr.off('error', ignoreBrokenPipe);
      else if (options.exitWhenDone !== false) exitSoon();
    },
  };
}

const LOOK_EVERY_MS = 400;

/**
 * Calls back once when the process that started this one has ended, also where standard input stays open (another process may hold it). The watch
 * does not keep the process alive.
 *
 * An orphan is given to another parent on POSIX, so its parent's id changes. Windows keeps the id, so there a signal 0 tells whether the parent lives.
 *
 * @returns Ends the watch.
 */
export function watchParent(onGone: () => void, clock: Clock = systemClock, parentId: () => number = () => process.ppid): () => void {
  const first = parentId();
  let timer: ClockTimer = clock.schedule(look, LOOK_EVERY_MS);

  function look(): void {
    if (parentId() !== first || (process.platform === 'win32' && !isAlive(first))) onGone();
    else timer = clock.schedule(look, LOOK_EVERY_MS);
  }

  return () => timer.cancel();
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    // A process that may not be asked is there all the same.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function ignoreBrokenPipe(): void {
  // The reader is gone.
}

let isExitScheduled = false;

/** Ends the process after a while, so that the program can end by itself first and its own cleaning up is not cut off. */
export function exitSoon(delayMs: number = EXIT_GRACE_MS): void {
  isExitScheduled = true;
  setTimeout(() => process.exit(), delayMs).unref();
}

/** Tells whether the process is about to be ended. */
export function isExiting(): boolean {
  return isExitScheduled;
}

const EXIT_GRACE_MS = 100;
