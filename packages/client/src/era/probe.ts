/** The first message to a server, and what its answer shows of the server's era. */

import { ConnectionClosedError, ExchangeHttpError, type JsonObject, type JsonRpcErrorObject, RemoteError } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Revision } from '@mortise/protocol';
import type { DiscoverResult } from '@mortise/protocol/model';
import { isModernError, readSupportedVersions } from '@mortise/protocol/wire';
import type { Link } from '../link.ts';
import type { SessionSettings } from '../session.ts';
import { makeMeta } from './modern-session.ts';

/** What an answer, or its absence, shows. */
export type Finding =
  /** The server is modern. */
  | { readonly kind: 'discovered'; readonly result: DiscoverResult; readonly supported: readonly string[] }
  /** The server is modern and does not speak this version. */
  | { readonly kind: 'refused'; readonly error: Error; readonly supported: readonly string[] }
  /** The server is not modern; or it did not answer in time, which may have any reason. */
  | { readonly kind: 'legacy' | 'silent'; readonly error: Error | undefined }
  /** The channel ended before the answer. */
  | { readonly kind: 'died'; readonly error: Error };

/**
 * Asks `server/discover` in a revision.
 *
 * @throws The error that came instead of an answer, where it does not show the era: no permission, an abort, or a failure between the two.
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

/** Only a `DiscoverResult` comes from a modern server: a legacy one may answer what it does not know with anything. */
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
  throw error;
}

/** Every code but the modern ones means "legacy". */
function readRpcError(rpcError: JsonRpcErrorObject, error: Error): Finding {
  if (!isModernError(rpcError.code)) return { kind: 'legacy', error };
  const supported = readSupportedVersions(rpcError);
  // A modern server that refuses for another reason than the version.
  if (!supported) throw error;
  return { kind: 'refused', error, supported };
}

/** A lack of permission comes first; then the body counts, and without one the status. */
function readHttpError(error: ExchangeHttpError): Finding {
  const { status, rpcError } = error;
  if (status === 401 || status === 403 || status === 407) throw error;
  const isBusy = [408, 425, 429, 502, 503, 504].includes(status);
  if (rpcError && isModernError(rpcError.code)) return readRpcError(rpcError, new RemoteError(rpcError, 'server/discover'));
  // "Come back later" shows nothing of the era, whatever the body says: it may be a proxy's.
  if (!isBusy && (rpcError || (status >= 400 && status < 500))) return { kind: 'legacy', error };
  throw error;
}
