/** Reads the id and the kind of a message that is over a bound, so that its request is answered, or its call rejected, at once. */

import { isRequestId } from './guards.ts';
import type { RequestId } from './message.ts';

/** What the edges of a message say of it. */
export interface MessageHead {
  readonly kind: 'request' | 'response';
  readonly id: RequestId;
}

/** How many characters of each edge are looked at. */
const EDGE = 1024;

/** The members with plain values before the first that has none, and that one's name. */
const FIRST_MEMBERS = /^\s*\{(?:\s*"[^"\\]*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d+|null)\s*,)*\s*"[^"\\]*"\s*:/;
// A quote inside a string is escaped, so these find names only.
const KIND = /[{,]\s*"(method|result|error)"\s*:/;
const ID = /[{,]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*,/;
/** In JSON only members of the outermost object stand right before the end. */
const ID_AT_END = /[{,]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/**
 * Reads the id and the kind of a message from its edges: most programs write the id before what is large, some behind it.
 *
 * @param text The message, or its first characters; 1,024 are enough.
 * @param end Its last characters, where `text` is the first ones alone.
 * @returns undefined where the edges do not say both.
 */
export function readMessageHead(text: string, end: string = text): MessageHead | undefined {
  const start = FIRST_MEMBERS.exec(text.slice(0, EDGE))?.[0] ?? '';
  const name = KIND.exec(start)?.[1];
  const id = toId(ID.exec(start)?.[1]) ?? toId(ID_AT_END.exec(end.slice(-EDGE))?.[1]);
  return name === undefined || id === undefined ? undefined : { kind: name === 'method' ? 'request' : 'response', id };
}

function toId(json: string | undefined): RequestId | undefined {
  try {
    const id: unknown = json === undefined ? undefined : JSON.parse(json);
    return isRequestId(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
