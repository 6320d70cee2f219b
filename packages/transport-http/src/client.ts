/** `@mortise/transport-http/client`: client transports over HTTP, for any platform. `/node` has a faster HTTP sender for Node. */

// For programs.
export type {
  HttpClientOptions,
  HttpTransportOptions,
  ReconnectionOptions,
  StreamableHTTPClientTransportOptions,
} from './client/client-options.ts';
export type { GivenHeaders } from './client/request-headers.ts';
export { type HttpTransport, httpTransport, StreamableHTTPClientTransport } from './client/streamable-http-client-transport.ts';
export { SSEClientTransport } from './client/legacy/sse-client-transport.ts';
export { HttpClientError } from './errors.ts';

// For implementers of an `HttpSender`.
export {
  type BodySink,
  createFetchSender,
  type FetchLike,
  type HttpAnswer,
  type HttpCall,
  type HttpFlight,
  type HttpSender,
} from './client/http-sender.ts';
