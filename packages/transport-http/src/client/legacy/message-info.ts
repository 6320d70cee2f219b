/** What the channels of the legacy era say of a message: how long it is, by which a `Connection` bounds what it serves at once. */

import { measureMessage } from '@mortise/jsonrpc-core/messages';
import type { MessageInfo } from '@mortise/jsonrpc-core/transport';

/** @param text What the value was read from; empty where this side has made it. */
export function toMessageInfo(text: string): MessageInfo | undefined {
  const bytes = measureMessage(text);
  return bytes === undefined ? undefined : { bytes };
}
