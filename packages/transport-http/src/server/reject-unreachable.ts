/** What a sender is told whose message has no way to the client. */

import type { JsonRpcNotification, JsonRpcRequest } from '@mortise/jsonrpc-core';
import { NoStreamError } from '../errors.ts';

/** Of what is sent for a message that is itself not answered. */
export const UNANSWERED = 'the message at hand has no answer that could carry it';

/** Rejects with a `NoStreamError`. @param why As in "cannot reach the client: …". */
export function rejectUnreachable({ method }: JsonRpcNotification | JsonRpcRequest, why: string): Promise<never> {
  return Promise.reject(new NoStreamError(`"${method}" cannot reach the client: ${why}`));
}
