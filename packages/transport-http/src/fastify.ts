/** `@mortise/transport-http/fastify`: an MCP endpoint as a Fastify plugin. Does not import Fastify. */

import type { McpEndpoint } from '@mortise/protocol/contracts';
import { createMount } from './mount.ts';
import { stderrLogger } from './node/stderr-logger.ts';
import type { NodeRequest, NodeResponse } from './server/http/node-exchange.ts';
import type { HttpHandlerOptions } from './server/options.ts';

/** The members of a Fastify request that `fastifyMcp` uses. */
export interface FastifyRequestLike {
  readonly raw: NodeRequest;
}

/** The members of a Fastify reply that `fastifyMcp` uses. */
export interface FastifyReplyLike {
  readonly raw: NodeResponse;
  hijack(): unknown;
  getHeaders?(): Readonly<Record<string, unknown>>;
}

/** The members of a Fastify instance that `fastifyMcp` uses. */
export interface FastifyLike {
  all(path: string, handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => unknown): unknown;
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(type: string, parser: (request: unknown, payload: unknown, done: (error: null) => void) => void): unknown;
  addHook(name: 'preClose', hook: () => Promise<void>): unknown;
}

/**
 * Makes a Fastify plugin: `app.register(fastifyMcp(server))`. The plugin reads request bodies itself, with its own size limit. It closes
 * the endpoint's handler when Fastify closes.
 *
 * @param options.path @default '/mcp'
 * @param options.logger @default standard error, for warnings and more severe levels
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`, at registration: the endpoint is not a server, or an option is invalid.
 */
export function fastifyMcp(endpoint: McpEndpoint, options: HttpHandlerOptions = {}): (app: FastifyLike) => Promise<void> {
  return (app) => {
    const { handler, paths } = createMount(app, endpoint, options, stderrLogger);
    // Leaves the body unread for the handler. Affects this plugin's scope only.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, done) => done(null));
    for (const path of paths) {
      app.all(path, (request, reply) => {
        // What other plugins have set, such as the headers of CORS, is lost by `hijack`.
        for (const [name, value] of Object.entries(reply.getHeaders?.() ?? {})) reply.raw.setHeader(name, String(value));
        reply.hijack();
        void handler.node(request.raw, reply.raw);
      });
    }
    // Before the server closes, which waits for streams that only the handler ends.
    app.addHook('preClose', () => handler.close());
    return Promise.resolve();
  };
}
