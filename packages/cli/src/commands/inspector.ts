/** `mortise inspector` and `mortise dev`: the inspector's page, for any server, and for a file of yours that is started again when it changes. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { openBrowser } from '@mortise/auth-oauth/node';
import { type InspectorServing, serveInspector, type ServerTarget } from '@mortise/inspector';
import type { Command } from 'commander';
import { CliError } from '../errors.ts';
import { ownFile } from '../own-file.ts';
import { aborted, toPort } from '../serve.ts';
import { addTargetOptions, collect } from '../server-command.ts';
import { parseTarget, type TargetOptions, toVariables } from '../target.ts';
import { clean, type Terminal } from '../terminal.ts';
import { watchFolder } from '../watch/watch-folder.ts';

interface PageOptions {
  readonly port: number;
  readonly open: boolean;
}

interface InspectorCommandOptions extends TargetOptions, PageOptions {
  readonly protocol?: string;
}

export function addInspector(program: Command, terminal: Terminal): void {
  addPageOptions(program.command('dev <file>'))
    .description('Open the inspector for the server that a file exports, and start it again when a file beside it changes')
    .option('-e, --env <NAME=value>', 'set a variable for the server; may be repeated', collect)
    .addHelpText('after', '\nExample:\n  mortise dev server.ts')
    .action((file: string, options: PageOptions & TargetOptions) => develop(file, options, terminal));
  addTargetOptions(addPageOptions(program.command('inspector [server]')))
    .description('Open a page that uses all that servers offer, and shows every message')
    .option('--protocol <revision>', 'use this revision of the protocol only')
    .addHelpText('after', '\nExample:\n  mortise inspector http://localhost:3000/mcp')
    .action((server: string | undefined, options: InspectorCommandOptions) =>
      serve(
        server === undefined ? [] : [{ ...parseTarget(server, options, terminal.io.cwd), protocolVersion: options.protocol }],
        options,
        terminal,
      ),
    );
}

const addPageOptions = (command: Command): Command =>
  command
    .option('-p, --port <port>', 'the port of the page; 0 takes a free one', toPort, 0)
    .option('--no-open', 'do not open the page in the browser');

async function develop(file: string, options: PageOptions & TargetOptions, terminal: Terminal): Promise<void> {
  const { cwd } = terminal.io;
  const path = resolve(cwd, file);
  if (!existsSync(path)) throw new CliError(`There is no file ${clean(path)}`);
  const args = [ownFile('bin/mortise.js'), 'run', path];
  const target: ServerTarget = { type: 'stdio', name: file, command: process.execPath, args, env: toVariables(options), cwd };
  await serve([target], options, terminal, (inspector) =>
    watchFolder(path, async () => {
      terminal.note(terminal.styleNote('dim', 'a file changed: the server is started again'));
      for (const reason of await inspector.reconnect()) terminal.note(`${terminal.styleNote('red', 'error')}: ${clean(reason)}`);
    }),
  );
}

/** Serves the page until the user interrupts. */
async function serve(
  servers: readonly ServerTarget[],
  { port, open }: PageOptions,
  terminal: Terminal,
  whileServing?: (inspector: InspectorServing) => Promise<() => Promise<void>>,
): Promise<void> {
  // Whoever types the command wants it, whatever NODE_ENV the shell has.
  const inspector = await serveInspector({ port, servers, allowProduction: true });
  const stop = await whileServing?.(inspector);
  try {
    terminal.note(`${terminal.styleNote('green', 'inspector')} ${inspector.url} (a page for your browser; Ctrl-C ends)`);
    if (open && terminal.isInteractive)
      await openBrowser(inspector.url).catch(() => terminal.note('No browser could be opened: open the address yourself'));
    await aborted(terminal.io.signal);
  } finally {
    await stop?.();
    await inspector.close();
  }
}
