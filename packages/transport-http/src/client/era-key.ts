/** What a server is called by whoever remembers things about it, perhaps on disk. */

/**
 * The address without what may be secret: of a query the names and a digest of 32 bits, which tells addresses apart and gives nothing
 * away.
 */
export function toEraKey(url: string): string {
  const { origin, pathname, search, searchParams } = new URL(url);
  if (search === '') return origin + pathname;
  const names = [...new Set(searchParams.keys())].map((name) => encodeURIComponent(name));
  return `${origin}${pathname}?${names.join('&')}#${digest(search)}`;
}

/** FNV-1a. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
