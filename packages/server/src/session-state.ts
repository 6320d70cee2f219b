/** What `initialize` agreed with one client and its session remembers, and the plain JSON by which a host keeps it. */

import { type JsonObject, type LogLevel, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { findRevision, type Implementation, type Revision, type ServerCapabilities } from '@mortise/protocol';
import { isLoggingLevel } from '@mortise/protocol/checks';
import type { SessionState } from '@mortise/protocol/contracts';
import { negotiateLegacy } from '@mortise/protocol/revisions';
import { invalidParamsError } from '@mortise/protocol/wire';
import type { ClientFacts } from './middleware/middleware.ts';

export interface Agreement {
  readonly revision: Revision;
  readonly client: ClientFacts;
  /** What the server told the client that it can do. */
  readonly advertised: ServerCapabilities;
  /** Whether the client said that it is ready: only then may the server write to it unasked. */
  isReady: boolean;
  logLevel: LogLevel | undefined;
  /** The resources that it subscribed to. */
  readonly uris: Set<string>;
}

/** The layout of the state. Counted up whenever what is inside changes its meaning. */
const LAYOUT = 1;

/** @param agreed Undefined for a session that was not opened yet. */
export function toState(agreed: Agreement | undefined): SessionState {
  if (!agreed) return { layout: LAYOUT };
  const { revision, client, advertised, isReady, logLevel, uris } = agreed;
  return {
    layout: LAYOUT,
    revision: revision.version,
    client: { capabilities: client.capabilities, ...(client.info ? { info: client.info } : {}) },
    advertised,
    isReady,
    ...(logLevel ? { logLevel } : {}),
    ...(uris.size > 0 ? { subscriptions: [...uris] } : {}),
  };
}

/**
 * Gives undefined for a session that had not been opened yet.
 *
 * @throws {ProtocolError} -32602: the state has a layout or revision that this server does not know.
 */
export function fromState(state: SessionState, spoken: readonly Revision[]): Agreement | undefined {
  if (state.layout !== LAYOUT) {
    const problem = `The saved session has layout ${String(state.layout)}, this server knows ${LAYOUT}: open a new session`;
    throw new ProtocolError(INVALID_PARAMS, problem);
  }
  const { revision: version, client, advertised, isReady, logLevel, subscriptions } = state;
  if (version === undefined) return undefined;
  const revision = findRevision(version);
  if (!revision || negotiateLegacy(version, spoken) !== revision)
    throw new ProtocolError(INVALID_PARAMS, `The saved session speaks ${String(version)}, this server does not: open a new session`);
  return {
    revision,
    client: client as unknown as ClientFacts,
    advertised: (advertised ?? {}) as ServerCapabilities,
    isReady: isReady === true,
    logLevel: isLoggingLevel(logLevel) ? logLevel : undefined,
    uris: new Set(Array.isArray(subscriptions) ? subscriptions.filter((uri) => typeof uri === 'string') : []),
  };
}

/** Room for a small icon. */
const MAX_CHARACTERS = 64 * 1024;
const MAX_VALUES = 1_000;

/** Whether what a client says of itself, or of its roots, is too much to be kept for as long as its session lives. */
export function isTooMuch(value: unknown): boolean {
  const text = JSON.stringify(value);
  return text.length > MAX_CHARACTERS || (text.match(/[[{,]/g)?.length ?? 0) > MAX_VALUES;
}

/**
 * What a session keeps of its client: all of it, where that is too much without its icons, else without what describes it for people.
 *
 * @throws {ProtocolError} -32602: the rest is too much, too.
 */
export function toClientFacts({ clientInfo, capabilities }: JsonObject): ClientFacts {
  const { icons: _icons, ...plain } = clientInfo as JsonObject;
  const { description: _description, websiteUrl: _websiteUrl, ...bare } = plain;
  const info = [clientInfo, plain, bare].find((kept) => !isTooMuch([kept, capabilities]));
  if (info === undefined)
    throw invalidParamsError(
      `"clientInfo" and "capabilities" are more than a session keeps, ${MAX_CHARACTERS} characters and ${MAX_VALUES} values: say less of this client`,
    );
  return { info: info as unknown as Implementation, capabilities: capabilities as ClientFacts['capabilities'] };
}
