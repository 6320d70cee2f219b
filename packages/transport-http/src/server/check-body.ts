/** What every POST is held to, whichever of the endpoints it is for. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { PARSE_ERROR } from '@mortise/jsonrpc-core/messages';
import type { HttpRequest } from './http-request.ts';
import { isJsonContentType } from './media-types.ts';
import { HttpRefusal } from './refusal.ts';

/** @throws {HttpRefusal} 415: the body is announced as something else than JSON, or compressed. */
export function checkBodyHeaders(request: HttpRequest): void {
  if (!isJsonContentType(request.header('content-type')))
    throw new HttpRefusal(415, 'The body must be JSON: send "Content-Type: application/json"');
  const encoding = request.header('content-encoding');
  if (encoding !== undefined && encoding !== 'identity') throw new HttpRefusal(415, 'The body must not be compressed: send it as it is');
}

/** Gives back what a framework in front has made of a body. @throws {HttpRefusal} 400: it nests too deeply. */
export function checkParsedBody(body: unknown, maxDepth: number): JsonValue {
  if (isNestedDeeper(body, maxDepth))
    throw new HttpRefusal(400, `The JSON nests more than ${maxDepth} levels deep: send it flatter`, { rpcCode: PARSE_ERROR });
  return body as JsonValue;
}

/** Stops at the bound, so its own depth is bounded too. */
function isNestedDeeper(value: unknown, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (maxDepth === 0) return true;
  return Object.values(value).some((member) => isNestedDeeper(member, maxDepth - 1));
}
