/** Checks a server's result where it becomes canonical, in both eras: the program gets no shape that its types deny. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { checkListItem, checkServerResult } from '@mortise/protocol/checks';
import { InvalidResultError } from './errors.ts';
import { LIST_KEYS } from './lists.ts';

/** What a server writes under the keys of `_meta` is its own business, and a malformed hint for caches is none. */
const LENIENT = { _meta: undefined, ttlMs: undefined, cacheScope: undefined };

/**
 * Gives the result back.
 *
 * A malformed item of a list is reported and left out, so that it does not hide the others. Methods that MCP does not know pass.
 *
 * @throws {InvalidResultError} It is not a result of this method.
 */
export function checkResult(method: string, given: JsonObject, report: (error: Error) => void): JsonObject {
  // Older servers leave `content` out where there is structured content.
  const result = method === 'tools/call' && given['content'] === undefined ? { ...given, content: [] } : given;
  const problem = checkServerResult(method, result);
  if (problem !== undefined && checkServerResult(method, { ...result, ...LENIENT }) !== undefined) {
    throw new InvalidResultError(`the server's answer to "${method}" is not a valid result: ${problem}`, { result: given });
  }
  const key = LIST_KEYS.get(method);
  return key === undefined ? result : withoutMalformed(method, key, result, report);
}

function withoutMalformed(method: string, key: string, result: JsonObject, report: (error: Error) => void): JsonObject {
  const items = result[key] as readonly JsonObject[];
  const good = items.filter((item) => {
    const reason = checkListItem(method, item);
    if (reason !== undefined) report(new InvalidResultError(`"${method}" lists a malformed item: ${reason}`, { result: item }));
    return reason === undefined;
  });
  return good.length === items.length ? result : { ...result, [key]: good };
}
