/** Whether what a client sends is too much to be kept for as long as its session lives. */

/** What each value counts beside its text: an empty object takes memory, too. */
const VALUE_COST = 64;

/** @param max In characters of its texts and keys, where each value counts 64 more. */
export function isHeavier(value: unknown, max: number): boolean {
  const open: unknown[] = [value];
  let weight = 0;
  while (open.length > 0 && weight <= max) {
    const next = open.pop();
    weight += VALUE_COST;
    if (typeof next === 'string') weight += next.length;
    if (typeof next !== 'object' || next === null) continue;
    for (const [key, member] of Object.entries(next)) {
      if (!Array.isArray(next)) weight += key.length;
      open.push(member);
    }
  }
  return weight > max;
}
