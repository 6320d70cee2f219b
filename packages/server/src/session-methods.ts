/** The methods that exist only within a legacy session, and end there. */

import { type JsonObject, type LogLevel, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import type { Context } from './context.ts';
import type { Server } from './server.ts';
import type { Session } from './session.ts';

const NOTHING: JsonObject = Object.freeze({});

/** Gives a server the methods of the handshake and of sessions. */
export function addSessionMethods(server: Server): void {
  const add = (method: string, run: (session: Session, params: JsonObject, context: Context) => JsonObject | void): void =>
    server.setMethod(method, { run: (params, context) => run(sessionOf(context), params, context) ?? NOTHING });
  add('initialize', initialize);
  server.setMethod('ping', { run: () => NOTHING });
  add('logging/setLevel', (session, { level }) => session.setLogLevel(level as LogLevel));
  add('resources/subscribe', (session, { uri }) => session.subscribe(String(uri)));
  add('resources/unsubscribe', (session, { uri }) => session.unsubscribe(String(uri)));
}

function initialize(session: Session, _params: JsonObject, { server, revision, client }: Context): JsonObject {
  const capabilities = session.open(revision, client);
  const { instructions } = server.options;
  return {
    protocolVersion: revision.version,
    capabilities,
    serverInfo: server.info,
    ...(instructions === undefined ? {} : { instructions }),
  };
}

function sessionOf({ session, method }: Context): Session {
  if (!session) throw new ProtocolError(INTERNAL_ERROR, `"${method}" needs a session`);
  return session;
}
