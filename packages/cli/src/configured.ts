/** Servers of a configuration file, such as `mcp.json` of a desktop host. */

import { basename, resolve } from 'node:path';
import { nodeOAuth } from '@mortise/auth-oauth/node';
import type { HostServer } from '@mortise/host';
import { type ConfigInput, readConfigFile } from '@mortise/host/config';
import { CliError } from './errors.ts';
import { clean, type Terminal } from './terminal.ts';

/**
 * Reads all servers of a file. Mistakes in the file are printed; they cost only the servers that they are in.
 *
 * @throws {CliError} The file cannot be read.
 */
export async function readServers(path: string, terminal: Terminal): Promise<Readonly<Record<string, HostServer>>> {
  const { cwd, env } = terminal.io;
  try {
    const { servers, problems } = await readConfigFile(resolve(cwd, path), {
      env,
      names: { workspaceFolder: cwd, workspaceFolderBasename: basename(cwd), userHome: env['HOME'] ?? env['USERPROFILE'] ?? '' },
      input: (input) => ask(input, terminal),
      // A sign-in opens a browser, so it needs a person.
      authorizer: (_server, url) => (terminal.isInteractive ? nodeOAuth(url) : undefined),
      onStderr: (server, line) => {
        if (terminal.isVerbose) terminal.note(terminal.styleNote('dim', clean(`${server}: ${line}`)));
      },
    });
    for (const { severity, file, line, key, message } of problems)
      terminal.note(`${terminal.styleNote('yellow', severity)}: ${clean(`${file}:${line}: ${key} ${message}`)}`);
    return servers;
  } catch (error) {
    throw new CliError(`${clean(path)} cannot be read`, undefined, { cause: error });
  }
}

const ask = ({ id, description }: ConfigInput, terminal: Terminal): Promise<string | undefined> =>
  terminal.ask(`${clean(description ?? id)}: `);

/** Finds one server of a file. @throws {CliError} The file has none of that name. */
export async function findServer(name: string, path: string, terminal: Terminal): Promise<HostServer> {
  const servers = await readServers(path, terminal);
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (server) return server;
  throw new CliError(`${clean(path)} has no usable server "${clean(name)}": it has ${clean(Object.keys(servers).join(', ')) || 'none'}`);
}
