/** What the channels of the legacy era say of a message: how much it takes, by which a `Connection` bounds what it serves at once. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { measureMessage } from '@mortise/jsonrpc-core/messages';
import type { MessageInfo } from '@mortise/jsonrpc-core/transport';

/** @param text What the value was read from; empty where this side has made it. */
export function toMessageInfo(text: string, value: JsonValue): MessageInfo | undefined {
  const bytes = measureMessage(text, value);
  return bytes === undefined ? undefined : { bytes };
}
