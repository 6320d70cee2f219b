/** `resources/read`, and lists whose templates name members: loaded when somebody first reads. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { resourceNotFoundError } from '@mortise/protocol/wire';
import { createContext } from '../call-context.ts';
import type { RequestCall } from '../request-call.ts';
import { normalizeReadResult } from './normalize-read.ts';
import type { Resources } from './resources.ts';

export { listWithMembers } from './list-resources.ts';

/** @throws {ProtocolError} -32602, or the revision's own code: there is no such resource for this caller. */
export async function readResource(resources: Resources, uri: string, call: RequestCall): Promise<JsonObject> {
  if (!URL.canParse(uri)) throw new ProtocolError(INVALID_PARAMS, 'The resource\'s "uri" is not an absolute URI', { uri });
  const notFound = resourceNotFoundError(uri, call.revision.rules.resourceNotFoundCode);
  const found = resources.findReadable(uri, call);
  if (!found) throw notFound;
  const { item, args } = found;
  const value = await item.read(new URL(uri), ...args, createContext(call));
  const result = normalizeReadResult(value, { uri, mimeType: item.config.mimeType });
  if (!result) throw notFound;
  const { ttlMs, cacheScope } = item.config;
  if (ttlMs === undefined && cacheScope === undefined) return result;
  return { ...(ttlMs === undefined ? {} : { ttlMs }), ...(cacheScope === undefined ? {} : { cacheScope }), ...result };
}
