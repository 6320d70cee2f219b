/** How much memory a value of the server's takes, roughly. */

import type { JsonValue } from '@mortise/jsonrpc-core';

/** Adds up what a value holds, in characters of its strings and a few for each value, no further than to just beyond a limit. */
export function weigh(value: JsonValue, limit: number): number {
  let weight = 0;
  const waiting: (JsonValue | undefined)[] = [value];
  while (waiting.length > 0 && weight <= limit) {
    const next = waiting.pop();
    weight += typeof next === 'string' ? next.length : 8;
    if (typeof next === 'object' && next !== null) for (const [key, inner] of Object.entries(next)) waiting.push(key, inner as JsonValue);
  }
  return weight;
}
