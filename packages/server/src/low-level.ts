/** `@mortise/server/low-level`: methods by name and requests as they come, for gateways and for what `McpServer` does not offer. */

export { type CloseOptions, type HandlerRequest, type NotificationHandler, type RequestHandler, Server } from './server.ts';
export type { RawCall, RawHandler, RawRequestOptions } from './raw-call.ts';
export type { HandlerContext } from './context.ts';
export type { Middleware, MiddlewareCall, NextMiddleware } from './middleware/middleware.ts';
export type { ServerOptions } from './options.ts';
