/** The methods that exist only within a legacy session, and end there. */

import { type JsonObject, type LogLevel, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import type { RequestCall } from '../request-call.ts';
import type { MethodEntry, MethodFn } from '../resolved-method.ts';
import type { ServerCore } from '../server-core.ts';
import type { Session } from './session.ts';

const NOTHING: JsonObject = Object.freeze({});

/** Gives a server the methods of the handshake and of sessions. */
export function addSessionMethods(core: ServerCore): void {
  core.setMethod('initialize', quick(initialize));
  core.setMethod(
    'ping',
    quick(() => NOTHING),
  );
  core.setMethod(
    'logging/setLevel',
    quick((params, call) => setLevel(params['level'] as LogLevel, call)),
  );
  core.setMethod(
    'resources/subscribe',
    quick((params, call) => subscribe(String(params['uri']), call)),
  );
  core.setMethod(
    'resources/unsubscribe',
    quick((params, call) => unsubscribe(String(params['uri']), call)),
  );
}

function quick(run: MethodFn): MethodEntry {
  return { run, isBounded: true };
}

function initialize(_params: JsonObject, call: RequestCall): JsonObject {
  const { core, revision, client } = call;
  const capabilities = sessionOf(call).open(revision, client);
  const { instructions } = core.options;
  return {
    protocolVersion: revision.version,
    capabilities,
    serverInfo: core.info,
    ...(instructions === undefined ? {} : { instructions }),
  };
}

function setLevel(level: LogLevel, call: RequestCall): JsonObject {
  sessionOf(call).setLogLevel(level);
  return NOTHING;
}

function subscribe(uri: string, call: RequestCall): JsonObject {
  sessionOf(call).subscribe(uri);
  return NOTHING;
}

function unsubscribe(uri: string, call: RequestCall): JsonObject {
  sessionOf(call).unsubscribe(uri);
  return NOTHING;
}

function sessionOf(call: RequestCall): Session {
  if (!call.session) throw new ProtocolError(INTERNAL_ERROR, `"${call.method}" needs a session`);
  return call.session;
}
