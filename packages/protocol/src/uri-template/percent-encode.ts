/** Percent-encodes text as UTF-8. Half a surrogate pair, which UTF-8 cannot say, becomes U+FFFD instead of an exception. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'));
}
