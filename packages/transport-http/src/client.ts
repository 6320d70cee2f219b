/** `@mortise/transport-http/client`: the client's side, on any platform. What needs `node:http` is at `/node`. */

// What programs use.
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

// What implementers of other ways to send requests use.
export {
  type BodySink,
  createFetchSender,
  type FetchLike,
  type HttpAnswer,
  type HttpCall,
  type HttpFlight,
  type HttpSender,
} from './client/http-sender.ts';
