/** `mortise run`: serves the server that a file exports, over stdio, HTTP or WebSocket. TypeScript runs as it is. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Connectable } from '@mortise/jsonrpc-core';
import type { McpEndpoint } from '@mortise/protocol/contracts';
import { serveHttp } from '@mortise/transport-http/node';
import { serveStdio } from '@mortise/transport-stdio/server';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';
import { type Command, InvalidArgumentError } from 'commander';
import { createJiti } from 'jiti';
import { CliError, ExitCode } from '../errors.ts';
import { clean, type Terminal } from '../terminal.ts';

interface RunOptions {
  readonly http?: boolean;
  readonly ws?: boolean;
  readonly port: number;
  readonly host: string;
}

/** What a file may export: our `McpServer` and `Server` are one, and so is what our gateway makes. */
type Served = McpEndpoint & Connectable;

export function addRun(program: Command, terminal: Terminal): void {
  program
    .command('run <file>')
    .description('Serve the server that a file exports (export default), over stdio; TypeScript runs as it is')
    .option('--http', 'serve it over HTTP')
    .option('--ws', 'serve it over WebSocket')
    .option('-p, --port <port>', 'the port for --http and --ws; 0 takes a free one', toPort, 3000)
    .option('--host <host>', 'the address to listen on for --http and --ws', '127.0.0.1')
    .action((file: string, options: RunOptions) => run(file, options, terminal));
}

function toPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
}

async function run(file: string, options: RunOptions, terminal: Terminal): Promise<void> {
  if (options.http === true && options.ws === true) throw new CliError('--http and --ws exclude each other: start the command twice');
  const server = await load(resolve(terminal.io.cwd, file), terminal);
  if (server === undefined) return;
  if (options.http !== true && options.ws !== true) return serveOverStdio(server, terminal);
  const { port, host } = options;
  const serving = options.http === true ? await serveHttp(server, { port, host }) : await serveWebSocket(server, { port, host });
  terminal.note(`${terminal.styleNote('green', 'serving')} ${serving.url} (Ctrl-C ends)`);
  await aborted(terminal.io.signal);
  await serving.close();
}

async function serveOverStdio(server: Served, { io: { stdin, stdout, signal } }: Terminal): Promise<void> {
  const serving = await serveStdio(server, { stdin, stdout, ...(signal ? { signal } : {}) });
  await serving.closed;
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done) => {
    if (signal?.aborted) done();
    else signal?.addEventListener('abort', () => done(), { once: true });
  });
}

/**
 * Loads a file and finds the server that it exports.
 *
 * @returns undefined if the file serves by itself, or goes on with something else.
 * @throws {CliError} The file is not there, or fails while it is loaded.
 */
async function load(file: string, terminal: Terminal): Promise<Served | undefined> {
  if (!existsSync(file)) throw new CliError(`There is no file ${clean(file)}`);
  const exported = await importFile(file);
  const candidates = [exported['default'], exported['server'], ...Object.values(exported)];
  const found = candidates.find((value) => isServed(value)) ?? (await callFactory(exported['default']));
  if (isServed(found)) return found;
  process.once('beforeExit', () => {
    terminal.note(`${clean(file)} exports no server and does not serve one: add "export default server"`);
    process.exitCode = ExitCode.usage;
  });
  return undefined;
}

async function importFile(file: string): Promise<Record<string, unknown>> {
  try {
    return await createJiti(pathToFileURL(file).href).import<Record<string, unknown>>(file);
  } catch (error) {
    throw new CliError(`${clean(file)} failed while it was loaded`, ExitCode.failed, { cause: error });
  }
}

const callFactory = (value: unknown): unknown => (typeof value === 'function' ? (value as () => unknown)() : undefined);

function isServed(value: unknown): value is Served {
  const { handle, connect, openSession } = Object(value) as Partial<Record<keyof Served, unknown>>;
  return typeof handle === 'function' && typeof connect === 'function' && typeof openSession === 'function';
}
