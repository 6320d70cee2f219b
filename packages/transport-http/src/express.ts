/** `@mortise/transport-http/express`: an MCP endpoint in an Express application. Does not import Express. */

import type { McpEndpoint } from '@mortise/protocol/contracts';
import { createMount } from './mount.ts';
import { stderrLogger } from './node/stderr-logger.ts';
import type { HttpHandler } from './server/create-http-handler.ts';
import type { NodeRequest, NodeResponse } from './server/http/node-exchange.ts';
import type { HttpHandlerOptions } from './server/options.ts';

/** The members of an Express application or router that `mountOnExpress` uses. */
export interface ExpressLike {
  all(path: string, handler: (request: NodeRequest, response: NodeResponse) => unknown): unknown;
}

/**
 * Mounts an MCP endpoint on an Express application (4 or 5). Uses the body that `express.json()` has parsed, and the caller that a
 * middleware has set in `request.auth`.
 *
 * @param options.path @default '/mcp'
 * @param options.logger @default standard error, for warnings and more severe levels
 * @returns The handler. Close it together with the application.
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: the application or the endpoint is missing, or an option is invalid.
 */
export function mountOnExpress(app: ExpressLike, endpoint: McpEndpoint, options: HttpHandlerOptions = {}): HttpHandler {
  const { handler, paths } = createMount(app, endpoint, options, stderrLogger);
  for (const path of paths) app.all(path, (request, response) => handler.node(request, response));
  return handler;
}
