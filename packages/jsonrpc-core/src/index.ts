/** JSON-RPC 2.0 as MCP uses it: messages, errors, the `Transport` joint, `Connection`, and an in-memory pair. */

// What programs use.
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
  AlreadyStartedError,
  CancelledError,
  ConnectionClosedError,
  ConnectionLostError,
  ExchangeHttpError,
  InvalidRequestError,
  InvalidResponseError,
  isMortiseError,
  MessageTooLargeError,
  MortiseError,
  NotConnectedError,
  ParseError,
  ProtocolError,
  RemoteError,
  SerializeError,
  SessionLostError,
  TimeoutError,
} from './errors.ts';
export { ErrorCode, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR } from './error-codes.ts';
export { createInMemoryPair, type InMemoryOptions, InMemoryTransport } from './in-memory.ts';
export { createInMemoryExchange, type InMemoryExchangeCall } from './in-memory-exchange.ts';

// What implementers of transports, servers and clients use.
export {
  type ChannelEndError,
  type Connectable,
  type ExchangeOptions,
  type ExchangeTransport,
  isExchangeTransport,
  isLegacyOpener,
  type LegacyOpener,
  type MessageInfo,
  type SendOptions,
  type ServerConnection,
  type Transport,
  type TransportFactory,
} from './transport.ts';
export { Connection } from './connection.ts';
export type { ConnectionOptions, InboundCall, RequestOptions, RequestOutcome } from './connection-options.ts';
export {
  classifyMessage,
  isErrorObject,
  isJsonObject,
  isJsonRpcMessage,
  isJsonRpcNotification,
  isJsonRpcRequest,
  isJsonRpcResponse,
  isRequestId,
  type MessageKind,
} from './guards.ts';
export { parseJson, parseMessage, type ParseOptions, toInvalidRequestError } from './parse-message.ts';
export { serializeMessage, withSerialized } from './serialize-message.ts';
export { toWireError } from './to-wire-error.ts';
export { copyObject, type MutableJsonObject } from './copy-object.ts';
export { resolvedPromise } from './resolved-promise.ts';
export { AsyncQueue, type AsyncQueueOptions } from './async-queue.ts';
export { SignalWatch } from './signal-watch.ts';
export { abortable, type LinkedSignal, linkSignals, withTimeout } from './signals.ts';
export { silentLogger, systemClock } from './system-clock.ts';
export type { Clock, ClockTimer, Logger, LogLevel, Meter } from './instruments.ts';
