/**
 * The five error codes of JSON-RPC 2.0 (section 5.1). JSON-RPC reserves -32768..-32000; MCP's own codes inside that range
 * belong to `@mortise/protocol`, and those of an application lie outside it.
 */

/** The text is not JSON. */
export const PARSE_ERROR = -32700;
/** The JSON is not a message. */
export const INVALID_REQUEST = -32600;
/** There is no such method, or it is not available. */
export const METHOD_NOT_FOUND = -32601;
/** The parameters do not fit the method. */
export const INVALID_PARAMS = -32602;
/** The receiver failed. */
export const INTERNAL_ERROR = -32603;

/** The same five codes under the names that MCP's TypeScript users know. */
export const ErrorCode: {
  readonly ParseError: typeof PARSE_ERROR;
  readonly InvalidRequest: typeof INVALID_REQUEST;
  readonly MethodNotFound: typeof METHOD_NOT_FOUND;
  readonly InvalidParams: typeof INVALID_PARAMS;
  readonly InternalError: typeof INTERNAL_ERROR;
} = {
  ParseError: PARSE_ERROR,
  InvalidRequest: INVALID_REQUEST,
  MethodNotFound: METHOD_NOT_FOUND,
  InvalidParams: INVALID_PARAMS,
  InternalError: INTERNAL_ERROR,
};
