/** The server's stdio transport, over the standard streams of this process or over two given streams. */

import type { Readable, Writable } from 'node:stream';
import { type Clock, type ClockTimer, type Logger, UsageError } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable, systemClock } from '@mortise/jsonrpc-core/transport';
import type { ByteChannel, ChannelControl } from './byte-channel.ts';
import { DEFAULT_MAX_MESSAGE_BYTES } from './line-reader.ts';
import type { WriteText } from './line-writer.ts';
import { stderrLogger } from './stderr-logger.ts';
import { guardStdout, hasOwnConsole, routeConsole } from './stdout-guard.ts';
import { BOUND_OPTIONS, StreamTransport, type StreamTransportOptions } from './stream-transport.ts';

/** The options of `StdioServerTransport`. `guardStdout`, `watchParent` and `exitWhenDone` apply to `process.stdin` and `.stdout` only. */
export interface StdioServerTransportOptions extends Omit<StreamTransportOptions, 'maxPendingBytes'> {
  /**
   * Reserves standard output for MCP messages: other text that is written there, as by `console.log`, goes to standard error, and one
   * warning names the first. Does NOT catch what is written to the file descriptor 1 itself, or before the transport starts.
   *
   * @default true
   */
  readonly guardStdout?: boolean | undefined;
  /**
   * Closes the transport when the parent process ends, even if standard input stays open.
   *
   * @default true
   */
  readonly watchParent?: boolean | undefined;
  /**
   * Ends the process, with `process.exitCode` or 0, if the client has ended the connection and the program has not exited within 100 ms
   * of `onclose`. Calling `close` never ends the process.
   *
   * @default true
   */
  readonly exitWhenDone?: boolean | undefined;
}

/** The options of `StdioServerTransport` with their allowed values. */
export const SERVER_OPTIONS: OptionTable<StdioServerTransportOptions> = {
  ...BOUND_OPTIONS,
  drainMs: 0,
  guardStdout: 'boolean',
  watchParent: 'boolean',
  exitWhenDone: 'boolean',
};

/**
 * Exchanges messages with the client that started this process, over standard input and output.
 *
 * When the input ends, waits up to `drainMs` for the responses to requests already read, then closes. Also closes when the reader of output
 * or the parent process is gone. Does NOT handle signals: `serveStdio` does.
 *
 * @see 2026-07-28 basic/transports/stdio
 */
export class StdioServerTransport extends StreamTransport {
  /**
   * The logger for a server without one: `stderrLogger` on the process's own streams, `undefined` on others. It also gets the errors of
   * the transport, unless `onerror` is set.
   */
  readonly defaultLogger: Logger | undefined;

  /**
   * @param stdin The stream of messages from the client. @default process.stdin
   * @param stdout The stream for messages to the client. Closing ends it, unless it is the process's own. @default process.stdout
   * @throws {TypeError} An option is unknown or has a wrong value.
   */
  constructor(stdin: Readable = process.stdin, stdout: Writable = process.stdout, options: StdioServerTransportOptions = {}) {
    checkOptions('StdioServerTransport options', options, SERVER_OPTIONS);
    const { maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES, maxQueuedBytes, drainMs, flushMs, clock } = options;
    // Reading stops while the client leaves more than `maxMessageBytes` of responses unread.
    const bounds = { maxMessageBytes, maxPendingBytes: maxMessageBytes, maxQueuedBytes, drainMs, flushMs, clock };
    super((control) => (stdout === process.stdout ? openProcess(stdin, control, options) : openStreams(stdin, stdout)), bounds);
    this.defaultLogger = stdout === process.stdout ? stderrLogger : undefined;
    if (this.defaultLogger) this.onerror = (error) => stderrLogger.log('warning', TRANSPORT_FAULT, { error });
  }
}

/** The log message for an error that the stdio transport of a server reports. */
export const TRANSPORT_FAULT = 'The stdio transport reported an error';

function openStreams(input: Readable, output: Writable): ByteChannel {
  return { input, output, release: () => void output.end() };
}

/** Whether a transport uses the standard streams of this process. Only one may, because the messages of two would mix. */
let isProcessInUse = false;
const IN_USE = 'The standard streams of this process already carry a transport: close it first, or give this one streams of its own';

function openProcess(stdin: Readable, control: ChannelControl, options: StdioServerTransportOptions): ByteChannel {
  if (isProcessInUse) throw new UsageError('ERR_ALREADY_STARTED', IN_USE);
  isProcessInUse = true;
  const { stdout, stderr } = process;
  // If the client is gone, standard error is broken too. A failed write to it must not end the process before it has cleaned up.
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
 * Calls `onGone` once when the parent process has ended. The end of standard input is no proof, because another process may keep it open.
 * The watch does not keep this process alive.
 *
 * On POSIX the parent's id changes when the parent ends. On Windows it stays, so signal 0 tests whether the parent is alive.
 *
 * @returns A function that ends the watch.
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
    // Any other error, such as EPERM, means that the process exists.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function ignoreBrokenPipe(): void {
  // Nothing reads standard error any more.
}

let isExitScheduled = false;

/** Ends the process after `delayMs`, so that the program can clean up and exit by itself first. */
export function exitSoon(delayMs: number = EXIT_GRACE_MS): void {
  isExitScheduled = true;
  setTimeout(() => process.exit(), delayMs).unref();
}

/** Tells whether `exitSoon` was called, so that this process is about to end. */
export function isExiting(): boolean {
  return isExitScheduled;
}

const EXIT_GRACE_MS = 100;
