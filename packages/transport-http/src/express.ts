/** `@mortise/transport-http/express`: an MCP endpoint in an Express application. Needs nothing of Express but its `all`. */

import type { McpEndpoint } from '@mortise/protocol/contracts';
import { createMount } from './mount.ts';
import { stderrLogger } from './node/stderr-logger.ts';
import type { HttpHandler } from './server/create-http-handler.ts';
import type { NodeRequest, NodeResponse } from './server/http/node-exchange.ts';
import type { HttpHandlerOptions } from './server/options.ts';

/** What is asked of an Express application or router. */
export interface ExpressLike {
  all(path: string, handler: (request: NodeRequest, response: NodeResponse) => unknown): unknown;
}

/**
 * Mounts an endpoint on an Express application (4 or 5). A body that `express.json()` has parsed is taken as it is, and so is what a
 * middleware left in `request.auth`.
 *
 * @param options.path @default '/mcp'
 * @param options.logger @default standard error, for warnings and what is worse
 * @returns The handler, to be closed with the application.
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: no application, no server, or an option of the wrong kind.
 */
export function mountOnExpress(app: ExpressLike, endpoint: McpEndpoint, options: HttpHandlerOptions = {}): HttpHandler {
  const { handler, paths } = createMount(app, endpoint, options, stderrLogger);
  for (const path of paths) app.all(path, (request, response) => handler.node(request, response));
  return handler;
}
