/** `@mortise/jsonrpc-core/messages`: telling messages apart, reading them from text or values, writing them, and the codes of JSON-RPC. */

export { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR } from './error-codes.ts';
export {
  classifyMessage,
  isErrorObject,
  isJsonObject,
  isJsonRpcNotification,
  isJsonRpcRequest,
  isJsonRpcResponse,
  isRequestId,
  type MessageKind,
} from './guards.ts';
export { type MessageHead, readMessageHead } from './message-head.ts';
export { measureMessage, parseJson, type ParseOptions } from './parse-json.ts';
export { toInvalidRequestError } from './malformed.ts';
export { serializeMessage, withSerialized } from './serialize-message.ts';
export { toWireError } from './to-wire-error.ts';
export { copyObject, type MutableJsonObject } from './guards.ts';
