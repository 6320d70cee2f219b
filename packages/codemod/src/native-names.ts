/** Names of SDK v1 whose own place here is sure. A name moves with its group: all files keep using objects of one kind. */

import { toV1Path } from './v1-paths.ts';

/** What moves together. `free` names move always: they are the same with every server and client. */
export type Group = 'server' | 'client' | 'http-server' | 'http-client' | 'stdio-client' | 'free';

export interface NativeName {
  readonly to: string;
  readonly name?: string;
  readonly group: Group;
}

const HTTP_SERVER = '@mortise/transport-http/server';
const HTTP_CLIENT = '@mortise/transport-http/client';

const NAMES: Readonly<Record<string, Readonly<Record<string, NativeName>>>> = {
  'server/mcp': {
    McpServer: { to: '@mortise/server', group: 'server' },
    ResourceTemplate: { to: '@mortise/server', group: 'server' },
  },
  'server/completable': { completable: { to: '@mortise/server', group: 'server' } },
  'server/stdio': { StdioServerTransport: { to: '@mortise/transport-stdio/server', group: 'free' } },
  'server/streamableHttp': { StreamableHTTPServerTransport: { to: HTTP_SERVER, group: 'http-server' } },
  'client/index': { Client: { to: '@mortise/client', name: 'McpClient', group: 'client' } },
  client: { Client: { to: '@mortise/client', name: 'McpClient', group: 'client' } },
  'client/stdio': { StdioClientTransport: { to: '@mortise/transport-stdio/client', group: 'stdio-client' } },
  'client/streamableHttp': { StreamableHTTPClientTransport: { to: HTTP_CLIENT, group: 'http-client' } },
  'client/sse': { SSEClientTransport: { to: HTTP_CLIENT, group: 'http-client' } },
  inMemory: { InMemoryTransport: { to: '@mortise/jsonrpc-core', group: 'free' } },
  types: { isInitializeRequest: { to: '@mortise/protocol', group: 'free' } },
};

/** The own place of a name of v1; undefined if it has none that is sure. */
export function findNativeName(specifier: string, name: string): NativeName | undefined {
  return NAMES[toV1Path(specifier)]?.[name];
}
