/** `@mortise/jsonrpc-core/messages`: classify, parse and serialize messages, and the error codes of JSON-RPC. */

export { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR } from './wire-error.ts';
export {
  classifyMessage,
  isErrorObject,
  isJsonObject,
  isJsonRpcNotification,
  isJsonRpcRequest,
  isJsonRpcResponse,
  isRequestId,
  type MessageKind,
} from './message.ts';
export { type MessageHead, readMessageHead } from './malformed.ts';
export { measureMessage, parseJson } from './parse-json.ts';
export { toInvalidRequestError } from './malformed.ts';
export { serializeMessage, withSerialized } from './serialize-message.ts';
export { toWireError } from './wire-error.ts';
export { copyObject, type MutableJsonObject, toErrorResponse } from './message.ts';
