/** `serve`: serves an endpoint as the options of `mortise run` and `mortise gateway` say, until the user interrupts. */

import type { Connectable } from '@mortise/jsonrpc-core';
import type { McpEndpoint } from '@mortise/protocol/contracts';
import { isLoopbackHost } from '@mortise/protocol/edge';
import { serveHttp } from '@mortise/transport-http/node';
import { serveStdio } from '@mortise/transport-stdio/server';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CliError, ExitCode } from './errors.ts';
import type { Terminal } from './terminal.ts';

export interface ServingOptions {
  readonly http?: boolean;
  readonly ws?: boolean;
  readonly port: number;
  readonly host: string;
}

const OPEN = 'other machines can use this without signing in: put a proxy that asks who they are before it, or leave out --host';

/** What can be served: our `McpServer` and `Server`, and a gateway. */
export type Served = McpEndpoint & Connectable;

export const addServingOptions = (command: Command): Command =>
  command
    .addOption(new Option('--http', 'serve over HTTP').conflicts('ws'))
    .option('--ws', 'serve over WebSocket')
    .option('-p, --port <port>', 'the port for --http and --ws; 0 takes a free one', toPort, 3000)
    .option('--host <host>', 'the address to listen on for --http and --ws', '127.0.0.1');

/** Reads an option's value as a port. @throws {InvalidArgumentError} It is none. */
export function toPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
}

/** Serves until the user interrupts, or the client on stdio leaves. */
export async function serve(server: Served, options: ServingOptions, terminal: Terminal): Promise<void> {
  const { http, ws, port, host } = options;
  const { stdin, stdout, signal } = terminal.io;
  if (http !== true && ws !== true) {
    const serving = await serveStdio(server, { stdin, stdout, ...(signal ? { signal } : {}) });
    return serving.closed;
  }
  const serving = http === true ? await serveHttp(server, { port, host }) : await serveWebSocket(server, { port, host });
  say(serving.url, terminal);
  if (!isLoopbackHost(host)) terminal.note(`${terminal.styleNote('yellow', 'warning')}: ${OPEN}`);
  await aborted(signal);
  await serving.close();
}

export const say = (url: string, terminal: Terminal): void =>
  terminal.note(`${terminal.styleNote('green', 'serving')} ${url} (Ctrl-C ends)`);

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done) => {
    if (signal?.aborted) done();
    else signal?.addEventListener('abort', () => done(), { once: true });
  });
}

/** Waits for what may never end, such as a file that is loaded. @throws {CliError} The user interrupts. */
export function untilInterrupted<T>(work: Promise<T>, { io }: Terminal): Promise<T> {
  const interrupted = aborted(io.signal).then(() => Promise.reject(new CliError('interrupted', ExitCode.interrupted)));
  return Promise.race([work, interrupted]);
}
