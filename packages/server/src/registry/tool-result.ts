/** Converts what a tool's handler returns, in any of the short forms, to a tool result. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { andThen } from '@mortise/jsonrpc-core/connection';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { CallToolResult } from '@mortise/protocol';
import { checkContentBlock } from '@mortise/protocol/checks';
import type { SchemaAdapter, SchemaOutcome } from '@mortise/protocol/contracts';
import { InvalidHandlerResultError } from '../errors.ts';
import { describeIssues } from '../schema/describe-issues.ts';

/**
 * Converts what a tool's handler returned to a tool result. Text and blocks become `content`. `structuredContent` is checked against the
 * output schema, takes the schema's output value, and is repeated as JSON text if there is no `content`. An `isError` result is not
 * checked. Results of another type (`resultType: 'input_required'`, or an extension's) are left unchanged.
 *
 * Returns a promise only if the output schema's check does.
 *
 * @param output Checks `structuredContent`. Undefined for a tool without `outputSchema`.
 * @throws {InvalidHandlerResultError} `ERR_HANDLER_RESULT`: not a valid result, or `outputSchema` does not allow it. The message is for the server's
 * author: it names types, never values.
 * @see 2026-07-28 server/tools#structured-content
 */
export function toToolResult(value: unknown, tool: string, output: SchemaAdapter | undefined): CallToolResult | Promise<CallToolResult> {
  const result = toResultObject(value, tool);
  const { resultType, structuredContent } = result;
  if (typeof resultType === 'string' && resultType !== 'complete') return result as CallToolResult;
  if (output === undefined || result['isError'] === true) return complete(result, structuredContent, tool);
  if (structuredContent === undefined)
    throw fault(
      tool,
      'outputSchema is declared, but the handler gave no structuredContent: return { structuredContent }, or { isError: true, content }',
    );
  return andThen(output.validate(structuredContent), (outcome) => complete(result, readOutput(outcome, structuredContent, tool), tool));
}

function toResultObject(value: unknown, tool: string): JsonObject {
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }] };
  if (Array.isArray(value)) return { content: value };
  if (!isJsonObject(value))
    throw fault(
      tool,
      `the handler gave ${value == null ? String(value) : `a ${typeof value}`}: return text, content blocks, { content } or { structuredContent }`,
    );
  return value['content'] === undefined && value['type'] !== undefined && checkContentBlock(value) === undefined
    ? { content: [value] }
    : value;
}

function readOutput(outcome: SchemaOutcome<unknown>, value: JsonValue, tool: string): JsonValue | undefined {
  if (!('issues' in outcome)) return outcome.value as JsonValue | undefined;
  const about = { owner: `tool "${tool}"`, part: 'structuredContent field', whole: 'structuredContent', value, showValues: false };
  throw new InvalidHandlerResultError(`${describeIssues(outcome.issues, about)}: the handler must return what outputSchema describes`);
}

function complete(result: JsonObject, structuredContent: JsonValue | undefined, tool: string): CallToolResult {
  const content: unknown = result['content'] ?? repeatAsText(result, structuredContent, tool);
  if (!Array.isArray(content))
    throw fault(tool, `"content" must be an array of blocks, got ${content instanceof Promise ? 'a promise: await it' : typeof content}`);
  for (let i = 0; i < content.length; i += 1) checkBlock(content[i], i, tool);
  if (result['content'] === content && result['structuredContent'] === structuredContent) return result as CallToolResult;
  // Written member by member, because a copy with `...rest` is slower than everything else here.
  const completed: Record<string, JsonValue | undefined> = { content };
  if (structuredContent !== undefined) completed['structuredContent'] = structuredContent;
  for (const key of Object.keys(result)) if (key !== 'content' && key !== 'structuredContent') completed[key] = result[key];
  return completed as CallToolResult;
}

/** Makes `content` from `structuredContent`, as JSON text (also `null`). An `isError` result without content gets an empty list. */
function repeatAsText(result: JsonObject, structuredContent: JsonValue | undefined, tool: string): JsonValue {
  if (structuredContent === undefined) {
    if (result['isError'] === true || result['_meta'] !== undefined) return [];
    const fields =
      Object.keys(result)
        .slice(0, 5)
        .map((name) => `"${name}"`)
        .join(', ') || 'no fields';
    throw fault(
      tool,
      `the handler gave an object without content: put its fields into { structuredContent: ... }, got an object with ${fields}`,
    );
  }
  try {
    return [{ type: 'text', text: JSON.stringify(structuredContent) }];
  } catch (cause) {
    throw fault(tool, 'structuredContent is not JSON: it contains a cycle or a BigInt (convert a BigInt to a string)', cause);
  }
}

/** Checks one content block of a tool result. @see 2026-07-28 server/tools#tool-result */
function checkBlock(block: unknown, index: number, tool: string): void {
  const { type, text, data } = (block ?? {}) as { readonly type?: unknown; readonly text?: unknown; readonly data?: unknown };
  // Fast path: nearly every block is text.
  if (type === 'text' && typeof text === 'string') return;
  const reason = checkContentBlock(block) ?? (isBase64(data) ? undefined : '.data must be padded base64, not text and not a data: URL');
  if (reason !== undefined) throw fault(tool, `content[${index}]${reason}`);
}

/** Tells whether the `data` of an image or audio block is valid base64. */
function isBase64(data: unknown): boolean {
  return typeof data !== 'string' || (data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data));
}

function fault(tool: string, reason: string, cause?: unknown): InvalidHandlerResultError {
  return new InvalidHandlerResultError(`tool "${tool}": ${reason}`, cause === undefined ? undefined : { cause });
}
