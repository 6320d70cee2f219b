/** The import paths of `@modelcontextprotocol/sdk` 1.x that `@mortise/compat-v1` has too. A test compares the list with its `exports`. */

export const V1_PACKAGE = '@modelcontextprotocol/sdk';
export const COMPAT_PACKAGE = '@mortise/compat-v1';

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

/** Packages that some paths of compat load, and that SDK v1 brought along. */
const NEEDS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\/server\/express(?:\.js)?$/, ['express']],
  [/\/server\/auth\/(?:router|handlers\/)/, ['express', 'cors', 'express-rate-limit']],
];

/** The packages beside compat that a module of it needs. */
export function needsOf(module: string): readonly string[] {
  return NEEDS.flatMap(([pattern, names]) => (pattern.test(module) ? names : []));
}

/** The path of a v1 module as `V1_PATHS` has it: without the package, its folder of built files, and `.js`. */
export function toV1Path(specifier: string): string {
  return specifier
    .slice(V1_PACKAGE.length + 1)
    .replace(/^dist\/(?:esm\/|cjs\/)?/, '')
    .replace(/\.(?:js|d\.ts)$/, '');
}

/** Where a module of v1 is in compat; undefined if compat has none. A suffix `.js` stays. */
export function toCompat(specifier: string): string | undefined {
  const path = toV1Path(specifier);
  if (!V1_PATHS.has(path)) return undefined;
  return `${COMPAT_PACKAGE}/${path}${specifier.endsWith('.js') ? '.js' : ''}`;
}
