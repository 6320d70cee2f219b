/**
 * `codemod v1`: every import of SDK v1 onto the same path of `@mortise/compat-v1`. With `--native`, onto Mortise's own API where that is
 * sure: a group of names moves if no file of the folder uses a member, option or argument of it that differs here.
 */

import { asWhole, findObstacles, type NativeName, type NativeNames, type Staying, type Taken } from './find-obstacles.ts';
import type { Finding, Mapping, Move } from './mapping.ts';
import { lineOf, type ParsedModule, walk } from './module-references.ts';

export const V1_PACKAGE = '@modelcontextprotocol/sdk';
export const COMPAT_PACKAGE = '@mortise/compat-v1';
const OFFICIAL = /@modelcontextprotocol\/sdk(?![\w-])/;
/** With `--native`, what is on compat already moves on. */
const OFFICIAL_OR_COMPAT = /(?:@modelcontextprotocol\/sdk|@mortise\/compat-v1)(?![\w-])/;

/** The import paths of SDK v1 that compat has too. A test compares the list with its `exports`. */
export const V1_PATHS: ReadonlySet<string> = new Set([
  'client',
  'client/auth',
  'client/auth-extensions',
  'client/index',
  'client/middleware',
  'client/sse',
  'client/stdio',
  'client/streamableHttp',
  'client/websocket',
  'experimental',
  'experimental/index',
  'experimental/tasks',
  'experimental/tasks/client',
  'experimental/tasks/helpers',
  'experimental/tasks/index',
  'experimental/tasks/interfaces',
  'experimental/tasks/mcp-server',
  'experimental/tasks/server',
  'experimental/tasks/stores/in-memory',
  'inMemory',
  'server',
  'server/auth/clients',
  'server/auth/errors',
  'server/auth/handlers/authorize',
  'server/auth/handlers/metadata',
  'server/auth/handlers/register',
  'server/auth/handlers/revoke',
  'server/auth/handlers/token',
  'server/auth/middleware/allowedMethods',
  'server/auth/middleware/bearerAuth',
  'server/auth/middleware/clientAuth',
  'server/auth/provider',
  'server/auth/providers/proxyProvider',
  'server/auth/router',
  'server/auth/types',
  'server/completable',
  'server/express',
  'server/index',
  'server/mcp',
  'server/middleware/hostHeaderValidation',
  'server/sse',
  'server/stdio',
  'server/streamableHttp',
  'server/webStandardStreamableHttp',
  'server/zod-compat',
  'server/zod-json-schema-compat',
  'shared/auth',
  'shared/auth-utils',
  'shared/metadataUtils',
  'shared/protocol',
  'shared/responseMessage',
  'shared/stdio',
  'shared/toolNameValidation',
  'shared/transport',
  'shared/uriTemplate',
  'types',
  'validation',
  'validation/ajv',
  'validation/ajv-provider',
  'validation/cfworker',
  'validation/cfworker-provider',
  'validation/index',
  'validation/types',
]);

/** Moves modules as a whole: compat has every name of an entry that it has. */
export const compatV1: Mapping = {
  packages: [V1_PACKAGE],
  owns: (text) => OFFICIAL.test(text),
  moveModule: toMove,
  moveName: toMove,
  find: findUnused,
};

function toMove(specifier: string, name = ''): Move {
  const to = toCompat(specifier);
  if (to === undefined) return { left: `"${specifier}" is no entry of @mortise/compat-v1: see the guide for what stands in its place` };
  const why = Object.hasOwn(ABSENT, name) && toV1Path(specifier) !== 'types' ? ABSENT[name] : undefined;
  return why === undefined ? { to } : { left: `"${name}" is not in @mortise/compat-v1: ${why}` };
}

/** Names of v1 that compat lacks. The table of all exports is made of them, too. */
export const ABSENT: Readonly<Record<string, string>> = {
  isWithinOrigin: 'internal to v1',
  followWithinOrigin: 'internal to v1',
  fetchLeavingRedirects: 'internal to v1',
  fetchWithinOrigin: 'internal to v1',
  unfollowedRedirect: 'internal to v1',
  StartSSEOptions: 'options of `resumeStream`, which is not here: broken streams are resumed by themselves',
  BaseToolCallback: 'internal to v1: `ToolCallback` of `/server/mcp` is the type of a handler',
  ClientTasksCapabilitySchema: 'at `/types`, where v1 has it too',
  ServerTasksCapabilitySchema: 'at `/types`, where v1 has it too',
  CompletableDef: 'internal to v1',
  McpZodTypeKind: 'internal to v1',
  ZodV3Internal: 'internal to v1',
  ZodV4Internal: 'internal to v1',
};

