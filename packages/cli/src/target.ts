/** What a command is about: a server by its URL, a program that is started, or a file. */

import { existsSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { nodeOAuth } from '@mortise/auth-oauth/node';
import type { ServerTarget } from '@mortise/inspector';
import type { TransportFactory } from '@mortise/jsonrpc-core/transport';
import { httpTransport, SSEClientTransport } from '@mortise/transport-http/client';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import stringArgv from 'string-argv';
import { CliError } from './errors.ts';
import { ownFile } from './own-file.ts';
import { clean, type Terminal } from './terminal.ts';

export interface TargetOptions {
  /** `Name: value` each. */
  readonly header?: readonly string[];
  /** `NAME=value` each. */
  readonly env?: readonly string[];
  readonly sse?: boolean;
}

const SCRIPTS: ReadonlySet<string> = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts']);

/**
 * Finds out what a command line names: a URL, a command in quotes, or a file that `mortise run` takes.
 *
 * @throws {CliError} It is empty, an option does not fit it, or a header or variable is malformed.
 */
export function parseTarget(server: string, options: TargetOptions, cwd: string): ServerTarget {
  const scheme = /^(https?|wss?):\/\//i.exec(server)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    if (options.header) throw new CliError('--header is for a server with a URL: set --env NAME=value for a server that is started');
    if (options.sse === true) throw new CliError('--sse is for a server with a URL');
    const [command, ...args] = toCommand(server, cwd);
    if (command === undefined) throw new CliError('The server is empty: give a URL, a command in quotes, or a file');
    return { type: 'stdio', name: server, command, args, env: toVariables(options), cwd };
  }
  if (!URL.canParse(server)) throw new CliError(`"${clean(server)}" is not a valid URL`);
  if (options.env) throw new CliError('--env is for a server that is started: a server with a URL has its own environment');
  const type = scheme.startsWith('ws') ? 'websocket' : options.sse === true ? 'sse' : 'http';
  return { type, url: server, headers: toHeaders(options) };
}

/** Makes transports to what a command line names. @throws {CliError} As `parseTarget`. */
export function toTransport(server: string, options: TargetOptions, terminal: Terminal): TransportFactory {
  const target = parseTarget(server, options, terminal.io.cwd);
  if (target.type === 'stdio') {
    const { command, args, env, cwd } = target;
    const stderr = (line: string): void => {
      if (terminal.isVerbose) terminal.note(terminal.styleNote('dim', clean(line)));
    };
    return stdioTransport({ command, args, env, cwd, stderr });
  }
  const { type, url, headers = {} } = target;
  if (type === 'websocket') return webSocketTransport(url, { headers });
  if (type === 'sse') return () => new SSEClientTransport(url, { headers });
  const isSigned = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  // A sign-in opens a browser, so it needs a person.
  return httpTransport(url, { headers, ...(isSigned || !terminal.isInteractive ? {} : { authorizer: nodeOAuth(url) }) });
}

/** The headers of `--header`. @throws {CliError} One is malformed. */
const toHeaders = ({ header = [] }: TargetOptions): Record<string, string> =>
  Object.fromEntries(header.map((text) => split(text, ':', '--header "Authorization: Bearer ..."')));

/** The variables of `--env`. @throws {CliError} One is malformed. */
export const toVariables = ({ env = [] }: TargetOptions): Record<string, string> =>
  Object.fromEntries(env.map((text) => split(text, '=', '--env API_KEY=abc')));

/** The words of a command; a script is run by `mortise run`, which also takes TypeScript and modules that only export a server. */
function toCommand(server: string, cwd: string): readonly string[] {
  const file = findScript(server, cwd);
  return file === undefined ? stringArgv(server) : [process.execPath, ownFile('bin/mortise.js'), 'run', file];
}

/** The path of the file that a command line names; undefined for a command or a URL. */
export function findScript(server: string, cwd: string): string | undefined {
  const file = resolve(cwd, server);
  return SCRIPTS.has(extname(server)) && existsSync(file) ? file : undefined;
}

function split(text: string, separator: string, example: string): [string, string] {
  const at = text.indexOf(separator);
  if (at < 1) throw new CliError(`"${clean(text)}" has no "${separator}": write ${example}`);
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}
