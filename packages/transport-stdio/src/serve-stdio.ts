/** Serves a server on the standard streams of this process, as a good process does. */

import type { Readable, Writable } from 'node:stream';
import type { Connectable } from '@mortise/jsonrpc-core';
import { exitSoon, StdioServerTransport, type StdioServerTransportOptions } from './stdio-server-transport.ts';

/** How `serveStdio` serves. */
export interface ServeStdioOptions extends StdioServerTransportOptions {
  /** Where the client's messages come from. @default process.stdin */
  readonly stdin?: Readable | undefined;
  /** Where the server's messages go to. @default process.stdout */
  readonly stdout?: Writable | undefined;
  /**
   * How long requests in flight may go on when the input has ended or a signal asks the process to end, in milliseconds.
   * What still runs then is aborted.
   *
   * @default 500, which is also the most
   */
  readonly drainMs?: number | undefined;
  /**
   * Which signals end the connection and the process after draining. A second one ends them at once.
   *
   * @default SIGINT, SIGTERM and SIGHUP on the process's own streams, none on others
   */
  readonly signals?: readonly NodeJS.Signals[] | undefined;
  /** Aborting it closes. */
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

/**
 * Serves the client that started this process, until it ends the input, is gone, or a signal comes.
 *
 * The process then ends in under a second with `process.exitCode` or 0; see `exitWhenDone`. Resolves once serving has begun.
 *
 * @throws {StdioInUseError} `ERR_STDIO_IN_USE`: the standard streams already carry a transport.
 * @throws {RangeError} `drainMs` is not from 0 to 500.
 * @throws `options.signal`'s reason, if it is aborted already.
 * @see 2026-07-28 basic/transports/stdio#shutdown
 */
export async function serveStdio(server: Connectable, options: ServeStdioOptions = {}): Promise<StdioServing> {
  const { stdin = process.stdin, stdout = process.stdout, drainMs = MAX_DRAIN_MS, signal } = options;
  if (!(drainMs >= 0 && drainMs <= MAX_DRAIN_MS)) throw new RangeError(`drainMs must be from 0 to ${MAX_DRAIN_MS}, got ${drainMs}`);
  signal?.throwIfAborted();
  const ownsProcess = stdout === process.stdout;
  const connection = await server.connect(new StdioServerTransport(stdin, stdout, { ...options, drainMs }));
  const close = (): Promise<void> => connection.close();
  const onAbort = (): void => void close();
  const exits = options.exitWhenDone !== false;
  const ignoreSignals = onSignals(options.signals ?? (ownsProcess ? DEFAULT_SIGNALS : []), (isFirst) => {
    if (!isFirst) return exits ? process.exit() : void close();
    if (exits) setTimeout(() => process.exit(), drainMs + SIGNAL_GRACE_MS).unref();
    void connection.drain(drainMs).then(() => exits && exitSoon());
  });
  signal?.addEventListener('abort', onAbort, { once: true });
  const closed = connection.closed.then(() => {
    ignoreSignals();
    signal?.removeEventListener('abort', onAbort);
  });
  return { closed, close: () => close().then(() => closed), [Symbol.asyncDispose]: () => close().then(() => closed) };
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
