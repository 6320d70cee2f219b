/** From a request of a legacy session to the call that serves it: only here is it looked up which revision was agreed on. */

import { type JsonObject, type JsonRpcRequest, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, INVALID_REQUEST } from '@mortise/jsonrpc-core/messages';
import type { Implementation, Revision } from '@mortise/protocol';
import { checkClientParams } from '@mortise/protocol/checks';
import type { Call } from '@mortise/protocol/contracts';
import { negotiateLegacy } from '@mortise/protocol/revisions';
import { invalidParamsError, META_PROTOCOL_VERSION } from '@mortise/protocol/wire';
import { isHeavier } from '../is-heavier.ts';
import type { ClientFacts } from '../middleware/middleware.ts';
import { metaOf, paramsOf, RequestCall } from '../request-call.ts';
import type { ServerCore } from '../server-core.ts';
import { methodNotFoundError } from '../wire-error.ts';
import type { Session } from './session.ts';

/** Room for a small icon as a `data:` URI. */
const MAX_CLIENT_FACTS = 64 * 1024;

/**
 * @throws {ProtocolError} The session speaks no revision yet, has no such method, or the params are malformed.
 */
export function toSessionCall(session: Session, request: JsonRpcRequest, host: Call): RequestCall {
  const { core } = session;
  const { method } = request;
  const isOpening = method === 'initialize';
  const revision = isOpening ? negotiate(session, request) : (session.revision ?? findBeforeOpening(core, method));
  const resolved = core.resolve(revision, method);
  if (!resolved) throw methodNotFoundError(method);
  const problem = resolved.facts && checkClientParams(method, request.params);
  if (problem !== undefined) throw invalidParamsError(problem);
  const wire = paramsOf(request.params);
  const params = resolved.readParams?.(wire) ?? wire;
  return new RequestCall({
    core,
    resolved,
    requestId: request.id,
    params,
    meta: metaOf(wire),
    client: isOpening ? toClientFacts(params) : session.client,
    host,
    via: 'channel',
    session,
  });
}

/** What may be said before `initialize`: a ping, and nothing else. */
function findBeforeOpening(core: ServerCore, method: string): Revision {
  const revision = negotiateLegacy(undefined, core.revisions);
  if (method === 'ping' && revision) return revision;
  const modern = [...core.modern.keys()];
  const ways = [
    ...(revision ? ['send "initialize" first'] : []),
    ...(modern.length > 0 ? [`name the protocol version (${modern.join(', ')}) in params._meta["${META_PROTOCOL_VERSION}"]`] : []),
  ];
  throw new ProtocolError(INVALID_PARAMS, `"${method.slice(0, 100)}" came before a protocol version was agreed on: ${ways.join(', or ')}`, {
    supported: core.versions,
  });
}

function negotiate({ core, revision: agreed }: Session, request: JsonRpcRequest): Revision {
  if (agreed) throw new ProtocolError(INVALID_REQUEST, 'This session is already initialized: open another connection for another session');
  const revision = negotiateLegacy(request.params?.['protocolVersion'], core.revisions);
  if (revision) return revision;
  const { versions } = core;
  throw new ProtocolError(
    methodNotFoundError('initialize').rpcCode,
    `"initialize" is not spoken here: the supported protocol versions are ${versions.join(', ')}`,
    {
      supported: versions,
    },
  );
}

/**
 * What is kept of a client for as long as its session lives: where all is too much, not its icons, and then not what describes it for people.
 *
 * @throws {ProtocolError} -32602: the rest is too much, too.
 */
function toClientFacts({ clientInfo, capabilities }: JsonObject): ClientFacts {
  const { icons: _icons, ...plain } = clientInfo as JsonObject;
  const { description: _description, websiteUrl: _websiteUrl, ...bare } = plain;
  const info = [clientInfo, plain, bare].find((kept) => !isHeavier([kept, capabilities], MAX_CLIENT_FACTS));
  if (info === undefined) {
    throw invalidParamsError(
      `"clientInfo" and "capabilities" hold more than a session keeps, which is ${MAX_CLIENT_FACTS} characters with 64 for each value: say less of this client`,
    );
  }
  return { info: info as unknown as Implementation, capabilities: capabilities as ClientFacts['capabilities'] };
}
