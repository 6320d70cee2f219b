/** What a request and its answer say of their own connection alone, and is not passed on. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { META_SERVER_INFO } from '@mortise/protocol/wire';
import { META_CALLER } from './tasks.ts';

/** Removes what belongs to the caller's request alone: its token for progress, its protocol facts, and what continues an earlier request. */
export function withoutOwnMeta({ _meta, requestState: _state, inputResponses: _answers, ...params }: JsonObject): JsonObject {
  const kept = Object.entries((_meta ?? {}) as JsonObject).filter(
    ([key]) => key !== 'progressToken' && key !== META_CALLER && !key.startsWith('io.modelcontextprotocol/'),
  );
  return kept.length === 0 ? params : { ...params, _meta: Object.fromEntries(kept) };
}

/** Removes the name of the server behind, and its task: the client talks to the gateway. */
export function withoutServerInfo({ _meta, ...result }: JsonObject): JsonObject {
  if (_meta === undefined) return result;
  const { [META_SERVER_INFO]: _info, 'io.modelcontextprotocol/related-task': _task, ...kept } = _meta as JsonObject;
  return Object.keys(kept).length === 0 ? result : { ...result, _meta: kept };
}
