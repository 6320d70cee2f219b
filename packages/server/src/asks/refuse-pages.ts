/** Pages that the user was asked to open, and would not. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_REQUEST } from '@mortise/jsonrpc-core/messages';
import type { Ask } from '@mortise/protocol/contracts';
import type { RequestCall } from '../request-call.ts';
import { nameCall } from './ask-identity.ts';

/** @throws {ProtocolError} The user refused: asking again would not end. */
export function refusePages(call: RequestCall, asks: readonly Ask[]): void {
  const answers = call.round?.inputResponses ?? {};
  const isRefused = asks.some(({ key = '' }) => {
    const action = Object.hasOwn(answers, key) ? answers[key]?.['action'] : undefined;
    return action === 'decline' || action === 'cancel';
  });
  if (isRefused) throw new ProtocolError(INVALID_REQUEST, `${nameCall(call)} cannot go on: the user did not open the page that it needs`);
}