const RESUMPTIONS = new Set(['resumptionToken', 'onresumptiontoken', 'resumeStream']);
/** Private members of v1 that programs replace or read. */
const PRIVATE = new Set([
  ...['validateToolInput', 'validateToolOutput', 'executeToolHandler', 'createToolError', '_requestHandlers', '_notificationHandlers'],
  ...['_capabilities', '_serverCapabilities', '_clientCapabilities'],
]);

/** Finds what compat has no use for, and what a program may rely on. */
function findUnused(module: ParsedModule): readonly Finding[] {
  const found: Finding[] = [];
  walk(module.file.program, (node, parents) => {
    if (node.type !== 'Identifier' || !(RESUMPTIONS.has(node.name) || PRIVATE.has(node.name))) return;
    const parent = parents.at(-1);
    const isMember = parent?.type === 'MemberExpression' && parent.property === node;
    const isKey = parent?.type === 'ObjectProperty' && parent.key === node;
    const what = PRIVATE.has(node.name)
      ? `"${node.name}" is a private member of v1, which is not here`
      : `"${node.name}" has no effect: a broken stream is resumed by itself, and a call that is made again runs again`;
    if (isMember || isKey) found.push({ line: lineOf(node), what });
  });
  return found;
}

/** The path of a v1 module as `V1_PATHS` has it: without the package, its folder of built files, and `.js`. */
function toV1Path(specifier: string): string {
  return specifier
    .slice((specifier.startsWith(COMPAT_PACKAGE) ? COMPAT_PACKAGE : V1_PACKAGE).length + 1)
    .replace(/^dist\/(?:esm\/|cjs\/)?/, '')
    .replace(/\.(?:js|d\.ts)$/, '');
}

/** Where a module of v1 is in compat; undefined if compat has none. A suffix `.js` stays. */
function toCompat(specifier: string): string | undefined {
  const path = toV1Path(specifier);
  if (!V1_PATHS.has(path)) return undefined;
  return `${COMPAT_PACKAGE}/${path}${specifier.endsWith('.js') ? '.js' : ''}`;
}

/** Packages that some paths of compat load, and that SDK v1 brought along. */
const NEEDS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\/server\/express(?:\.js)?$/, ['express']],
  [/\/server\/auth\/(?:router|handlers\/)/, ['express', 'cors', 'express-rate-limit']],
];

/** The packages beside compat that a module of it needs. */
export function needsOf(module: string): readonly string[] {
  return NEEDS.flatMap(([pattern, names]) => (pattern.test(module) ? names : []));
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

/** The names of SDK v1 whose own place here is sure. */
export const namesV1: NativeNames = {
  find: (specifier, name) => NAMES[toV1Path(specifier)]?.[name],
  groupsOf: (specifier) => Object.values(NAMES[toV1Path(specifier)] ?? {}).map(({ group }) => group),
};

/** The group of a class under its own name here. */
const OWN_GROUPS = new Map(
  Object.values(NAMES).flatMap((names) =>
    Object.entries(names).map(([imported, { to, name = imported, group }]) => [`${to} ${name}`, group] as const),
  ),
);

/** The mapping of `--native` for a folder, given the groups that must stay on compat, and those that a file takes. */
export function nativeV1(staying: Staying, taken: Taken): Mapping {
  return {
    ...compatV1,
    packages: [V1_PACKAGE, COMPAT_PACKAGE],
    owns: (text) => OFFICIAL_OR_COMPAT.test(text),
    moveModule: (specifier) => ({ left: asWhole(specifier), ...toMove(specifier) }),
    moveName: (specifier, name) => {
      const native = namesV1.find(specifier, name);
      const stays = native === undefined ? 'no sure place elsewhere, see the table of exports in the guide' : staying.get(native.group);
      if (native !== undefined && stays === undefined) return { to: native.to, name: native.name };
      const move = toMove(specifier, name);
      return move.to === undefined ? move : { ...move, stays: `on ${COMPAT_PACKAGE}: ${stays}` };
    },
    find: (module) => [...findUnused(module), ...findObstacles(module, namesV1, taken)],
    findTorn: ({ references }) =>
      references.flatMap(({ specifier, declaration, line }) =>
        (declaration?.names ?? []).flatMap(({ imported }) => {
          const group = OWN_GROUPS.get(`${specifier} ${imported}`);
          const why = group === undefined ? undefined : staying.get(group);
          return why === undefined ? [] : [{ line, what: `${imported} is Mortise's own here, and others of its kind stay: ${why}` }];
        }),
      ),
  };
}
