/** What all commands that connect to a server have in common. */

import { type Command, InvalidArgumentError } from 'commander';
import type { Connected, ConnectionOptions } from './with-client.ts';
import { withClient } from './with-client.ts';
import type { Terminal } from './terminal.ts';

/** The options of every command that connects. */
export interface ServerCommandOptions extends ConnectionOptions {
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/** Collects the values of an option that may be repeated. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** A timer of Node takes 24 days at most: so many seconds and some. */
const MAX_NUMBER = 2_000_000;

/** Reads an option's value as a number above 0. @throws {InvalidArgumentError} It is none. */
export function toPositive(text: string): number {
  const value = Number(text);
  if (value > 0 && value <= MAX_NUMBER) return value;
  throw new InvalidArgumentError(`It must be a number above 0, and at most ${MAX_NUMBER}.`);
}

/** Reads an option's value as a whole number above 0. @throws {InvalidArgumentError} It is none. */
export function toCount(text: string): number {
  const value = toPositive(text);
  if (Number.isInteger(value)) return value;
  throw new InvalidArgumentError('It must be a whole number.');
}

/** Adds the options of a command that reaches a server: what `TargetOptions` has. */
export const addTargetOptions = (command: Command): Command =>
  command
    .option('-H, --header <name: value>', 'send an HTTP header; may be repeated', collect)
    .option('-e, --env <NAME=value>', 'set a variable for a server that is started; may be repeated', collect)
    .option('--sse', 'use the HTTP+SSE transport of the first revision');

/**
 * Adds a command whose first argument is a server.
 *
 * @param usage The command's name and further arguments, such as `read <uri>`; `<server>` is put before the arguments.
 */
export function addServerCommand(program: Command, usage: string, about: string): Command {
  const [name = '', ...args] = usage.split(' ');
  return addTargetOptions(program.command([name, '<server>', ...args].join(' ')).description(about))
    .option('--json', 'print JSON for programs')
    .option('--config <file>', '<server> is a name in this mcp.json')
    .option('--root <folder>', 'a folder that the server may ask for; may be repeated', collect)
    .option('--protocol <revision>', 'use this revision of the protocol only')
    .option('--timeout <seconds>', 'how long a request may take', toPositive)
    .option('-v, --verbose', 'show what the server writes to its error output, and its log messages');
}

/** Connects to the server of a command, and runs `use`. */
export function useServer<T>(
  terminal: Terminal,
  server: string,
  options: ServerCommandOptions,
  use: (connected: Connected) => Promise<T>,
): Promise<T> {
  terminal.isJson = options.json === true;
  terminal.isVerbose = options.verbose === true;
  return withClient(server, options, terminal, use);
}
