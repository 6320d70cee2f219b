/** What all commands that connect to a server have in common. */

import { McpClient } from '@mortise/client';
import { folderRoots } from '@mortise/client/node';
import { REVISIONS } from '@mortise/protocol';
import { taskClient, type TaskClient } from '@mortise/tasks/client';
import { type Command, InvalidArgumentError } from 'commander';
import { answerForm, answerPage } from './answer.ts';
import { findServer } from './configured.ts';
import { CliError } from './errors.ts';
import { type TargetOptions, toTransport } from './target.ts';
import { clean, type Terminal } from './terminal.ts';

/** The options of every command that connects to a server. */
export interface ServerCommandOptions extends TargetOptions {
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly protocol?: string;
  /** A configuration file in which the server is named. */
  readonly config?: string;
  readonly root?: readonly string[];
  /** In seconds. */
  readonly timeout?: number;
}

export interface Connected {
  readonly client: McpClient;
  readonly tasks: TaskClient;
}

const VERSION = '1.0.0';
/** How long a server that is started has to say its first word, in milliseconds: `npx` may have to install it. */
const PROBE_MS = 30_000;

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

/**
 * Connects to the server of a command, runs `use`, and closes the connection whatever happens.
 *
 * @throws {CliError} A wrong option. Else what connecting or `use` throws.
 */
export async function useServer<T>(
  terminal: Terminal,
  server: string,
  options: ServerCommandOptions,
  use: (connected: Connected) => Promise<T>,
): Promise<T> {
  terminal.isJson = options.json === true;
  terminal.isVerbose = options.verbose === true;
  checkProtocol(options.protocol);
  const { signal } = terminal.io;
  const timeoutMs = options.timeout === undefined ? undefined : options.timeout * 1000;
  const tasks = taskClient({ onTask: (task) => terminal.status(`task ${clean(task.id ?? '')} is running`) });
  const client = new McpClient(
    { name: 'mortise', version: VERSION },
    {
      protocolVersion: options.protocol,
      probeTimeoutMs: Math.min(PROBE_MS, timeoutMs ?? PROBE_MS),
      requestTimeoutMs: timeoutMs,
      extensions: [tasks],
      roots: options.root && folderRoots(options.root),
      elicitation: terminal.isInteractive ? { form: answerForm(terminal), url: answerPage(terminal) } : undefined,
      onError: (error) => terminal.isVerbose && terminal.note(terminal.styleNote('dim', clean(error.message))),
    },
  );
  try {
    const { config } = options;
    const source = config === undefined ? toTransport(server, options, terminal) : (await findServer(server, config, terminal)).transport;
    await client.connect(source, { signal });
    if (terminal.isVerbose) await showLog(client, terminal);
    return await use({ client, tasks });
  } finally {
    await client.close();
  }
}

function checkProtocol(version: string | undefined): void {
  const known = REVISIONS.map((revision) => revision.version);
  if (version === undefined || known.includes(version)) return;
  throw new CliError(`--protocol "${clean(version)}" is not a revision: choose one of ${known.join(', ')}`);
}

async function showLog(client: McpClient, terminal: Terminal): Promise<void> {
  client.onLog(({ level, logger, data }) => {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    terminal.note(terminal.styleNote('dim', clean(`${level}${logger === undefined ? '' : ` ${logger}`}: ${text}`)));
  });
  // In the modern era a server logs only for requests that name a level.
  if (client.getServerCapabilities()?.logging) await client.setLoggingLevel('debug');
}
