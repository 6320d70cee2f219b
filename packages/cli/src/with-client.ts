/** `withClient`: connects to the server of a command, runs the command, and closes the connection whatever happens. */

import { McpClient } from '@mortise/client';
import { folderRoots } from '@mortise/client/node';
import { REVISIONS } from '@mortise/protocol';
import { taskClient, type TaskClient } from '@mortise/tasks/client';
import { answerForm, answerPage } from './answer.ts';
import { findServer } from './configured.ts';
import { CliError } from './errors.ts';
import { type TargetOptions, toTransport } from './target.ts';
import { clean, type Terminal } from './terminal.ts';

/** The options of every command that connects to a server. */
export interface ConnectionOptions extends TargetOptions {
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

/**
 * Connects, runs `use`, and closes.
 *
 * @throws {CliError} A wrong option. Else what connecting or `use` throws.
 */
export async function withClient<T>(
  target: string,
  options: ConnectionOptions,
  terminal: Terminal,
  use: (connected: Connected) => Promise<T>,
): Promise<T> {
  checkProtocol(options.protocol);
  const { signal } = terminal.io;
  const tasks = taskClient({ onTask: (task) => terminal.status(`task ${clean(task.id ?? '')} is running`) });
  const client = new McpClient(
    { name: 'mortise', version: VERSION },
    {
      protocolVersion: options.protocol,
      probeTimeoutMs: PROBE_MS,
      requestTimeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
      extensions: [tasks],
      roots: options.root && folderRoots(options.root),
      elicitation: terminal.isInteractive ? { form: answerForm(terminal), url: answerPage(terminal) } : undefined,
      onError: (error) => terminal.isVerbose && terminal.note(terminal.styleNote('dim', clean(error.message))),
    },
  );
  try {
    const { config } = options;
    const source = config === undefined ? toTransport(target, options, terminal) : (await findServer(target, config, terminal)).transport;
    await client.connect(source, { signal });
    if (terminal.isVerbose) showLog(client, terminal);
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

function showLog(client: McpClient, terminal: Terminal): void {
  client.onLog(({ level, logger, data }) => {
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    terminal.note(terminal.styleNote('dim', clean(`${level}${logger === undefined ? '' : ` ${logger}`}: ${text}`)));
  });
}
