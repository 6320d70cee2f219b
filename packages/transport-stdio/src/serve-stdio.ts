/** Serves a server on the standard streams of this process, as a good process does. */

import type { Readable, Writable } from 'node:stream';
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

/** How `serveStdio` serves. */
export interface ServeStdioOptions extends StdioServerTransportOptions {
  /** Where the client's messages come from. @default process.stdin */
  readonly stdin?: Readable | undefined;
  /** Where the server's messages go to. @default process.stdout */
  readonly stdout?: Writable | undefined;
  /**
   * Which signals end the connection and the process after draining. A second one ends them at once.
   *
   * @default SIGINT, SIGTERM and SIGHUP on the process's own streams, none on others
   */
  readonly signals?: readonly NodeJS.Signals[] | undefined;
  /**
   * Gets the faults of the transport, such as lines that are no message, and what a server without a logger of its own writes, such as
   * what a tool threw.
   *
   * @default stderrLogger
   */
  readonly logger?: Logger | undefined;
  /** Aborting it closes. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** A server at work on stdio. */
export interface StdioServing {
  /** Resolves when the connection has ended, for whatever reason. Never rejects. */
  readonly closed: Promise<void>;
  /** Aborts what is in flight, closes, and gives the standard streams and signals back. The process goes on. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const MAX_DRAIN_MS = 500;

const SERVE_OPTIONS: OptionTable<ServeStdioOptions> = {
  ...SERVER_OPTIONS,
  stdin: 'object',
  stdout: 'object',
  signals: 'array',
  logger: 'object',
  signal: 'object',
};

/**
 * Serves the client that started this process, until it ends the input, is gone, or a signal comes.
 *
 * The process then ends in under a second with `process.exitCode` or 0; see `exitWhenDone`. Resolves once serving has begun.
 *
 * @throws {UsageError} `ERR_ALREADY_STARTED`: the standard streams already carry a transport.
 * @throws {TypeError} What is served is no server, or an option does not exist or has the wrong kind of value.
 * @throws `options.signal`'s reason, if it is aborted already; and whatever the server's `connect` rejects with.
 * @see 2026-07-28 basic/transports/stdio#shutdown
 */
export async function serveStdio(server: Connectable, options: ServeStdioOptions = {}): Promise<StdioServing> {
  checkOptions('serveStdio options', options, SERVE_OPTIONS);
  const { stdin = process.stdin, stdout = process.stdout, logger = stderrLogger, signal, signals, ...own } = options;
  const { drainMs = MAX_DRAIN_MS } = own;
  if (typeof (server as Partial<Connectable> | undefined)?.connect !== 'function')
    throw new TypeError('serveStdio(server) needs a server, such as an McpServer: it has no function "connect"');
  if (drainMs > MAX_DRAIN_MS) throw new TypeError(`serveStdio options: "drainMs" must be from 0 to ${MAX_DRAIN_MS}, got ${drainMs}`);
  signal?.throwIfAborted();
  const ownsProcess = stdout === process.stdout;
  const transport = new StdioServerTransport(stdin, stdout, { ...own, drainMs });
  const connection = await connect(server, transport, logger);
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
    // A host that ends the input and then sends a signal still sees the process end in good order.
    if (!isExiting()) ignoreSignals();
    signal?.removeEventListener('abort', onAbort);
  });
  return { closed, close: () => close().then(() => closed), [Symbol.asyncDispose]: () => close().then(() => closed) };
}

/** Connects a server; what a server that refuses has taken hold of is given back. */
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

/** Draining and what follows it must be over within a second of the signal. */
const SIGNAL_GRACE_MS = 250;

/** Listens for signals. @returns Ends that. */
function onSignals(signals: readonly NodeJS.Signals[], fn: (isFirst: boolean) => void): () => void {
  let count = 0;
  const onSignal = (): void => fn(++count === 1);
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
}
