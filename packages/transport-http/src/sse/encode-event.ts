/** Writes server-sent events. @see https://html.spec.whatwg.org/multipage/server-sent-events.html */

/** One event, or a part of one: an event without `data` is not dispatched by readers, but its `id` and `retry` count. */
export interface SseEventFields {
  /** What kind of event it is. @default 'message' */
  readonly event?: string;
  /** What the reader sends back as `Last-Event-ID`. Must have no line break. @default none */
  readonly id?: string | undefined;
  /** Text of the event; may have line breaks. @default none: the event has no data */
  readonly data?: string;
  /** How long the reader waits before it connects again, in milliseconds. @default none: as before */
  readonly retryMs?: number | undefined;
}

/** A comment: keeps a quiet connection open. Readers skip it. */
export const SSE_KEEP_ALIVE = ':\n\n';

/** Writes one event with the blank line that ends it. */
export function encodeEvent(fields: SseEventFields): string {
  let text = '';
  if (fields.event !== undefined) text += `event: ${fields.event}\n`;
  if (fields.id !== undefined) text += `id: ${fields.id}\n`;
  if (fields.retryMs !== undefined) text += `retry: ${Math.ceil(fields.retryMs)}\n`;
  if (fields.data !== undefined) text += encodeData(fields.data);
  return `${text}\n`;
}

/** Writes a JSON-RPC message as an event. The JSON is one line, as `serializeMessage` writes it, and is not looked at again. */
export function encodeMessageEvent(json: string, id?: string): string {
  return id === undefined ? `event: message\ndata: ${json}\n\n` : `event: message\nid: ${id}\ndata: ${json}\n\n`;
}

function encodeData(data: string): string {
  return data
    .split(/\r\n|\r|\n/)
    .map((line) => `data: ${line}\n`)
    .join('');
}
