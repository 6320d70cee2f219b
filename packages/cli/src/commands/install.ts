/** `mortise install`: writes a server into the configuration of a desktop host. What stands there stays, comments and all. */

import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { Argument, type Command } from 'commander';
import { createTwoFilesPatch } from 'diff';
import { applyEdits, type Edit, format, modify, type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import stringArgv from 'string-argv';
import { CliError } from '../errors.ts';
import { ownFile } from '../own-file.ts';
import { collect } from '../server-command.ts';
import { findScript, parseTarget, type TargetOptions } from '../target.ts';
import { clean, type Terminal } from '../terminal.ts';

const HOSTS = ['claude-desktop', 'claude-code', 'vscode', 'cursor'] as const;
type Host = (typeof HOSTS)[number];

interface InstallOptions extends Pick<TargetOptions, 'env'> {
  readonly name?: string;
  readonly global?: boolean;
  readonly file?: string;
  readonly yes?: boolean;
}

export function addInstall(program: Command, terminal: Terminal): void {
  program
    .command('install <server>')
    .description('Write a server into the configuration of a desktop host; shows the change first')
    .addArgument(new Argument('<host>', 'the host').choices(HOSTS))
    .option('-n, --name <name>', 'the name of the entry (default: the name of the project, package or host)')
    .option('-e, --env <NAME=value>', 'a variable for the server; may be repeated', collect)
    .option('--global', 'for all projects (claude-code, vscode and cursor; default: this folder)')
    .option('--file <file>', 'write this file')
    .option('-y, --yes', 'write without asking')
    .action((server: string, host: Host, options: InstallOptions) => install(server, host, options, terminal));
}

async function install(server: string, host: Host, options: InstallOptions, terminal: Terminal): Promise<void> {
  const { io } = terminal;
  const file = options.file === undefined ? toFile(host, options.global === true, io.cwd, io.env) : resolve(io.cwd, options.file);
  const before = readText(file);
  const entry = toEntry(server, host, options, io.cwd);
  const name = options.name ?? toName(server, io.cwd);
  const path = [host === 'vscode' ? 'servers' : 'mcpServers', name] as const;
  const after = addEntry(before, path, entry, file);
  const found = findEntry(before, path);
  if (isDeepStrictEqual(found, entry)) return terminal.print(`${clean(file)} has this entry already.`);
  if (options.yes === true && options.name === undefined && found !== undefined && !startsSame(found, entry))
    throw new CliError(
      `${clean(file)} has another server "${clean(name)}", nothing was written: --name ${clean(name)} replaces it, any other name keeps both`,
    );
  terminal.print(clean(createTwoFilesPatch(file, file, before, after, '', '').replace(/^=+\n/, '')));
  if (options.yes !== true && !/^y/i.test((await terminal.ask(`Write ${clean(file)}? [y/N] `)) ?? '')) {
    throw new CliError(terminal.isInteractive ? 'Nothing was written' : 'Nothing was written: --yes writes without asking');
  }
  if (readText(file) !== before) throw new CliError(`${clean(file)} was changed meanwhile, nothing was written: run the command again`);
  write(file, after);
  terminal.note(`${terminal.styleNote('green', 'written')}; restart the host to see "${clean(name)}"`);
}

const readText = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

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

/** A name for the entry: that of a file's project, the package of an `npx` command, or the host of a URL. */
function toName(server: string, cwd: string): string {
  if (/^https?:/i.test(server)) return new URL(server).host.replace(/^www\./, '').replaceAll(/[.:]/g, '-');
  const words = findScript(server, cwd) === undefined ? stringArgv(server).filter((word) => !word.startsWith('-')) : [server];
  const script = words.map((word) => findScript(word, cwd)).find((file) => file !== undefined);
  if (script !== undefined) return toProjectName(dirname(script));
  const word = words[0] === 'npx' || words[0] === 'node' ? words[1] : words[0];
  const name = (word ?? server)
    .split(/[/\\]/)
    .at(-1)
    ?.replace(/@[^@]*$/, '')
    .replace(/\.[cm]?[jt]s$/, '');
  return name || 'server';
}

/** The name of the package that a folder belongs to, without its scope; else the folder's own. */
function toProjectName(folder: string): string {
  for (let at = folder, below = ''; at !== below; below = at, at = dirname(at)) {
    const { name } = Object(parse(readText(join(at, 'package.json')))) as { readonly name?: unknown };
    if (typeof name === 'string' && name !== '') return name.replace(/^@[^/]*\//, '');
  }
  return basename(folder) || 'server';
}

/** The entry of that name in a configuration. */
function findEntry(text: string, [member, name]: readonly [string, string]): unknown {
  const root: unknown = parse(text, [], { allowTrailingComma: true });
  const entries = isJsonObject(root) ? root[member] : undefined;
  return isJsonObject(entries) && Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/** Whether two entries are for the same program or URL. */
function startsSame(...entries: readonly [unknown, unknown]): boolean {
  const [one, other] = entries.map((entry) => {
    const { command, args, url } = Object(entry) as Readonly<Record<string, unknown>>;
    return [command, args, url];
  });
  return isDeepStrictEqual(one, other);
}

function toEntry(server: string, host: Host, options: InstallOptions, cwd: string): object {
  const target = parseTarget(server, options, cwd);
  if (target.type !== 'stdio') {
    if (target.type === 'websocket') throw new CliError('Hosts connect to no WebSocket: install a URL with http or https');
    if (host === 'claude-desktop')
      throw new CliError('Claude Desktop starts programs only: add a server with a URL in its settings, under Connectors');
    return host === 'cursor' ? { url: server } : { type: 'http', url: server };
  }
  const script = findScript(server, cwd);
  // Where this package is installed, its own path starts in any folder, with any PATH and without a network. A cache of npx may go.
  const isOfNpx = /[/\\]_npx[/\\]/.test(ownFile(''));
  const words = script === undefined || !isOfNpx ? [target.command, ...(target.args ?? [])] : ['npx', '-y', '@mortise/cli', 'run', script];
  const [command, ...args] = words.map((word) => toAbsolute(word, cwd));
  return { ...(host === 'vscode' ? { type: 'stdio' } : {}), command, args, ...(options.env && { env: target.env }) };
}

/** A word that looks like a path, and is one in this folder, as an absolute path. */
function toAbsolute(word: string, cwd: string): string {
  const path = resolve(cwd, word);
  return /[./\\]/.test(word) && existsSync(path) ? path : word;
}

function addEntry(text: string, path: readonly [string, string], entry: object, file: string): string {
  const errors: ParseError[] = [];
  parse(text.trim() === '' ? '{}' : text, errors, { allowTrailingComma: true });
  const [fault] = errors;
  if (fault) {
    const line = text.slice(0, fault.offset).split('\n').length;
    throw new CliError(`${clean(file)}, line ${line}: ${printParseErrorCode(fault.error)}; correct the file first, nothing was written`);
  }
  const start = text.trim() === '' ? '{}' : text;
  try {
    const edits = modify(start, [...path], entry, {});
    const edited = edits.reduce((before, edit) => formatEdit(applyEdits(before, [edit]), edit), start);
    return edited.endsWith('\n') ? edited : `${edited}\n`;
  } catch {
    const root: unknown = parse(start);
    const [what, value] = isJsonObject(root) ? [`"${path[0]}"`, root[path[0]]] : ['the file', root];
    const found = clean(JSON.stringify(value).slice(0, 40));
    throw new CliError(`${clean(file)}: ${what} is ${found}, not an object; correct the file first, nothing was written`);
  }
}

/** Formats what an edit has written, and nothing else. */
function formatEdit(text: string, { offset, content }: Edit): string {
  const [, indentation = '  '] = /^([ \t]+)\S/m.exec(text) ?? [];
  const insertSpaces = !indentation.startsWith('\t');
  const options = { insertSpaces, tabSize: insertSpaces ? indentation.length : 1, eol: text.includes('\r\n') ? '\r\n' : '\n' };
  // With the character before and behind it, for the line breaks between.
  return applyEdits(text, format(text, { offset: offset - 1, length: content.length + 2 }, options));
}

/** Writes beside the file and renames, so that a host never reads half of it. A link, as people keep for such files, stays a link. */
function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const isThere = existsSync(file);
  const target = isThere ? realpathSync(file) : file;
  const beside = `${target}.${process.pid}.tmp`;
  writeFileSync(beside, text, { mode: isThere ? statSync(target).mode : 0o600 });
  renameSync(beside, target);
}
