/** `initialize` of the legacy era (up to 2025-11-25), and `server/discover` of the modern era. */

import type { JsonRpcRequest } from '@mortise/jsonrpc-core';
import { isJsonRpcRequest } from '@mortise/jsonrpc-core/messages';
import type { ClientCapabilities, ServerCapabilities } from './capabilities.ts';
import type { Implementation } from './implementation.ts';
import type { CacheableResult, RequestParams, Result } from './meta.ts';

/** Params of `initialize`. @until 2025-11-25; later revisions have these values in the `_meta` of each request. */
export interface InitializeRequestParams extends RequestParams {
  /** The revision that the client prefers. */
  readonly protocolVersion: string;
  readonly capabilities: ClientCapabilities;
  readonly clientInfo: Implementation;
}

/** The result of `initialize`. @until 2025-11-25; later revisions have `server/discover`. */
export interface InitializeResult extends Result {
  /** The revision that the server chose for the session. */
  readonly protocolVersion: string;
  readonly capabilities: ServerCapabilities;
  readonly serverInfo: Implementation;
  /** Instructions for the model on how to use the server. */
  readonly instructions?: string | undefined;
}

/** The request that opens a legacy session. @until 2025-11-25 */
export interface InitializeRequest extends JsonRpcRequest {
  readonly method: 'initialize';
  readonly params: InitializeRequestParams;
}

/** Tells whether a JSON value is an `initialize` request. Does not check its params. */
export function isInitializeRequest(value: unknown): value is InitializeRequest {
  return isJsonRpcRequest(value) && value.method === 'initialize' && value.params !== undefined;
}

/**
 * The result of `server/discover`. Since 2026-07-28. The server's name and version are in `_meta`.
 *
 * @see 2026-07-28 server/discover
 */
export interface DiscoverResult extends CacheableResult {
  /** The protocol versions that the server supports. May also list legacy revisions; to use one of them, the client sends `initialize`. */
  readonly supportedVersions: readonly string[];
  readonly capabilities: ServerCapabilities;
  /** Instructions for the model on how to use the server. */
  readonly instructions?: string | undefined;
}
