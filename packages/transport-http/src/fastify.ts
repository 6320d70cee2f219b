/** `@mortise/transport-http/fastify`: an MCP endpoint in a Fastify application, as a plugin. Needs no Fastify code of its own. */

import type { McpEndpoint } from '@mortise/protocol/contracts';
import { mountPaths } from './mounts/mount-paths.ts';
import { toMountOptions } from './mounts/to-mount-options.ts';
import { stderrLogger } from './node/stderr-logger.ts';
import { createHttpHandler, type HttpHandler } from './server/handler.ts';
import type { NodeRequest, NodeResponse } from './server/node-types.ts';
import type { HttpHandlerOptions } from './server/options.ts';

/** What is asked of a Fastify request. */
export interface FastifyRequestLike {
  readonly raw: NodeRequest;
}

/** What is asked of a Fastify reply. */
export interface FastifyReplyLike {
  readonly raw: NodeResponse;
  hijack(): unknown;
}

/** What is asked of a Fastify instance inside a plugin. */
export interface FastifyLike {
  all(path: string, handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => unknown): unknown;
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(type: string, parser: (request: unknown, payload: unknown, done: (error: null) => void) => void): unknown;
  addHook(name: 'preClose', hook: () => Promise<void>): unknown;
}

/**
 * Makes a Fastify plugin: `app.register(fastifyMcp(server))`. It reads bodies itself, within its own bounds, and closes with the
 * application.
 *
 * @param options.path @default '/mcp'
 * @param options.logger @default standard error, for warnings and what is worse
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`, when it is registered: no server, or an option that cannot hold.
 */
export function fastifyMcp(endpoint: McpEndpoint, options: HttpHandlerOptions = {}): (app: FastifyLike) => Promise<void> {
  return (app) => {
    const settings = { ...toMountOptions(options), logger: options.logger ?? stderrLogger };
    const handler: HttpHandler = createHttpHandler(endpoint, settings);
    // Only in this plugin's scope: the body stays unread for the handler.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, done) => done(null));
    for (const path of mountPaths(settings)) {
      app.all(path, (request, reply) => {
        reply.hijack();
        void handler.node(request.raw, reply.raw);
      });
    }
    // Before the server itself closes, which waits for streams that only the handler ends.
    app.addHook('preClose', () => handler.close());
    return Promise.resolve();
  };
}
