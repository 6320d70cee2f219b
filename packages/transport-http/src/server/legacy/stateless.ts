/**
 * Serves legacy requests where the program turned sessions off: each request gets a session of its own, which begins as if `initialize`
 * had been done, and is gone with the answer. So requests of many clients cannot meet, whatever their ids.
 */

import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, Logger } from '@mortise/jsonrpc-core';
import { findRevision, type Revision } from '@mortise/protocol';
import type { AuthInfo, LegacySession, McpEndpoint, Principal, SessionLink, SessionState } from '@mortise/protocol/contracts';
import type { HttpExchange } from '../http/http-exchange.ts';
import { HttpRefusal } from '../http/refusal.ts';
import { closeSession } from './http-session.ts';
import { LegacyCall, rejectUnreachable } from './legacy-call.ts';

/** Opens a session for one request of a client that never opened one: at once, where a session of its revision was opened before. */
export type StatelessOpener = (revision: Revision, http: HttpExchange) => LegacySession | Promise<LegacySession>;

/** The link of a session without a way to its client: only the answer to the request at hand reaches it. */
export class NoLink implements SessionLink {
  readonly canRequest: boolean = false;
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;

  constructor({ principal, auth }: HttpExchange) {
    this.principal = principal;
    this.auth = auth;
  }

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    return rejectUnreachable(message, 'this server runs with the option "sessions: false"');
  }
}

/** Opens sessions from the state that a handshake in their revision leaves, which is made once for each. */
export function createStatelessOpener(endpoint: McpEndpoint, logger: Logger): StatelessOpener {
  const states = new Map<string, SessionState>();
  const open = (state: SessionState, http: HttpExchange): LegacySession => endpoint.openSession(new NoLink(http), state);
  return (revision, http) => {
    const state = states.get(revision.version);
    if (state !== undefined) return open(state, http);
    const session = endpoint.openSession(new NoLink(http));
    return makeState(session, revision, http)
      .finally(() => closeSession(session, logger))
      .then((made) => {
        states.set(revision.version, made);
        return open(made, http);
      });
  };
}

/** The revision in a successful response to `initialize`. */
export function agreedRevision(response: JsonRpcResponse | undefined): Revision | undefined {
  return response !== undefined && 'result' in response ? findRevision(response.result['protocolVersion']) : undefined;
}

async function makeState(session: LegacySession, revision: Revision, http: HttpExchange): Promise<SessionState> {
  const call = new LegacyCall(http);
  const params = { protocolVersion: revision.version, capabilities: {}, clientInfo: { name: 'unknown', version: '0' } };
  const response = await session.receive({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, call);
  if (agreedRevision(response) !== revision) throw new HttpRefusal(400, `The protocol version ${revision.version} is not supported here`);
  await session.receive({ jsonrpc: '2.0', method: 'notifications/initialized' }, call);
  return session.state;
}
