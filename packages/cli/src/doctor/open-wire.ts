/** `openWire`: how `doctor` connects to what the command line names. */

import { CliError } from '../errors.ts';
import { toCommand, toHeaders, toVariables, type TargetOptions } from '../target.ts';
import type { Terminal } from '../terminal.ts';
import { openProgram, openSocket } from './channel-wires.ts';
import { HttpWire } from './http-wire.ts';
import type { OpenWire } from './wire.ts';

/** How long an answer may take, in seconds: `npx` may have to install the server first. */
const TIMEOUT_SECONDS = 20;

/** @throws {CliError} The server is empty, or an option is malformed. */
export function openWire(server: string, options: TargetOptions & { readonly timeout?: number }, terminal: Terminal): OpenWire {
  const timeoutMs = (options.timeout ?? TIMEOUT_SECONDS) * 1000;
  const headers = toHeaders(options);
  if (/^https?:\/\//i.test(server)) return () => Promise.resolve(new HttpWire(server, headers, timeoutMs));
  if (/^wss?:\/\//i.test(server)) return () => openSocket(server, headers, timeoutMs);
  const [command, ...args] = toCommand(server, terminal.io.cwd);
  if (command === undefined) throw new CliError('The server is empty: give a URL, a command in quotes, or a file');
  return () => openProgram([command, ...args], { env: toVariables(options), cwd: terminal.io.cwd, timeoutMs });
}
