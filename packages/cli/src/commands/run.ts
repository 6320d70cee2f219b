/** `mortise run`: serves the server that a file exports, over stdio, HTTP or WebSocket. TypeScript runs as it is. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { createJiti } from 'jiti';
import { CliError, ExitCode } from '../errors.ts';
import { addServingOptions, serve, type Served, type ServingOptions } from '../serve.ts';
import { clean, type Terminal } from '../terminal.ts';

export function addRun(program: Command, terminal: Terminal): void {
  const command = program.command('run <file>').description('Serve the server that a file exports; TypeScript runs as it is');
  addServingOptions(command).action((file: string, options: ServingOptions) => run(file, options, terminal));
}

async function run(file: string, options: ServingOptions, terminal: Terminal): Promise<void> {
  const server = await load(resolve(terminal.io.cwd, file), terminal);
  if (server !== undefined) await serve(server, options, terminal);
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
