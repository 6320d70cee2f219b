/** An MCP server on Workers. Requests may meet any isolate, so there are no sessions. */

import { createHttpHandler, type HttpHandler } from '@mortise/transport-http/server';
import { createCalculator } from './calculator.ts';

const handler: HttpHandler = createHttpHandler(createCalculator(), { path: '/mcp', sessions: false, allowedHosts: ['mcp.example.com'] });

// Workers take a module's default export for the worker.
// oxlint-disable-next-line import/no-default-export
export default {
  fetch: (request: Request): Promise<Response> =>
    handler.fetch(request, { remoteAddress: request.headers.get('cf-connecting-ip') ?? undefined }),
};
