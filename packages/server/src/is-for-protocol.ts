/** Which errors of a tool are answered by a JSON-RPC error instead of a result that says that it failed. */

import { isMortiseError } from '@mortise/jsonrpc-core';
import { MISSING_CLIENT_CAPABILITY } from '@mortise/protocol/wire';
import type { CallFacts } from './call-facts.ts';

/** What is no failure of the tool: errors with a code of their own, what extensions and hosts wait for, what nobody waits for. */
export function isForProtocol(error: unknown, facts: Pick<CallFacts, 'isOver' | 'revision'>): boolean {
  if (facts.isOver) return true;
  if (!isMortiseError(error)) return false;
  if (error.code === 'ERR_CLIENT_CAPABILITY') return [...facts.revision.errorCodes.values()].includes(MISSING_CLIENT_CAPABILITY);
  return error.code === 'ERR_PROTOCOL' || error.code === 'ERR_AUTH_CHALLENGE' || error.code === 'ERR_SUSPENDED';
}
