/** The handshake of the legacy era. @until 2025-11-25 */

import type { JsonRpcRequest } from '@mortise/jsonrpc-core';
import { isJsonRpcRequest } from '@mortise/jsonrpc-core/messages';
import type { ClientCapabilities, ServerCapabilities } from './capabilities.ts';
import type { Implementation } from './implementation.ts';
import type { RequestParams, Result } from './meta.ts';

/** @until 2025-11-25; then `_meta` of each request says the same. */
export interface InitializeRequestParams extends RequestParams {
  /** The revision that the client would like to speak. */
  readonly protocolVersion: string;
  readonly capabilities: ClientCapabilities;
  readonly clientInfo: Implementation;
}

/** @until 2025-11-25; then `server/discover`. */
export interface InitializeResult extends Result {
  /** The revision that is spoken from now on. */
  readonly protocolVersion: string;
  readonly capabilities: ServerCapabilities;
  readonly serverInfo: Implementation;
  /** How to use the server, for the model. */
  readonly instructions?: string | undefined;
}

/** The request that opens a legacy session. @until 2025-11-25 */
export interface InitializeRequest extends JsonRpcRequest {
  readonly method: 'initialize';
  readonly params: InitializeRequestParams;
}

/** Tells whether a JSON value is an `initialize` request. Its params are checked when the server takes it. */
export function isInitializeRequest(value: unknown): value is InitializeRequest {
  return isJsonRpcRequest(value) && value.method === 'initialize' && value.params !== undefined;
}
