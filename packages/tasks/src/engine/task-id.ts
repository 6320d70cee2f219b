/** The names of tasks. */

import { toBase64Url } from '@mortise/jsonrpc-core/encoding';

/** 192 bits, as base64url, so that an id may stand in a header. */
const ID_BYTES = 24;

/** The longest id that is looked up. */
export const MAX_ID_LENGTH = 128;

/** Makes an id that nobody can guess. */
export function createTaskId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return toBase64Url(bytes);
}

/** The beginning of an id, for logs: whoever reads them must not be able to use the task. */
export function shortId(id: string): string {
  return `${id.slice(0, 6)}...`;
}
