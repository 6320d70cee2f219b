/**
 * Serves legacy requests where the program turned sessions off: each request gets a session of its own, which begins as if `initialize`
 * had been done, and is gone with the answer. So requests of many clients cannot meet, whatever their ids.
 */

import type { JsonRpcNotification, JsonRpcRequest, Logger } from '@mortise/jsonrpc-core';
import { findRevision, type Revision } from '@mortise/protocol';
import type { LegacySession, McpEndpoint, SessionLink, SessionState } from '@mortise/protocol/contracts';
import { closeSession } from './close-session.ts';
import { type Caller, HostedCall } from './hosted-call.ts';
import { rejectUnreachable, UNANSWERED } from './reject-unreachable.ts';
import { HttpRefusal } from './refusal.ts';

/** Opens a session for one request of a client that never opened one: at once, where a session of its revision was opened before. */
export type StatelessOpener = (revision: Revision, caller: Caller) => LegacySession | Promise<LegacySession>;

/** A way to the client that leads nowhere: only the answer to the request at hand reaches it. */
export class NoLink implements SessionLink {
  readonly canRequest: boolean = false;
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  get principal(): Caller['principal'] {
    return this.#caller.principal;
  }

  get auth(): Caller['auth'] {
    return this.#caller.auth;
  }

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    return rejectUnreachable(message, 'this server runs with the option "sessions: false"');
  }
}

/** Opens sessions from the state that a handshake in their revision leaves, which is made once for each. */
export function createStatelessOpener(endpoint: McpEndpoint, logger: Logger): StatelessOpener {
  const states = new Map<string, SessionState>();
  const open = (state: SessionState, caller: Caller): LegacySession => endpoint.openSession(new NoLink(caller), state);
  return (revision, caller) => {
    const state = states.get(revision.version);
    if (state !== undefined) return open(state, caller);
    const session = endpoint.openSession(new NoLink(caller));
    return makeState(session, revision, caller)
      .finally(() => closeSession(session, logger))
      .then((made) => {
        states.set(revision.version, made);
        return open(made, caller);
      });
  };
}

async function makeState(session: LegacySession, revision: Revision, caller: Caller): Promise<SessionState> {
  const call = new QuietCall(caller);
  const params = { protocolVersion: revision.version, capabilities: {}, clientInfo: { name: 'unknown', version: '0' } };
  const response = await session.receive({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, call);
  if (response === undefined || 'error' in response || findRevision(response.result['protocolVersion']) !== revision) {
    throw new HttpRefusal(400, `The protocol version ${revision.version} is not supported here`);
  }
  await session.receive({ jsonrpc: '2.0', method: 'notifications/initialized' }, call);
  return session.state;
}

/** The call of a message that is not answered: nothing can be sent for it. */
export class QuietCall extends HostedCall {
  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    return rejectUnreachable(message, UNANSWERED);
  }
}
