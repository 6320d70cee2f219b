/** Structured content repeated as text, for clients whose revision cannot carry it, or that only read text. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';

/**
 * Adds `structuredContent` as a text block of JSON where no text block holds it already. Does not drop it.
 *
 * @see 2026-07-28 server/tools#structured-content
 */
export function mirrorStructuredContent(result: JsonObject): JsonObject {
  const { structuredContent, content } = result;
  if (structuredContent === undefined) return result;
  const text = JSON.stringify(structuredContent);
  const blocks: readonly JsonValue[] = Array.isArray(content) ? content : [];
  if (blocks.some((block) => isMirror(block, text, structuredContent))) return result;
  return { ...result, content: [...blocks, { type: 'text', text }] };
}

/** Compact, or indented by two as people write it. */
function isMirror(block: JsonValue, compact: string, structured: JsonValue): boolean {
  const text = (block as JsonObject | null)?.['text'];
  return typeof text === 'string' && (text === compact || text === JSON.stringify(structured, null, 2));
}
