/** The built-in methods of every server: discovery, subscriptions, the legacy handshake, and the methods of legacy sessions. */

import { type JsonObject, type LogLevel, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import type { Revision } from '@mortise/protocol';
import { negotiateLegacy } from '@mortise/protocol/revisions';
import { META_PROTOCOL_VERSION } from '@mortise/protocol/wire';
import type { Context } from './context.ts';
import type { Server } from './server.ts';
import type { Session } from './session.ts';

const NOTHING: JsonObject = Object.freeze({});

export function addOwnMethods(server: Server): void {
  // These methods exist only in revisions with sessions.
  const add = (method: string, run: (session: Session, params: JsonObject, context: Context) => JsonObject | void): void =>
    server.methods.set(method, { run: (params, context) => run(context.session as Session, params, context) ?? NOTHING });
  add('initialize', initialize);
  add('logging/setLevel', (session, { level }) => session.setLogLevel(level as LogLevel));
  server.methods.set('resources/subscribe', {
    run: ({ uri }, { session }) => (session as Session).subscribe(uri as string).then(() => NOTHING),
  });
  add('resources/unsubscribe', (session, { uri }) => session.unsubscribe(uri as string));
  server.methods.set('ping', { run: () => NOTHING });
  server.methods.set('server/discover', { run: (_params, context) => discover(context) });
  server.methods.set('subscriptions/listen', {
    isUnbounded: true,
    run: async (params, context) => (await import('./listen.ts')).listen(params, context),
  });
}

function discover({ server, revision, principal }: Context): JsonObject {
  const { instructions } = server.options;
  return {
    supportedVersions: server.versions,
    capabilities: server.capabilities.advertise(revision, { principal, canReach: true }),
    ...(instructions === undefined ? {} : { instructions }),
    // Capabilities of extensions may depend on the caller.
    ...(server.extensions.some((extension) => extension.capabilities) ? { cacheScope: 'private' } : {}),
  };
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

/**
 * Chooses the protocol revision for a session that `initialize` opens.
 *
 * @throws {ProtocolError} The session is already open, or the server serves no legacy revision.
 */
export function negotiate({ revisions, versions }: Server, session: Session, params: JsonObject | undefined): Revision {
  if (session.revision)
    throw new ProtocolError(INVALID_REQUEST, 'This session is already initialized: open a new connection for another session');
  const revision = negotiateLegacy(params?.['protocolVersion'], revisions);
  if (revision) return revision;
  const problem = `"initialize" is not supported by this server: the supported protocol versions are ${versions.join(', ')}`;
  throw new ProtocolError(METHOD_NOT_FOUND, problem, { supported: versions });
}

/** Returns the revision by which to serve a request that arrives before `initialize`. Only `ping` is allowed then. */
export function findBeforeOpening({ revisions, versions, modern }: Server, method: string): Revision {
  const revision = negotiateLegacy(undefined, revisions);
  if (method === 'ping' && revision) return revision;
  const ways = revision ? ['send "initialize" first'] : [];
  if (modern.size > 0)
    ways.push(`name the protocol version (${[...modern.keys()].join(', ')}) in params._meta["${META_PROTOCOL_VERSION}"]`);
  const problem = `"${method.slice(0, 100)}" arrived before a protocol version was negotiated: ${ways.join(', or ')}`;
  throw new ProtocolError(INVALID_PARAMS, problem, { supported: versions });
}
