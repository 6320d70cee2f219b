/** What a peer wrote, made fit for a message of ours. */

/** A peer's words, bounded and on one line. */
export function toSafeText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value.replace(/[^\x20-\x7e\u00a0-\ufffd]/g, ' ').slice(0, 300);
}

/** A peer's list, for a message: what is no text in it is left out. */
export function listNames(values: readonly unknown[]): string {
  const names = values.filter((value) => typeof value === 'string');
  return toSafeText(names.join(', '))?.slice(0, 200) ?? 'none';
}
