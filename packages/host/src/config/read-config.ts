/** Reads a configuration file and makes a transport for each of its servers. A mistake costs the server that it is in, and no other. */

import { readFile } from 'node:fs/promises';
import { checkOptions, type OptionTable } from '@mortise/jsonrpc-core/transport';
import type { Authorizer } from '@mortise/protocol/contracts';
import type { Node } from 'jsonc-parser';
import type { HostServer } from '../host-options.ts';
import { type ConfigProblem, JsonTree } from './json-tree.ts';
import { readServer } from './read-server.ts';
import { type ConfigInput, Variables, type VariableSources } from './variables.ts';

/** The options of reading a configuration. */
export interface ConfigOptions {
  /** The environment for `${env:NAME}`, `${NAME}` and `${NAME:-default}`: usually `process.env`. @default empty */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Asks the user for an entry of `inputs`. Called once for each entry that a server uses. Undefined as the answer takes the entry's default.
   *
   * @default none: each takes its default
   */
  readonly input?: ((input: ConfigInput) => string | undefined | Promise<string | undefined>) | undefined;
  /** Values of further names, such as `{ workspaceFolder, userHome }` for `${workspaceFolder}`. @default none */
  readonly names?: Readonly<Record<string, string>> | undefined;
  /** Makes the authorization of a server that is reached by URL, such as `oauth(url, { signIn })`. @default none */
  readonly authorizer?: ((server: string, url: string) => Authorizer | undefined) | undefined;
  /** Called with each line that a server process writes to stderr. @default they go to this program's stderr */
  readonly onStderr?: ((server: string, line: string) => unknown) | undefined;
}

/** The servers of a configuration file, for `createHost` or `createGateway`, and the mistakes in the file. */
export interface LoadedConfig {
  /** For the option `servers` of `createHost` or `createGateway`. */
  readonly servers: Readonly<Record<string, Pick<HostServer, 'transport'>>>;
  /** The mistakes in the file. They affect only the servers that have them. */
  readonly problems: readonly ConfigProblem[];
}

const CONFIG_OPTIONS: OptionTable<ConfigOptions> = {
  env: 'object',
  input: 'function',
  names: 'object',
  authorizer: 'function',
  onStderr: 'function',
};

/**
 * Reads a configuration file: `mcp.json`, `claude_desktop_config.json`, `.vscode/mcp.json`, or one in their form.
 *
 * @throws {Error} The file cannot be read. Mistakes in it are in `problems`.
 */
export async function readConfigFile(path: string, options: ConfigOptions = {}): Promise<LoadedConfig> {
  return parseConfig(await readFile(path, 'utf8'), path, options);
}

/**
 * Reads the text of a configuration file.
 *
 * @param file The name of the file in `problems`.
 * @throws {TypeError} An option is unknown or wrong.
 */
export async function parseConfig(text: string, file: string, options: ConfigOptions = {}): Promise<LoadedConfig> {
  checkOptions('configuration options', options, CONFIG_OPTIONS);
  const tree = new JsonTree(text, file);
  const sources: VariableSources = { env: options.env ?? {}, names: options.names ?? {}, input: options.input };
  const variables = new Variables(tree, sources);
  const servers: [string, Pick<HostServer, 'transport'>][] = [];
  for (const [name, entry] of findEntries(tree)) {
    const server = await readServer(name, entry, { tree, variables, options });
    if (server) servers.push([name, server]);
  }
  return { servers: Object.fromEntries(servers), problems: tree.problems };
}

/** Finds the entry of each server by its name. */
function findEntries(tree: JsonTree): ReadonlyMap<string, Node> {
  const entries = new Map<string, Node>();
  const lists = ['mcpServers', 'servers'].flatMap((key) => tree.find([key]) ?? []);
  for (const list of lists) {
    if (list.type !== 'object') tree.report('error', list, 'must be an object with an entry for each server');
    else
      for (const [name, entry] of tree.members(list)) {
        const earlier = entries.get(name);
        if (earlier) tree.report('warning', earlier, 'has no effect: "servers" has a server of the same name');
        entries.set(name, entry);
      }
  }
  if (tree.root && lists.length === 0) tree.report('error', tree.root, 'has no servers: it needs "mcpServers" or "servers"');
  return entries;
}
