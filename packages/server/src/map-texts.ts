/** Walks over JSON that leaves the server, and changes the texts in it. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';

/** Deeper than this nothing is looked at; the protocol's own bound on nesting is lower. */
const MAX_DEPTH = 200;

/**
 * A copy of a value in which each text and number is what `change` makes of it; the value itself where nothing changes.
 *
 * @param change Is given the name of the member that holds the text; '' for items of a list.
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
  // Every branch gives back a value of the kind that it was given, which the compiler cannot follow.
  return visit(value, '', 0) as T;
}
