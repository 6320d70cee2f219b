/** From a canonical result to the one that is sent: the revision's shape, and what it requires on every result. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { CacheScope } from '@mortise/protocol/model';
import type { Context } from './context.ts';
import { InvalidHandlerResultError } from './errors.ts';

/** Marks results that are finished already, as kept pages of lists are. */
const FINISHED: unique symbol = Symbol('finished');

/** Marks a result as finished. @returns The same object. */
export function markFinished<R extends JsonObject>(result: R): R {
  return Object.defineProperty(result, FINISHED, { value: true });
}

export function finishResult(result: JsonObject, context: Context): JsonObject {
  if ((result as { readonly [FINISHED]?: true })[FINISHED]) return result;
  const { writeResult, revision } = context.route;
  const shaped = writeResult && result !== context.ownResult ? writeResult(result) : result;
  return revision.rules.resultType ? addModernMembers(shaped, context) : shaped;
}

function addModernMembers(result: JsonObject, { route, server }: Context): JsonObject {
  const resultType = result['resultType'] ?? 'complete';
  if (resultType === 'input_required' && route.facts && !route.facts.inputRequired)
    throw new InvalidHandlerResultError(`"${route.method}" may not be answered with input_required: only tools, prompts and resources ask`);
  const finished: Record<string, JsonValue | undefined> = { resultType, ...result };
  finished['resultType'] = resultType;
  const meta = result['_meta'];
  finished['_meta'] = isJsonObject(meta) ? { ...server.resultMeta, ...meta } : server.resultMeta;
  if (route.facts?.cacheable && resultType === 'complete') {
    // What is read is its reader's own unless the resource says otherwise.
    const { listTtlMs = 0, listScope = 'public', readTtlMs = 0 } = server.options.cache ?? {};
    const isRead = route.method === 'resources/read';
    if (!isTtl(finished['ttlMs'])) finished['ttlMs'] = isRead ? readTtlMs : listTtlMs;
    if (!isCacheScope(finished['cacheScope'])) finished['cacheScope'] = isRead ? 'private' : listScope;
  }
  return finished;
}

/** Whether a value can be a `ttlMs`. */
export function isTtl(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function isCacheScope(value: unknown): value is CacheScope {
  return value === 'public' || value === 'private';
}
