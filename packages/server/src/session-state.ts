/** What a hosted session remembers, as the plain JSON that its host keeps. */

import { ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { findRevision, type ServerCapabilities } from '@mortise/protocol';
import { isLoggingLevel } from '@mortise/protocol/checks';
import type { SessionState } from '@mortise/protocol/contracts';
import { negotiateLegacy } from '@mortise/protocol/revisions';
import type { SessionFacts } from './era/session.ts';
import type { ClientFacts } from './middleware/middleware.ts';
import type { ServerCore } from './server-core.ts';

/** The layout of `state`. Counted up whenever what is inside changes its meaning. */
const LAYOUT = 1;

/** @param facts Undefined for a session that was not opened yet. */
export function toState(facts: SessionFacts | undefined): SessionState {
  if (!facts) return { layout: LAYOUT };
  return {
    layout: LAYOUT,
    revision: facts.revision.version,
    client: { capabilities: facts.client.capabilities, ...(facts.client.info ? { info: facts.client.info } : {}) },
    advertised: facts.advertised,
    isReady: facts.isReady,
    ...(facts.logLevel ? { logLevel: facts.logLevel } : {}),
    ...(facts.uris.length > 0 ? { subscriptions: facts.uris } : {}),
  };
}

/**
 * Gives undefined for a session that had not been opened yet.
 *
 * @throws {ProtocolError} -32602: the state has a layout or revision that this server does not know.
 */
export function fromState(state: SessionState, core: ServerCore): SessionFacts | undefined {
  if (state.layout !== LAYOUT)
    throw new ProtocolError(
      INVALID_PARAMS,
      `The saved session has layout ${String(state.layout)}, this server knows ${LAYOUT}: open a new session`,
    );
  const { revision: version, client, advertised, isReady, logLevel, subscriptions } = state;
  if (version === undefined) return undefined;
  const revision = findRevision(version);
  if (!revision || negotiateLegacy(version, core.revisions) !== revision) {
    throw new ProtocolError(INVALID_PARAMS, `The saved session speaks ${String(version)}, this server does not: open a new session`);
  }
  return {
    revision,
    client: client as unknown as ClientFacts,
    isReady: isReady === true,
    logLevel: isLoggingLevel(logLevel) ? logLevel : undefined,
    uris: Array.isArray(subscriptions) ? subscriptions.filter((uri) => typeof uri === 'string') : [],
    advertised: (advertised ?? {}) as ServerCapabilities,
  };
}
