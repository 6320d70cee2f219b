/** `mortise install`: writes a server into the configuration of a desktop host. What stands there stays, comments and all. */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { createTwoFilesPatch } from 'diff';
import { applyEdits, modify, type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import stringArgv from 'string-argv';
import { CliError } from '../errors.ts';
import { clean, type Terminal } from '../terminal.ts';

const HOSTS = ['claude-desktop', 'claude-code', 'vscode', 'cursor'] as const;
type Host = (typeof HOSTS)[number];

interface InstallOptions {
  readonly name?: string;
  readonly env?: readonly string[];
  readonly global?: boolean;
  readonly file?: string;
  readonly yes?: boolean;
}

export function addInstall(program: Command, terminal: Terminal): void {
  program
    .command('install <server>')
    .description('Write a server into the configuration of a desktop host; shows the change first')
    .argument('<host>', `one of ${HOSTS.join(', ')}`)
    .option('-n, --name <name>', 'the name of the entry (default: made from the command or URL)')
    .option('-e, --env <NAME=value>', 'a variable for the server; may be repeated', (text: string, before: readonly string[] = []) => [
      ...before,
      text,
    ])
    .option('--global', 'for all projects (claude-code, vscode and cursor; default: this folder)')
    .addOption(new Option('--file <file>', 'write this file').hideHelp(false))
    .option('-y, --yes', 'write without asking')
    .action((server: string, host: string, options: InstallOptions) => install(server, host, options, terminal));
}

async function install(server: string, host: string, options: InstallOptions, terminal: Terminal): Promise<void> {
  if (!isHost(host)) throw new CliError(`"${clean(host)}" is no host: choose one of ${HOSTS.join(', ')}`);
  const { io } = terminal;
  const file = options.file === undefined ? toFile(host, options.global === true, io.cwd, io.env) : resolve(io.cwd, options.file);
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const name = options.name ?? toName(server);
  const after = addEntry(before, [host === 'vscode' ? 'servers' : 'mcpServers', name], toEntry(server, host, options.env ?? []), file);
  if (after === before) return terminal.print(`${clean(file)} has this entry already.`);
  terminal.print(clean(createTwoFilesPatch(file, file, before, after, '', '').replace(/^=+\n/, '')));
  if (options.yes !== true && !/^y/i.test((await terminal.ask(`Write ${clean(file)}? [y/N] `)) ?? '')) {
    throw new CliError(terminal.isInteractive ? 'Nothing was written' : 'Nothing was written: --yes writes without asking');
  }
  write(file, after);
  terminal.note(`${terminal.styleNote('green', 'written')}; start the host anew to see "${clean(name)}"`);
}

const isHost = (host: string): host is Host => (HOSTS as readonly string[]).includes(host);

/** Where a host keeps its configuration, as its documentation says. */
function toFile(host: Host, isGlobal: boolean, cwd: string, env: Terminal['io']['env']): string {
  const home = env['HOME'] ?? homedir();
  const applications = toApplications(home, env);
  switch (host) {
    case 'claude-desktop':
      return join(applications, 'Claude', 'claude_desktop_config.json');
    case 'claude-code':
      return isGlobal ? join(home, '.claude.json') : join(cwd, '.mcp.json');
    case 'vscode':
      return isGlobal ? join(applications, 'Code', 'User', 'mcp.json') : join(cwd, '.vscode', 'mcp.json');
    case 'cursor':
      return join(isGlobal ? home : cwd, '.cursor', 'mcp.json');
  }
}

function toApplications(home: string, env: Terminal['io']['env']): string {
  if (process.platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (process.platform === 'win32') return env['APPDATA'] ?? join(home, 'AppData', 'Roaming');
  return env['XDG_CONFIG_HOME'] ?? join(home, '.config');
}

/** A name for the entry: the package of an `npx` command, a file's or a host's name. */
function toName(server: string): string {
  if (/^https?:/i.test(server)) return new URL(server).hostname.replace(/^www\./, '').replaceAll('.', '-');
  const words = stringArgv(server).filter((word) => !word.startsWith('-'));
  const word = words[0] === 'npx' || words[0] === 'node' ? words[1] : words[0];
  const name = (word ?? server)
    .split(/[/\\]/)
    .at(-1)
    ?.replace(/@[^@]*$/, '')
    .replace(/\.[cm]?[jt]s$/, '');
  return name || 'server';
}

function toEntry(server: string, host: Host, variables: readonly string[]): object {
  if (/^https?:/i.test(server)) {
    if (host === 'claude-desktop')
      throw new CliError('Claude Desktop starts programs only: add a server with a URL in its settings, under Connectors');
    return host === 'cursor' ? { url: server } : { type: 'http', url: server };
  }
  const [command, ...args] = stringArgv(server);
  if (command === undefined) throw new CliError('The server is empty: give a command in quotes or a URL');
  const env = Object.fromEntries(variables.map(toVariable));
  return { ...(host === 'vscode' ? { type: 'stdio' } : {}), command, args, ...(variables.length === 0 ? {} : { env }) };
}

function toVariable(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new CliError(`"${clean(text)}" is no variable: write --env NAME=value`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function addEntry(text: string, path: readonly string[], entry: object, file: string): string {
  const errors: ParseError[] = [];
  parse(text.trim() === '' ? '{}' : text, errors, { allowTrailingComma: true });
  const [fault] = errors;
  if (fault) {
    const line = text.slice(0, fault.offset).split('\n').length;
    throw new CliError(`${clean(file)}, line ${line}: ${printParseErrorCode(fault.error)}; mend the file first, nothing was written`);
  }
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: text.includes('\r\n') ? '\r\n' : '\n' };
  const start = text.trim() === '' ? '{}' : text;
  const edited = applyEdits(start, modify(start, [...path], entry, { formattingOptions }));
  return edited.endsWith('\n') ? edited : `${edited}\n`;
}

/** Writes beside the file and renames, so that a host never reads half of it. */
function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const beside = `${file}.${process.pid}.tmp`;
  writeFileSync(beside, text, { mode: 0o600 });
  renameSync(beside, file);
}
