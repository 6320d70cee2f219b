/**
 * The shapes of JSON-RPC 2.0 as MCP uses them. Types only: what checks them is `guards.ts`.
 */

/** Any value that JSON can carry. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object. Members that are `undefined` do not reach the wire. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** A request's id: a string or an integer, never `null`. `1` and `"1"` are two ids. */
export type RequestId = string | number;

/** Asks the peer to do something and to answer exactly once. */
export interface JsonRpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: JsonObject;
}

/** Tells the peer something. It is never answered, not even with an error. */
export interface JsonRpcNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: JsonObject;
}

/** The answer to a request that succeeded. */
export interface JsonRpcResultResponse {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly result: JsonObject;
}

/** What went wrong: an integer code, one short sentence, and detail in `data`. */
export interface JsonRpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonValue;
}

/** The answer to a request that failed. The id is absent or `null` only where the request's own could not be read. */
export interface JsonRpcErrorResponse {
  readonly jsonrpc: '2.0';
  readonly id?: RequestId | null;
  readonly error: JsonRpcErrorObject;
}

/** The answer to a request: a result or an error, never both. */
export type JsonRpcResponse = JsonRpcResultResponse | JsonRpcErrorResponse;

/** Everything that travels alone over a transport. */
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse;
