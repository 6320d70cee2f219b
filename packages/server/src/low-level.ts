/** `@mortise/server/low-level`: `Server`, with handlers for any method or raw request. For gateways, and for what `McpServer` lacks. */

export type { CloseOptions } from '@mortise/protocol/contracts';
export { type HandlerRequest, type RequestHandler, Server } from './server.ts';
export type { RawHandler, RawSession } from './raw-handler.ts';
export type { ClientRequestOptions } from './session.ts';
export type { HandlerContext } from './handler-context.ts';
export type { Middleware, MiddlewareCall, NextMiddleware } from './middleware/middleware.ts';
export type { ServerOptions } from './options.ts';
export type { NotificationHandler } from './method.ts';
