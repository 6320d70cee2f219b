/** `@mortise/transport-http/server`: an MCP server over HTTP, on any platform. `serveHttp`, which listens on a port, is at `/node`. */

export type { CloseOptions } from '@mortise/protocol/contracts';
export { createHttpHandler, type HttpHandler, type HttpHandlerCounts, type NodeInfo } from './server/create-http-handler.ts';
export type { HttpHandlerOptions, LimitSubject } from './server/options.ts';
export type { FetchInfo } from './server/http/web-exchange.ts';
export type { NodeRequest, NodeResponse, NodeSocket } from './server/http/node-exchange.ts';
export { StreamableHTTPServerTransport, type StreamableHTTPServerTransportOptions } from './server/streamable-http-server-transport.ts';
