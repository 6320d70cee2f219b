/** Writes server-sent events. @see https://html.spec.whatwg.org/multipage/server-sent-events.html */

/** The fields of one server-sent event. Readers ignore an event without `data`, but use its `id` and `retry`. */
export interface SseEventFields {
  /** The event's type. @default 'message' */
  readonly event?: string;
  /** The id that the reader sends back as `Last-Event-ID`. Must not have a line break. @default none */
  readonly id?: string | undefined;
  /** The event's text, which may have line breaks. @default none: the event has no data */
  readonly data?: string;
  /** How long the reader waits before it reconnects, in milliseconds. @default none: the time does not change */
  readonly retryMs?: number | undefined;
}

/** An SSE comment. Sent on a stream without events, it keeps the connection open; readers skip it. */
export const SSE_KEEP_ALIVE = ':\n\n';

/** Encodes one server-sent event, including the blank line that ends it. */
export function encodeEvent(fields: SseEventFields): string {
  let text = '';
  if (fields.event !== undefined) text += `event: ${fields.event}\n`;
  if (fields.id !== undefined) text += `id: ${fields.id}\n`;
  if (fields.retryMs !== undefined) text += `retry: ${Math.ceil(fields.retryMs)}\n`;
  if (fields.data !== undefined) text += encodeData(fields.data);
  return `${text}\n`;
}

/** Encodes a JSON-RPC message as a server-sent event. Does NOT check that the JSON is one line, as it is from `serializeMessage`. */
export function encodeMessageEvent(json: string, id?: string): string {
  return id === undefined ? `event: message\ndata: ${json}\n\n` : `event: message\nid: ${id}\ndata: ${json}\n\n`;
}

function encodeData(data: string): string {
  return data
    .split(/\r\n|\r|\n/)
    .map((line) => `data: ${line}\n`)
    .join('');
}
