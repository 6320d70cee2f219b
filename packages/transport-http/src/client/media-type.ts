/** What an answer's body is, by its exact media type. @see RFC 9110 section 8.3 */

export const JSON_TYPE = 'application/json';
export const SSE_TYPE = 'text/event-stream';

/** The media type in lower case and without its parameters; empty where there is none. */
export function mediaTypeOf(contentType: string | undefined): string {
  // What servers of MCP send is told without taking it apart.
  if (contentType === undefined || contentType === JSON_TYPE || contentType === SSE_TYPE) return contentType ?? '';
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}
