/**
 * `codemod v2`: imports of the official SDK v2 onto Mortise. Names that mean the same here move; others stay and are listed.
 */

import { findObstacles, type NativeName, type NativeNames, type Staying } from './find-obstacles.ts';
import type { Mapping } from './mapping.ts';

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

/** What stands here in the place of a name of the official SDK v2, if another name or another way. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  serveStdio: 'serveStdio(server) of @mortise/transport-stdio/server takes a server, not a function that makes one',
  createMcpHandler: 'createHttpHandler(server) of @mortise/transport-http/server, with .fetch and .node',
  toNodeHandler: '.node of what createHttpHandler returns',
  createMcpExpressApp: 'express() and mountOnExpress(app, server) of @mortise/transport-http/express',
  createMcpHonoApp: 'new Hono() and mountOnHono(app, server) of @mortise/transport-http/hono',
  createMcpFastifyApp: 'fastify() and fastifyMcp of @mortise/transport-http/fastify',
  requireBearerAuth: 'the option tokenVerifier of serveHttp and the mounts',
  mcpAuthMetadataRouter: 'the option resourceMetadata of serveHttp and the mounts',
  OAuthTokenVerifier: 'TokenVerifier of @mortise/protocol/contracts',
  Server: 'Server of @mortise/server/low-level, whose methods differ',
  ProtocolError:
    'ProtocolError of @mortise/jsonrpc-core (to throw; in a tool ToolError of @mortise/server), RemoteError (to catch, its number is rpcCode)',
  ProtocolErrorCode: 'ErrorCode of @mortise/jsonrpc-core',
  SdkError: 'MortiseError of @mortise/jsonrpc-core, with a string as code',
  SdkErrorCode: 'the codes of MortiseError',
  UnauthorizedError: 'SignInPendingError of @mortise/auth-oauth',
  inputRequired: 'inputRequired of @mortise/server takes other arguments, or simply await ctx.elicit(...)',
  acceptedContent: 'what ctx.elicit resolves to',
  inputResponse: 'what ctx.elicit resolves to',
  createRequestStateCodec: 'not needed: the option stateKeys of the server',
  EventStore: 'EventStore of @mortise/protocol/contracts, with append, replay and delete',
  ServerEventBus: 'MessageBus of @mortise/protocol/contracts',
  InMemoryServerEventBus: 'MemoryMessageBus of @mortise/protocol',
  fromJsonSchema: 'not needed: plain JSON Schema is a schema here',
  CallToolResult: 'the type CallToolResult of @mortise/protocol, whose members are readonly',
  OAuthClientProvider: 'oauth(url, options) of @mortise/auth-oauth/client as the option authorizer',
  AuthInfo: 'AuthInfo of @mortise/protocol/contracts, with other members',
  Transport: 'Transport of @mortise/jsonrpc-core',
  isLegacyRequest: 'not needed: one handler serves both eras',
  legacyStatelessFallback: 'the option sessions: false',
  SSEServerTransport: 'the option sse: true of serveHttp and the mounts',
  StreamableHTTPServerTransport: 'StreamableHTTPServerTransport of @mortise/transport-http/server',
};

/** The names of v2 whose place here is certain. The name alone decides: no two packages of v2 use one name with two meanings. */
export const namesV2: NativeNames = {
  find: (_specifier, name) => (Object.hasOwn(NAMES, name) ? NAMES[name] : undefined),
  groupsOf: () => Object.values(NAMES).map(({ group }) => group),
};

/** The mapping for a folder, given the groups that must stay, and whether a file takes a server. */
export function mapV2(staying: Staying, hasServer: boolean): Mapping {
  return {
    packages: PACKAGES,
    owns: (text) => OFFICIAL.test(text),
    moveModule: (specifier) => ({ left: `"${specifier}" is imported as a whole: import the names that you use, then run this again` }),
    moveName: (specifier, name) => {
      const found = namesV2.find(specifier, name);
      if (found === undefined) return { left: `"${name}" of ${specifier}: ${DIFFERENCES[name] ?? 'see the guide'}` };
      const why = staying.get(found.group);
      if (why !== undefined) return { stays: `on ${specifier}: ${why}` };
      return { to: found.to, name: found.name };
    },
    find: (module) => findObstacles(module, namesV2, hasServer),
  };
}
