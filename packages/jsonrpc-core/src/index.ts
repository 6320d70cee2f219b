/**
 * JSON-RPC 2.0 as MCP uses it: messages, errors, the `Transport` interface and an in-memory pair. Implementers of transports use `/transport` and
 * `/messages`; implementers of servers and clients use `/connection`.
 */

export type {
  JsonObject,
  JsonRpcErrorObject,
  JsonRpcErrorResponse,
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  JsonRpcResultResponse,
  JsonValue,
  RequestId,
} from './message.ts';
export {
  type AnyJsonRpcError,
  CancelledError,
  ConnectionClosedError,
  ConnectionLostError,
  ExchangeHttpError,
  InvalidRequestError,
  InvalidResponseError,
  isMortiseError,
  MessageTooLargeError,
  MortiseError,
  ParseError,
  ProtocolError,
  RemoteError,
  SessionLostError,
  TimeoutError,
  UsageError,
} from './errors.ts';
export { ErrorCode } from './wire-error.ts';
export { createInMemoryPair, type InMemoryOptions, InMemoryTransport } from './in-memory.ts';
export type { Connectable, ServerConnection, Transport } from './transport/transport.ts';
export type { Clock, ClockTimer } from './clock.ts';
export type { Logger, LogLevel, Meter } from './instruments.ts';
