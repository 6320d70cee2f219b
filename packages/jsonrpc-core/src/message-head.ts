/** Finds out what a message is for whose text is not read because it is over a bound, so that whoever waits for it need not wait in vain. */

import { isRequestId } from './guards.ts';
import type { RequestId } from './message.ts';

/** What the edges of a message say of it. */
export interface MessageHead {
  readonly kind: 'request' | 'response';
  readonly id: RequestId;
}

/** How many characters of each edge are looked at. */
const MOST_CHARACTERS = 1024;

const OPENING = /^\s*\{/y;
const NAME = /\s*"([^"\\]*)"\s*:\s*/y;
const PLAIN_VALUE = /("(?:[^"\\]|\\.)*"|-?\d+|null)\s*,/y;
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
  const { kind, id = readLastId(end.slice(-MOST_CHARACTERS)) } = readFirstMembers(text.slice(0, MOST_CHARACTERS));
  return kind === undefined || id === undefined ? undefined : { kind, id };
}

/** Goes from member to member until one is no plain value. */
function readFirstMembers(text: string): { kind?: MessageHead['kind']; id?: RequestId } {
  const found: { kind?: MessageHead['kind']; id?: RequestId } = {};
  let at = matchAt(OPENING, text, 0)?.end;
  while (at !== undefined) {
    const name = matchAt(NAME, text, at);
    if (name?.found === 'method') found.kind = 'request';
    if (name?.found === 'result' || name?.found === 'error') found.kind ??= 'response';
    const value = name && matchAt(PLAIN_VALUE, text, name.end);
    const id = name?.found === 'id' && value ? toId(value.found) : undefined;
    if (id !== undefined) found.id = id;
    at = value?.end;
  }
  return found;
}

function readLastId(text: string): RequestId | undefined {
  const found = ID_AT_END.exec(text)?.[1];
  return found === undefined ? undefined : toId(found);
}

function matchAt(pattern: RegExp, text: string, at: number): { readonly found: string; readonly end: number } | undefined {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match ? { found: match[1] ?? '', end: pattern.lastIndex } : undefined;
}

function toId(json: string): RequestId | undefined {
  try {
    const id: unknown = JSON.parse(json);
    return isRequestId(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
