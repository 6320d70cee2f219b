/** `@mortise/transport-http/fastify`: an MCP endpoint in a Fastify application, as a plugin. Needs no Fastify code of its own. */

import type { McpEndpoint } from '@mortise/protocol/contracts';
import { createMount } from './mount.ts';
import { stderrLogger } from './node/stderr-logger.ts';
import type { NodeRequest, NodeResponse } from './server/http/node-exchange.ts';
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
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`, when it is registered: no server, or an option of the wrong kind.
 */
export function fastifyMcp(endpoint: McpEndpoint, options: HttpHandlerOptions = {}): (app: FastifyLike) => Promise<void> {
  return (app) => {
    const { handler, paths } = createMount(app, endpoint, options, stderrLogger);
    // Only in this plugin's scope: the body stays unread for the handler.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, done) => done(null));
    for (const path of paths) {
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
