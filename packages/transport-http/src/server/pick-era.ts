/**
 * Decides which era a POST belongs to. A request that is modern but wrong must get a modern error, so whatever speaks of a modern
 * revision, or of one that nobody here knows, is modern.
 *
 * @see 2026-07-28 basic/versioning#backward-compatibility
 */

import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import { type Era, findRevision } from '@mortise/protocol';
import { META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION } from '@mortise/protocol/wire';
import { PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from '../headers.ts';
import type { HttpHost } from './http-host.ts';
import type { HttpRequest } from './http-request.ts';

export function pickEra(host: HttpHost, request: HttpRequest, message: JsonRpcMessage): Era {
  if (!host.settings.legacy || hasModernMeta(message)) return 'modern';
  const version = request.header(PROTOCOL_VERSION_HEADER);
  if (version === undefined) return isLegacyWithoutVersion(host, request, message) ? 'legacy' : 'modern';
  const revision = findRevision(version);
  if (revision !== undefined) return revision.era;
  // Inside a session an unknown version is that session's error.
  return request.header(SESSION_ID_HEADER) === undefined ? 'modern' : 'legacy';
}

/** With sessions on, what neither opens nor names one is read as a modern request that forgot its headers (ledger C-07). */
function isLegacyWithoutVersion(host: HttpHost, request: HttpRequest, message: JsonRpcMessage): boolean {
  if (!host.settings.sessions || request.header(SESSION_ID_HEADER) !== undefined) return true;
  return 'method' in message && (message.method === 'initialize' || !('id' in message));
}

/** The body itself says that it is modern. */
export function hasModernMeta(message: JsonRpcMessage): boolean {
  if (!('method' in message)) return false;
  const meta = message.params?.['_meta'];
  if (typeof meta !== 'object' || meta === null) return false;
  return Object.hasOwn(meta, META_PROTOCOL_VERSION) || Object.hasOwn(meta, META_CLIENT_CAPABILITIES);
}
