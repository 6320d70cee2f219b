/** How a connection begins: the handshake of the legacy era (until 2025-11-25), and discovery, which the modern era has in its place. */

import type { JsonRpcRequest } from '@mortise/jsonrpc-core';
import { isJsonRpcRequest } from '@mortise/jsonrpc-core/messages';
import type { ClientCapabilities, ServerCapabilities } from './capabilities.ts';
import type { Implementation } from './implementation.ts';
import type { CacheableResult, RequestParams, Result } from './meta.ts';

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

/**
 * Result of `server/discover`: what a server speaks and can do. Since 2026-07-28. Who the server is stands in `_meta`.
 *
 * @see 2026-07-28 server/discover
 */
export interface DiscoverResult extends CacheableResult {
  /** May name legacy revisions too, which can only be used through `initialize`. */
  readonly supportedVersions: readonly string[];
  readonly capabilities: ServerCapabilities;
  /** How to use the server, for the model. */
  readonly instructions?: string | undefined;
}
