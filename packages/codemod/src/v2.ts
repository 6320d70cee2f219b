/**
 * `mortise-codemod v2`: imports of the official SDK v2 onto Mortise. Names that mean the same here move; others stay and are listed.
 */

import { findObstacles } from './find-obstacles.ts';
import type { Mapping } from './mapping.ts';
import type { Group, NativeName } from './native-names.ts';
import { differencesV2 } from './v2-differences.ts';

const OFFICIAL = /@modelcontextprotocol\/(?:server|client|node|express|hono|fastify|core|server-legacy)(?![\w-])/;
const PACKAGES = ['server', 'client', 'node', 'express', 'hono', 'fastify', 'core', 'server-legacy'].map(
  (name) => `@modelcontextprotocol/${name}`,
);

const SERVER = '@mortise/server';
const HTTP_CLIENT = '@mortise/transport-http/client';

const NAMES: Readonly<Record<string, NativeName>> = {
  McpServer: { to: SERVER, group: 'server' },
  ResourceTemplate: { to: SERVER, group: 'server' },
  completable: { to: SERVER, group: 'server' },
  StdioServerTransport: { to: '@mortise/transport-stdio/server', group: 'free' },
  NodeStreamableHTTPServerTransport: { to: '@mortise/transport-http/server', name: 'StreamableHTTPServerTransport', group: 'http-server' },
  Client: { to: '@mortise/client', name: 'McpClient', group: 'client' },
  StdioClientTransport: { to: '@mortise/transport-stdio/client', group: 'stdio-client' },
  StreamableHTTPClientTransport: { to: HTTP_CLIENT, group: 'http-client' },
  SSEClientTransport: { to: HTTP_CLIENT, group: 'http-client' },
  InMemoryTransport: { to: '@mortise/jsonrpc-core', group: 'free' },
  isInitializeRequest: { to: '@mortise/protocol', group: 'free' },
};

/** The place of a v2 name here; undefined if it has none that is sure. */
export function findV2Name(_specifier: string, name: string): NativeName | undefined {
  return Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
}

/** The mapping for a folder, given the groups that must stay. */
export function mapV2(staying: ReadonlySet<Group>): Mapping {
  return {
    packages: PACKAGES,
    owns: (text) => OFFICIAL.test(text),
    moveModule: (specifier) => ({ left: `"${specifier}" is imported as a whole: import the names that you use, then run this again` }),
    moveName: (specifier, name) => {
      const found = findV2Name(specifier, name);
      if (found === undefined) return { left: `"${name}" of ${specifier}: ${differencesV2[name] ?? 'see the guide'}` };
      if (staying.has(found.group)) return { left: `"${name}" of ${specifier} stays, because of the uses that are listed` };
      return { to: found.to, name: found.name };
    },
    find: (module) => findObstacles(module, findV2Name).map(({ line, what }) => ({ line, what })),
  };
}
