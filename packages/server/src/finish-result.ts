/** From a canonical result to the one that is sent: the revision's shape, and what it wants on every result. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { META_SERVER_INFO } from '@mortise/protocol/wire';
import { isCacheScope, isTtl } from './cache-hints.ts';
import { InvalidHandlerResultError } from './errors.ts';
import type { RequestCall } from './request-call.ts';

/** Marks results that are finished already, as kept pages of lists are. */
const FINISHED: unique symbol = Symbol('finished');

/** Marks a result as finished. @returns The same object. */
export function markFinished<R extends JsonObject>(result: R): R {
  return Object.defineProperty(result, FINISHED, { value: true });
}

/** Finishes a result for its call. */
export function finishResult(result: JsonObject, call: RequestCall): JsonObject {
  if ((result as { readonly [FINISHED]?: true })[FINISHED]) return result;
  const { writeResult, revision } = call.resolved;
  const shaped = writeResult && result !== call.ownResult ? writeResult(result) : result;
  return revision.rules.resultType ? addResultMembers(shaped, call) : shaped;
}

function addResultMembers(result: JsonObject, call: RequestCall): JsonObject {
  const resultType = result['resultType'] ?? 'complete';
  if (resultType === 'input_required' && call.resolved.facts?.inputRequired !== true && call.resolved.facts !== undefined)
    throw new InvalidHandlerResultError(`"${call.method}" may not be answered with input_required: only tools, prompts and resources ask`);
  const finished: Record<string, JsonValue | undefined> = { resultType, ...result };
  finished['resultType'] = resultType;
  const { serverInfo } = call.core;
  if (serverInfo) {
    const meta = result['_meta'];
    finished['_meta'] = isJsonObject(meta) ? { [META_SERVER_INFO]: serverInfo, ...meta } : call.core.resultMeta;
  }
  if (call.resolved.facts?.cacheable && resultType === 'complete') addCacheHints(finished, call);
  return finished;
}

function addCacheHints(finished: Record<string, JsonValue | undefined>, call: RequestCall): void {
  const defaults = call.core.cacheHints(call.method);
  const ttlMs = finished['ttlMs'];
  if (!isTtl(ttlMs)) finished['ttlMs'] = defaults.ttlMs;
  const scope = finished['cacheScope'];
  if (!isCacheScope(scope)) finished['cacheScope'] = defaults.cacheScope;
}
