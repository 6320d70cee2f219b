/** What a command is about: a server by its URL, a program that is started, or a file. */

import { existsSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { nodeOAuth } from '@mortise/auth-oauth/node';
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
 * Finds out what `target` names.
 *
 * @returns A factory of transports to it.
 *
 * @throws {CliError} The target is empty, an option does not fit it, or a header or variable is malformed.
 */
export function toTransport(target: string, options: TargetOptions, terminal: Terminal): TransportFactory {
  const protocol = /^(https?|wss?):\/\//i.exec(target)?.[1]?.toLowerCase();
  if (protocol === undefined) return startProgram(target, options, terminal);
  if (options.env) throw new CliError('--env is for a server that is started: a server with a URL has its own environment');
  const headers = toHeaders(options);
  if (protocol.startsWith('ws')) return webSocketTransport(target, { headers });
  if (options.sse === true) return () => new SSEClientTransport(target, { headers });
  const isSigned = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  // A sign-in opens a browser, so it needs a person.
  return httpTransport(target, { headers, ...(isSigned || !terminal.isInteractive ? {} : { authorizer: nodeOAuth(target) }) });
}

function startProgram(target: string, options: TargetOptions, terminal: Terminal): TransportFactory {
  if (options.header) throw new CliError('--header is for a server with a URL: set --env NAME=value for a server that is started');
  if (options.sse === true) throw new CliError('--sse is for a server with a URL');
  const [command, ...args] = toCommand(target, terminal.io.cwd);
  if (command === undefined) throw new CliError('The server is empty: give a URL, a command in quotes, or a file');
  const env = toVariables(options);
  const stderr = (line: string): void => {
    if (terminal.isVerbose) terminal.note(terminal.styleNote('dim', clean(line)));
  };
  return stdioTransport({ command, args, env, cwd: terminal.io.cwd, stderr });
}

/** The headers of `--header`. @throws {CliError} One is malformed. */
export const toHeaders = ({ header = [] }: TargetOptions): Record<string, string> =>
  Object.fromEntries(header.map((text) => split(text, ':', '--header "Authorization: Bearer ..."')));

/** The variables of `--env`. @throws {CliError} One is malformed. */
export const toVariables = ({ env = [] }: TargetOptions): Record<string, string> =>
  Object.fromEntries(env.map((text) => split(text, '=', '--env API_KEY=abc')));

/** The command that a target stands for: a script is run by `mortise run`, which also takes TypeScript and modules that only export a server. */
export function toCommand(target: string, cwd: string): readonly string[] {
  const file = resolve(cwd, target);
  if (SCRIPTS.has(extname(target)) && existsSync(file)) return [process.execPath, ownFile('bin/mortise.js'), 'run', file];
  return stringArgv(target);
}

function split(text: string, separator: string, example: string): [string, string] {
  const at = text.indexOf(separator);
  if (at < 1) throw new CliError(`"${clean(text)}" has no "${separator}": write ${example}`);
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}
