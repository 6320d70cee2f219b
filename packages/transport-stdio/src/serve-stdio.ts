/** `serveStdio`: connects a server to the standard streams of this process, handles signals, and ends the process. */

import type { Readable, Writable } from 'node:stream';
import type { ReadStream } from 'node:tty';
import type { Connectable, Logger, ServerConnection } from '@mortise/jsonrpc-core';
import { checkOptions, guardLogger, type OptionTable } from '@mortise/jsonrpc-core/transport';
import { stderrLogger } from './stderr-logger.ts';
import {
  exitSoon,
  isExiting,
  SERVER_OPTIONS,
  StdioServerTransport,
  type StdioServerTransportOptions,
  TRANSPORT_FAULT,
} from './stdio-server-transport.ts';

/** The options of `serveStdio`. */
export interface ServeStdioOptions extends StdioServerTransportOptions {
  /** The stream of messages from the client. @default process.stdin */
  readonly stdin?: Readable | undefined;
  /** The stream for messages to the client. @default process.stdout */
  readonly stdout?: Writable | undefined;
  /**
   * The signals that end the connection and the process, after calls in flight had `drainMs` to finish. A second signal ends them at once.
   *
   * @default SIGINT, SIGTERM and SIGHUP on the process's own streams, none on others
   */
  readonly signals?: readonly NodeJS.Signals[] | undefined;
  /**
   * Gets the errors of the transport, such as lines that are not messages. If the server has no logger, also gets the server's log, such as
   * errors that tools throw.
   *
   * @default stderrLogger
   */
  readonly logger?: Logger | undefined;
  /** Closes the connection when this signal aborts. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** The running connection that `serveStdio` returns. */
export interface StdioServing {
  /** Resolves when the connection has ended for any reason. Never rejects. */
  readonly closed: Promise<void>;
  /** Aborts calls in flight, closes the connection, and releases the standard streams and signals. The process keeps running. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const MAX_DRAIN_MS = 500;
const WAITING = 'Waiting for an MCP client on standard input, which is a terminal: let a client start this command, or end it with Ctrl+C';

const SERVE_OPTIONS: OptionTable<ServeStdioOptions> = {
  ...SERVER_OPTIONS,
  stdin: 'object',
  stdout: 'object',
  signals: 'array',
  logger: 'object',
  signal: 'object',
};

/**
 * Connects a server to the client that started this process. Resolves once the connection is ready.
 *
 * The connection ends when the client ends the input or is gone, or a signal arrives. Then the process ends in under a second, with
 * `process.exitCode` or 0; see `exitWhenDone`.
 *
 * @throws {UsageError} `ERR_ALREADY_STARTED`: the standard streams already carry a transport.
 * @throws {TypeError} `server` is not a server, or an option is unknown or has a wrong value.
 * @throws The reason of `options.signal`, if it is already aborted; and whatever the server's `connect` rejects with.
 * @see 2026-07-28 basic/transports/stdio#shutdown
 */
export async function serveStdio(server: Connectable, options: ServeStdioOptions = {}): Promise<StdioServing> {
  checkOptions('serveStdio options', options, SERVE_OPTIONS);
  const { stdin = process.stdin, stdout = process.stdout, logger = stderrLogger, signal, signals, ...own } = options;
  const { drainMs = MAX_DRAIN_MS } = own;
  if (typeof (server as Partial<Connectable> | undefined)?.connect !== 'function')
    throw new TypeError('serveStdio(server): the given value is not a server. Pass an McpServer or a Server');
  if (drainMs > MAX_DRAIN_MS) throw new TypeError(`serveStdio options: "drainMs" must be from 0 to ${MAX_DRAIN_MS}, got ${drainMs}`);
  signal?.throwIfAborted();
  const ownsProcess = stdout === process.stdout;
  const transport = new StdioServerTransport(stdin, stdout, { ...own, drainMs });
  const connection = await connect(server, transport, logger);
  if ((stdin as Partial<ReadStream>).isTTY === true) guardLogger(logger).log('warning', WAITING);
  const close = (): Promise<void> => connection.close();
  const onAbort = (): void => void close().catch(() => undefined);
  const exits = own.exitWhenDone !== false;
  const ignoreSignals = onSignals(signals ?? (ownsProcess ? DEFAULT_SIGNALS : []), (isFirst) => {
    if (!exits) return isFirst ? void connection.drain(drainMs).catch(() => undefined) : onAbort();
    if (!isFirst || isExiting()) process.exit();
    exitSoon(drainMs + SIGNAL_GRACE_MS);
    const end = (): void => exitSoon();
    connection.drain(drainMs).then(end, end);
  });
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  const closed = connection.closed.then(() => {
    // A signal that arrives after the end of the input must not change the exit code.
    if (!isExiting()) ignoreSignals();
    signal?.removeEventListener('abort', onAbort);
  });
  return { closed, close: () => close().then(() => closed), [Symbol.asyncDispose]: () => close().then(() => closed) };
}

/** Connects a server to the transport. If that fails, closes the transport, so that the standard streams are free again. */
async function connect(server: Connectable, transport: StdioServerTransport, logger: Logger): Promise<ServerConnection> {
  const guarded = guardLogger(logger);
  transport.onerror = (error) => guarded.log('warning', TRANSPORT_FAULT, { error });
  try {
    return await server.connect(transport, { logger });
  } catch (error) {
    await transport.close();
    throw error;
  }
}

const DEFAULT_SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** How much longer than `drainMs` the process may run after a signal, in ms: short, because it must end within a second. */
const SIGNAL_GRACE_MS = 250;

/** Calls `fn` at each of the given process signals. @returns A function that stops listening. */
function onSignals(signals: readonly NodeJS.Signals[], fn: (isFirst: boolean) => void): () => void {
  let count = 0;
  const onSignal = (): void => fn(++count === 1);
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
}
