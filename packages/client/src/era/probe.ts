/** Probes a server by `server/discover`, and reads the server's era from its response. */

import { ConnectionClosedError, ExchangeHttpError, type JsonObject, type JsonRpcErrorObject, RemoteError } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Revision } from '@mortise/protocol';
import type { DiscoverResult } from '@mortise/protocol/model';
import { isModernError, readSupportedVersions } from '@mortise/protocol/wire';
import type { Link } from '../link.ts';
import type { SessionSettings } from '../session.ts';
import { makeMeta } from './modern-session.ts';

/** What the response to `server/discover`, or a missing response, shows about the server. */
export type Finding =
  /** The server is modern: it returned a `DiscoverResult`. */
  | { readonly kind: 'discovered'; readonly result: DiscoverResult; readonly supported: readonly string[] }
  /** The server is modern and does not support the requested version. */
  | { readonly kind: 'refused'; readonly error: Error; readonly supported: readonly string[] }
  /** `legacy`: the server is not modern. `silent`: no response arrived in time, for an unknown reason. */
  | { readonly kind: 'legacy' | 'silent'; readonly error: Error | undefined }
  /** The channel ended before the response arrived. */
  | { readonly kind: 'died'; readonly error: Error };

/**
 * Sends `server/discover` in the given revision and reads the server's era from the response.
 *
 * @throws An error that does not show the era: missing permission, an abort, or a network failure.
 * @see 2026-07-28 basic/transports/stdio#backward-compatibility
 */
export function probe(
  link: Link,
  revision: Revision,
  settings: SessionSettings,
  options: { readonly signal?: AbortSignal | undefined; readonly timeoutMs: number },
): Promise<Finding> {
  return link.requests
    .request('server/discover', { _meta: makeMeta(revision, settings) }, { ...options, resetTimeoutOnProgress: false })
    .then((result) => readResult(revision, result), readError);
}

/** Reads the era from a result: a `DiscoverResult` means modern. A legacy server may return anything else for an unknown method. */
function readResult(revision: Revision, answer: JsonObject): Finding {
  const result = revision.fromWire.results.get('server/discover')?.(answer) ?? answer;
  const { supportedVersions, capabilities } = result;
  const isDiscovery =
    Array.isArray(supportedVersions) && supportedVersions.every((one) => typeof one === 'string') && isJsonObject(capabilities);
  if (!isDiscovery) return { kind: 'legacy', error: undefined };
  return { kind: 'discovered', result: result as DiscoverResult, supported: supportedVersions };
}

function readError(error: unknown): Finding {
  if (error instanceof RemoteError) {
    return readRpcError({ code: error.rpcCode, message: error.message, ...(error.data !== undefined && { data: error.data }) }, error);
  }
  if (error instanceof ExchangeHttpError) return readHttpError(error);
  if (error instanceof ConnectionClosedError) return { kind: 'died', error };
  if (error instanceof Error && isForeignRefusal(error)) return { kind: 'legacy', error };
  throw error;
}

/** Whether a transport of others, such as the official SDK's, rejects with an HTTP status that means a legacy server. */
function isForeignRefusal(error: Error): boolean {
  const { status, code } = error as { readonly status?: unknown; readonly code?: unknown };
  const http = typeof status === 'number' ? status : code;
  return typeof http === 'number' && http >= 400 && http < 500 && ![401, 403, 407, 408, 425, 429].includes(http);
}

/** Reads the era from a JSON-RPC error: codes that only modern servers send mean modern, every other code means legacy. */
function readRpcError(rpcError: JsonRpcErrorObject, error: Error): Finding {
  if (!isModernError(rpcError.code)) return { kind: 'legacy', error };
  const supported = readSupportedVersions(rpcError);
  // A modern server that refuses the request for another reason than its version.
  if (!supported) throw error;
  return { kind: 'refused', error, supported };
}

/** Reads the era from an HTTP error: from the JSON-RPC error in its body, else from the status. Throws errors of missing permission. */
function readHttpError(error: ExchangeHttpError): Finding {
  const { status, rpcError } = error;
  if (status === 401 || status === 403 || status === 407) throw error;
  const isBusy = [408, 425, 429, 502, 503, 504].includes(status);
  if (rpcError && isModernError(rpcError.code)) return readRpcError(rpcError, new RemoteError(rpcError, 'server/discover'));
  // A "try again later" status does not show the era: it may come from a proxy.
  if (!isBusy && (rpcError || (status >= 400 && status < 500))) return { kind: 'legacy', error };
  throw error;
}
