/** `ctx.completeElicitation`: tells a client that a page it was asked to open is done with. */

import type { JsonRpcNotification } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { hasCapability } from '@mortise/protocol/checks';
import type { CallFacts } from '../call-facts.ts';

/**
 * Goes to the client of this call and to no other; after the call too, as long as its session lives. Where the wire has no such
 * notification the client sees when it asks again, and nothing is sent.
 *
 * @see 2025-11-25 client/elicitation#completion-notifications-for-url-mode-elicitation
 */
export function completeElicitation(facts: CallFacts, elicitationId: string): Promise<void> {
  const { revision, client } = facts;
  if (!revision.rules.elicitationIds || !hasCapability(client.capabilities, 'elicitation.url')) return resolvedPromise;
  const notification: JsonRpcNotification = {
    jsonrpc: '2.0',
    method: 'notifications/elicitation/complete',
    params: { elicitationId },
  };
  if (!facts.isOver) return facts.report(notification);
  facts.session?.tell(notification, undefined);
  return resolvedPromise;
}
