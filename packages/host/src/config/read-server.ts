/** Makes the transport of one entry of a configuration: a program on stdio, or a URL of HTTP, HTTP with SSE, or WebSocket. */

import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { httpTransport, SSEClientTransport } from '@mortise/transport-http/client';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import type { Node } from 'jsonc-parser';
import type { HostServer } from '../host-options.ts';
import type { JsonTree, Leaf } from './json-tree.ts';
import type { ConfigOptions } from './read-config.ts';
import type { Variables } from './variables.ts';

export interface ConfigParts {
  readonly tree: JsonTree;
  readonly variables: Variables;
  readonly options: ConfigOptions;
}

const KINDS = {
  type: 'string',
  command: 'string',
  args: 'strings',
  env: 'map',
  envFile: 'string',
  cwd: 'string',
  url: 'string',
  serverUrl: 'string',
  headers: 'map',
  disabled: 'boolean',
} as const;

type Entry = { readonly [K in keyof typeof KINDS]?: ReturnType<typeof JsonTree.prototype.read<(typeof KINDS)[K]>> };

/** The names that hosts use for each kind of transport. */
const TYPES: ReadonlyMap<string, 'stdio' | 'http' | 'sse' | 'ws'> = new Map([
  ['stdio', 'stdio'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamableHttp', 'http'],
  ['sse', 'sse'],
  ['ws', 'ws'],
  ['websocket', 'ws'],
]);

/** @returns Undefined if the server is switched off, or has a mistake, which is then reported. */
export async function readServer(name: string, node: Node, parts: ConfigParts): Promise<Pick<HostServer, 'transport'> | undefined> {
  const { tree } = parts;
  if (node.type !== 'object') {
    tree.report('error', node, 'must be an object with "command" or "url"');
    return undefined;
  }
  const members = tree.members(node);
  const problemsBefore = countErrors(tree);
  const entry = Object.fromEntries(Object.entries(KINDS).map(([key, kind]) => [key, tree.read(members.get(key), kind)])) as Entry;
  for (const [key, value] of members)
    if (!Object.hasOwn(KINDS, key))
      tree.report('warning', value, `is not known here and has no effect (known: ${Object.keys(KINDS).join(', ')})`);
  if (countErrors(tree) > problemsBefore || entry.disabled === true) return undefined;
  const kind = kindOf(entry, members, node, tree);
  if (kind === undefined) return undefined;
  try {
    const transport = await (kind === 'stdio' ? toProgram(name, entry, members, parts) : toRemote(name, kind, entry, members, parts));
    return transport && { transport };
  } catch (error) {
    // The transport's own check of its options.
    tree.report('error', node, `cannot be used: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function countErrors({ problems }: JsonTree): number {
  return problems.filter(({ severity }) => severity === 'error').length;
}

function kindOf(entry: Entry, members: ReadonlyMap<string, Node>, node: Node, tree: JsonTree): 'stdio' | 'http' | 'sse' | 'ws' | undefined {
  const { type, command } = entry;
  const url = entry.url ?? entry.serverUrl;
  const kind = type === undefined ? guessKind(command, url) : TYPES.get(type);
  if (type !== undefined && kind === undefined)
    tree.report('error', members.get('type') ?? node, `is not a kind of transport: use one of ${[...TYPES.keys()].join(', ')}`);
  else if (kind === undefined) tree.report('error', node, 'needs "command" (a program) or "url"');
  else if (kind === 'stdio' && command === undefined) tree.report('error', node, 'needs "command", the program to start');
  else if (kind !== 'stdio' && url === undefined) tree.report('error', node, 'needs "url"');
  else if (command !== undefined && url !== undefined) tree.report('error', node, 'has both "command" and "url": remove one');
  else return kind;
  return undefined;
}

function guessKind(command: string | undefined, url: string | undefined): 'stdio' | 'http' | 'ws' | undefined {
  if (command !== undefined) return 'stdio';
  return url === undefined ? undefined : /^wss?:/iu.test(url) ? 'ws' : 'http';
}

async function toProgram(
  name: string,
  entry: Entry,
  members: ReadonlyMap<string, Node>,
  { variables, options, tree }: ConfigParts,
): Promise<HostServer['transport'] | undefined> {
  const { onStderr } = options;
  const command = await expandMember('command', members, variables);
  const args = await variables.expandAll(entry.args ?? []);
  const own = await variables.expandMap(entry.env);
  const cwd = entry.cwd === undefined ? undefined : await expandMember('cwd', members, variables);
  const path = entry.envFile === undefined ? undefined : await expandMember('envFile', members, variables);
  const isBroken = (entry.cwd !== undefined && cwd === undefined) || (entry.envFile !== undefined && path === undefined);
  if (command === undefined || !args || !own || isBroken) return undefined;
  const fromFile = path === undefined ? {} : await readEnvFile(path, members.get('envFile'), tree);
  if (!fromFile) return undefined;
  const stderr = onStderr ? (line: string): void => void onStderr(name, line) : undefined;
  return stdioTransport({ command, args, env: { ...fromFile, ...own }, cwd, stderr });
}

async function readEnvFile(path: string, node: Node | undefined, tree: JsonTree): Promise<NodeJS.Dict<string> | undefined> {
  try {
    return parseEnv(await readFile(path, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (node) tree.report('error', node, `names a file that cannot be read (${code ?? 'unknown error'})`);
    return undefined;
  }
}

async function toRemote(
  name: string,
  kind: 'http' | 'sse' | 'ws',
  entry: Entry,
  members: ReadonlyMap<string, Node>,
  { variables, options, tree }: ConfigParts,
): Promise<HostServer['transport'] | undefined> {
  const key = entry.url === undefined ? 'serverUrl' : 'url';
  const url = await expandMember(key, members, variables);
  const headers = await variables.expandMap(entry.headers);
  if (url === undefined || !headers) return undefined;
  const schemes = kind === 'ws' ? /^wss?:\/\//iu : /^https?:\/\//iu;
  const node = members.get(key);
  if (!schemes.test(url) || !URL.canParse(url)) {
    if (node) tree.report('error', node, `must be a URL that begins with ${kind === 'ws' ? 'wss:// or ws://' : 'https:// or http://'}`);
    return undefined;
  }
  const authorizer = options.authorizer?.(name, url);
  if (kind === 'ws') return webSocketTransport(url, { headers, authorizer });
  return kind === 'sse' ? new SSEClientTransport(url, { headers, authorizer }) : httpTransport(url, { headers, authorizer });
}

function expandMember(key: keyof Entry, members: ReadonlyMap<string, Node>, variables: Variables): Promise<string | undefined> {
  const node = members.get(key);
  const leaf: Leaf | undefined = node && { value: String(node.value), node };
  return leaf ? variables.expand(leaf) : Promise.resolve(undefined);
}
