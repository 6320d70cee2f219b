/** `@mortise/transport-http/client`: the client's side, on any platform. What needs `node:http` is at `/node`. */

// What programs use.
export { type HttpTransport, httpTransport } from './client/http-transport.ts';
export type { HttpClientOptions, HttpTransportOptions } from './client/http-transport-options.ts';
export type { GivenHeaders } from './client/wire.ts';
export { StreamableHTTPClientTransport, type StreamableHTTPClientTransportOptions } from './client/streamable-http-client-transport.ts';
export { SSEClientTransport } from './client/sse-client-transport.ts';
export type { ReconnectionOptions } from './client/legacy/reconnect-pace.ts';
export { RedirectError, SseEndpointError, StreamGivenUpError, ToolHeaderError } from './errors.ts';

// What implementers of other ways to send requests use.
export { createFetchSender, type FetchLike } from './client/fetch-sender.ts';
export type { BodySink, HttpAnswer, HttpCall, HttpFlight, HttpSender } from './client/http-sender.ts';
