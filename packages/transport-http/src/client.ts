/** `@mortise/transport-http/client`: the client's side, on any platform. What needs `node:http` is at `/node`. */

// What programs use.
export type { HttpClientOptions, HttpTransportOptions } from './client/client-options.ts';
export type { GivenHeaders } from './client/wire.ts';
export {
  type HttpTransport,
  httpTransport,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from './client/streamable-http-client-transport.ts';
export { SSEClientTransport } from './client/sse-client-transport.ts';
export type { ReconnectionOptions } from './client/legacy/reconnect-pace.ts';
export { RedirectError, StreamGivenUpError, ToolHeaderError } from './errors.ts';

// What implementers of other ways to send requests use.
export { createFetchSender, type FetchLike } from './client/fetch-sender.ts';
export type { BodySink, HttpAnswer, HttpCall, HttpFlight, HttpSender } from './client/http-sender.ts';
