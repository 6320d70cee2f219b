/** What a client must have declared to be asked something. */

import type { ClientCapabilities, Revision } from '@mortise/protocol';
import { missingCapability, toCapabilities } from '@mortise/protocol/checks';
import type { Ask } from '@mortise/protocol/contracts';
import { ClientCapabilityError } from '../errors.ts';

/**
 * Refuses a question that the client did not say it can answer.
 *
 * @throws {ClientCapabilityError} `ERR_CLIENT_CAPABILITY`, naming what is missing.
 * @see 2026-07-28 basic/index#meta; 2025-11-25 basic/lifecycle#operation
 */
export function requireClientCapability(ask: Ask, revision: Revision, declared: ClientCapabilities): void {
  const name = missingCapability(declared, neededFor(ask, revision));
  if (name === undefined) return;
  throw new ClientCapabilityError(
    `"${ask.method}" needs the client capability "${name}", which this client does not declare`,
    toCapabilities(name),
  );
}

/** Dotted names, the outer before the inner. */
function neededFor(ask: Ask, revision: Revision): readonly string[] {
  const base = revision.requests.get(ask.method)?.clientCapability;
  if (base === undefined) return [];
  return [base, ...innerNeeds(ask).filter((name) => revision.clientCapabilities.has(name))];
}

function innerNeeds({ method, params = {} }: Ask): readonly string[] {
  if (method === 'elicitation/create') return [params['mode'] === 'url' ? 'elicitation.url' : 'elicitation.form'];
  if (method === 'sampling/createMessage' && (params['tools'] !== undefined || params['toolChoice'] !== undefined))
    return ['sampling.tools'];
  return [];
}
