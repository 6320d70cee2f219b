/**
 * Serves legacy requests when sessions are off. Each POST gets its own session, which starts as after a handshake and ends with the POST. So
 * requests of different clients with equal ids do not collide.
 */

import type { JsonRpcResponse } from '@mortise/jsonrpc-core';
import { findRevision, type Revision } from '@mortise/protocol';
import type { SessionState } from '@mortise/protocol/contracts';
import type { HttpExchange } from '../http/http-exchange.ts';
import { HttpRefusal } from '../http/refusal.ts';
import { HttpSession } from './http-session.ts';
import { LegacyCall } from './legacy-call.ts';

/** Opens a session for one POST. The state after a handshake is made once for each revision. */
export async function openStateless(http: HttpExchange, revision: Revision): Promise<HttpSession> {
  const { statelessStates, settings } = http.handler;
  if (settings.skipsHandshake === true) return new HttpSession(http, undefined);
  const state = statelessStates.get(revision) ?? (await makeState(http, revision));
  statelessStates.set(revision, state);
  return new HttpSession(http, undefined, state);
}

async function makeState(http: HttpExchange, revision: Revision): Promise<SessionState> {
  const session = new HttpSession(http, undefined);
  const call = new LegacyCall(http);
  const params = { protocolVersion: revision.version, capabilities: {}, clientInfo: { name: 'unknown', version: '0' } };
  try {
    const response = await session.legacy.receive({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, call);
    if (agreedRevision(response) !== revision) throw new HttpRefusal(400, `The protocol version ${revision.version} is not supported here`);
    await session.legacy.receive({ jsonrpc: '2.0', method: 'notifications/initialized' }, call);
    return session.legacy.state;
  } finally {
    await session.close();
  }
}

/** The revision in a successful response to `initialize`. */
export function agreedRevision(response: JsonRpcResponse | undefined): Revision | undefined {
  return response !== undefined && 'result' in response ? findRevision(response.result['protocolVersion']) : undefined;
}
