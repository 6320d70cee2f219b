/** Whether a result has what its method promises: a server's answer is not taken at its word. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CallToolResult } from '@mortise/protocol/model';
import { InvalidResultError } from './errors.ts';

/** Older servers leave `content` out where there is structured content. */
export function toToolResult(result: CallToolResult): CallToolResult {
  const content: unknown = result.content;
  if (Array.isArray(content)) return result;
  if (content === undefined) return { ...result, content: [] };
  throw malformedResult('tools/call', 'content');
}

/** Passes a result on whose list is one. @throws {InvalidResultError} */
export function withArray<T extends JsonObject>(method: string, key: string, result: T): T {
  if (Array.isArray(result[key])) return result;
  throw malformedResult(method, key);
}

/** What to say of a result that lacks a list. */
export function malformedResult(method: string, key: string): InvalidResultError {
  return new InvalidResultError(`the result of "${method}" must have an array "${key}": the server is at fault`);
}
