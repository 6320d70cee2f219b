/** `mapTexts`: replaces texts in JSON that the server sends. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';

/** How many levels of nested JSON are changed. Deeper levels stay as they are; the protocol's own limit on nesting is lower. */
const MAX_DEPTH = 200;

/**
 * Copies a JSON value and replaces each string and number by what `change` returns. Returns the same value if nothing changes.
 *
 * @param change Called with a string or number and the name of the object member that holds it; '' for items of a list.
 */
export function mapTexts<T extends JsonValue>(value: T, change: (text: string | number, name: string) => string | number): T {
  const visit = (part: JsonValue, name: string, depth: number): JsonValue => {
    if (typeof part === 'string' || typeof part === 'number') return change(part, name);
    if (typeof part !== 'object' || part === null || depth > MAX_DEPTH) return part;
    if (Array.isArray(part)) {
      const items: readonly JsonValue[] = part;
      const changed = items.map((item) => visit(item, '', depth + 1));
      return changed.every((item, index) => item === items[index]) ? part : changed;
    }
    let copy: Record<string, JsonValue | undefined> | undefined;
    for (const [key, member] of Object.entries(part as JsonObject)) {
      if (member === undefined) continue;
      const changed = visit(member, key, depth + 1);
      if (changed !== member) (copy ??= { ...(part as JsonObject) })[key] = changed;
    }
    return copy ?? part;
  };
  // Each branch keeps the kind of its value, which the compiler cannot infer.
  return visit(value, '', 0) as T;
}
