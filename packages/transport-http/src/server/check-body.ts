/** Tells whether a value that somebody else parsed nests more than so many levels. Stops at the bound, so its own depth is bounded too. */
export function isNestedDeeper(value: unknown, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (maxDepth === 0) return true;
  return Object.values(value).some((member) => isNestedDeeper(member, maxDepth - 1));
}
