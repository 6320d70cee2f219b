/** `mortise run`: serves the server that a file exports, over stdio, HTTP or WebSocket. TypeScript runs as it is. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { createJiti } from 'jiti';
import { CliError, ExitCode } from '../errors.ts';
import { addServingOptions, serve, type Served, type ServingOptions, untilInterrupted } from '../serve.ts';
import { clean, type CliIo, type Terminal } from '../terminal.ts';
import { serveWatched } from '../watch/serve-watched.ts';

interface RunOptions extends ServingOptions {
  readonly watch?: boolean;
}

export function addRun(program: Command, terminal: Terminal): void {
  const command = program.command('run <file>').description('Serve the server that a file exports; TypeScript runs as it is');
  addServingOptions(command)
    .option('-w, --watch', 'load the file again when it or a file beside it changes')
    .action((name: string, options: RunOptions) => run(resolve(terminal.io.cwd, name), options, terminal));
}

async function run(file: string, options: RunOptions, terminal: Terminal): Promise<void> {
  const isStdio = options.http !== true && options.ws !== true;
  const loadFile = <T>(loading: () => Promise<T>): Promise<T> => (isStdio ? withoutPrinting(terminal.io, loading) : loading());
  if (options.watch === true) return serveWatched(file, () => loadFile(() => loadAgain(file)), options, terminal);
  const server = await untilInterrupted(
    loadFile(() => load(file)),
    terminal,
  );
  if (server !== undefined) return serve(server, options, terminal);
  await new Promise<void>((resolve) => process.once('beforeExit', () => resolve()));
  // A file that served by itself has read the input, and ends when the host closes it.
  if (terminal.io.stdin.readableFlowing === null) throw new CliError(`${clean(file)} ${NO_SERVER}`);
}

/** While a file is loaded, what it prints goes to the error output. Messages pass: a file may serve by itself. */
async function withoutPrinting<T>({ stdout, stderr }: CliIo, load: () => Promise<T>): Promise<T> {
  const { write } = stdout;
  let isLoading = true;
  const moved = ((...args: Parameters<typeof write>) => {
    const text = String(args[0]);
    const isMessage = text.startsWith('{') && text.includes('"jsonrpc"');
    return isLoading && !isMessage ? stderr.write(...args) : write.apply(stdout, args);
  }) as typeof write;
  stdout.write = moved;
  try {
    return await load();
  } finally {
    isLoading = false;
    if (stdout.write === moved) stdout.write = write;
  }
}

const NO_SERVER = 'exports no server and does not serve one: add "export default server"';

/** @throws {CliError} The file is not there, fails while it is loaded, or exports no server. */
async function loadAgain(file: string): Promise<Served> {
  const server = await load(file, false);
  if (server !== undefined) return server;
  throw new CliError(`${clean(file)} ${NO_SERVER}`);
}

/**
 * Loads a file and finds the server that it exports.
 *
 * @param isCached Whether a module that was loaded before is taken as it is.
 * @returns undefined if the file serves by itself, or goes on with something else.
 * @throws {CliError} The file is not there, or fails while it is loaded.
 */
async function load(file: string, isCached = true): Promise<Served | undefined> {
  if (!existsSync(file)) throw new CliError(`There is no file ${clean(file)}`);
  const exported = await importFile(file, isCached);
  const candidates = [exported['default'], exported['server'], ...Object.values(exported)];
  const found = candidates.find((value) => isServed(value)) ?? (await callFactory(exported['default']));
  return isServed(found) ? found : undefined;
}

async function importFile(file: string, isCached: boolean): Promise<Record<string, unknown>> {
  try {
    return await createJiti(pathToFileURL(file).href, { moduleCache: isCached }).import<Record<string, unknown>>(file);
  } catch (error) {
    throw new CliError(`${clean(file)} failed while it was loaded`, ExitCode.failed, { cause: error });
  }
}

const callFactory = (value: unknown): unknown => (typeof value === 'function' ? (value as () => unknown)() : undefined);

function isServed(value: unknown): value is Served {
  const { handle, connect, openSession } = Object(value) as Partial<Record<keyof Served, unknown>>;
  return typeof handle === 'function' && typeof connect === 'function' && typeof openSession === 'function';
}
