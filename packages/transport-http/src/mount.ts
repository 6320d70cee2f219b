/** What mounting an MCP endpoint on Express, Fastify and Hono has in common. */

import type { Logger } from '@mortise/jsonrpc-core';
import type { McpEndpoint } from '@mortise/protocol/contracts';
import { HttpOptionError } from './errors.ts';
import { WELL_KNOWN } from './server/http/authorize.ts';
import { createHttpHandler, type HttpHandler } from './server/create-http-handler.ts';
import { checkHttpOptions, type HttpHandlerOptions, toSsePaths } from './server/options.ts';

/** A handler and the paths that the framework routes to it. */
export interface Mount {
  readonly handler: HttpHandler;
  readonly paths: readonly string[];
}

/**
 * Makes the HTTP handler of an MCP endpoint for an application.
 *
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: the application or endpoint is missing, or an option is invalid.
 */
export function createMount(app: { readonly all?: unknown }, endpoint: McpEndpoint, options: HttpHandlerOptions, logger?: Logger): Mount {
  if (typeof app?.all !== 'function')
    throw new HttpOptionError('The first argument must be an application or a router of Express or Hono, with the function "all"');
  checkHttpOptions(options);
  const path = options.path ?? '/mcp';
  const handler = createHttpHandler(endpoint, { ...options, path, logger: options.logger ?? logger });
  const sse = toSsePaths(options.sse);
  const paths = [
    path,
    ...(sse === undefined ? [] : [sse.stream, sse.messages]),
    ...(options.resourceMetadata === undefined ? [] : [WELL_KNOWN, WELL_KNOWN + path]),
  ];
  return { handler, paths };
}
