/** What the channels of the legacy era say of a message: how much the wire brought, by which a `Connection` bounds what it serves at once. */

import type { MessageInfo } from '@mortise/jsonrpc-core/transport';

/** Messages that are shorter are bounded by their number, and so are spared an object. */
const LEAST_LENGTH_TOLD = 1024;

/** @param length Of the text that the message was read from. */
export function toMessageInfo(length: number): MessageInfo | undefined {
  return length < LEAST_LENGTH_TOLD ? undefined : { bytes: length };
}
