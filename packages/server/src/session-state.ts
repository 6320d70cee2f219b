/** The state of a legacy session, and the plain JSON form in which a host stores it. */

import { type JsonObject, type LogLevel, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { findRevision, type Implementation, type Revision, type ServerCapabilities } from '@mortise/protocol';
import type { SessionState } from '@mortise/protocol/contracts';
import { negotiateLegacy } from '@mortise/protocol/revisions';
import { invalidParamsError } from '@mortise/protocol/wire';
import type { ClientFacts } from './middleware/middleware.ts';

export interface Agreement {
  readonly revision: Revision;
  readonly client: ClientFacts;
  /** The capabilities that the server declared to the client. */
  readonly advertised: ServerCapabilities;
  /** Whether `notifications/initialized` arrived. Before that, the server must not send anything unsolicited. */
  isReady: boolean;
  logLevel?: LogLevel | undefined;
  /** The resources that the client subscribed to. */
  readonly uris: Set<string>;
}

/** The version of the stored state. Incremented when its meaning changes. */
const LAYOUT = 1;

/** @param agreed Undefined for a session before `initialize`. */
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
 * Reads a stored state. Returns undefined for a session before `initialize`.
 *
 * @throws {ProtocolError} -32602: this server does not know the state's layout or revision.
 */
export function fromState(state: SessionState, spoken: readonly Revision[]): Agreement | undefined {
  const { layout, revision: version, subscriptions = [], ...rest } = state;
  if (layout === LAYOUT && version === undefined) return undefined;
  const revision = findRevision(version);
  if (layout !== LAYOUT || !revision || negotiateLegacy(version, spoken) !== revision)
    throw new ProtocolError(
      INVALID_PARAMS,
      `The saved session has layout ${layout} and version ${String(version)}, which this server does not know: open a new session`,
    );
  // Not validated: a server wrote this state, and only the host's store had it since.
  return { revision, uris: new Set(subscriptions as readonly string[]), ...(rest as unknown as Omit<Agreement, 'revision' | 'uris'>) };
}

/** Enough for a small icon. Ten thousand sessions of this size take less than 100 MiB. */
const MAX_CHARACTERS = 8 * 1024;
const MAX_VALUES = 1_000;

/** Tells whether data from a client is too large to keep for the life of its session. */
export function isTooMuch(value: unknown): boolean {
  const text = JSON.stringify(value);
  return text.length > MAX_CHARACTERS || (text.match(/[[{,]/g)?.length ?? 0) > MAX_VALUES;
}

/**
 * Reads the client's facts to keep in a session. If they are too large, drops the parts of `clientInfo` that are only for display.
 *
 * @throws {ProtocolError} -32602: the rest is still too large.
 */
export function toClientFacts({ clientInfo, capabilities }: JsonObject): ClientFacts {
  const { icons: _icons, description: _description, websiteUrl: _websiteUrl, ...bare } = clientInfo as JsonObject;
  const info = [clientInfo, bare].find((kept) => !isTooMuch([kept, capabilities]));
  if (info === undefined)
    throw invalidParamsError(
      `"clientInfo" and "capabilities" are too large: a session keeps at most ${MAX_CHARACTERS} characters and ${MAX_VALUES} values, so send less client information`,
    );
  return { info: info as unknown as Implementation, capabilities: capabilities as ClientFacts['capabilities'] };
}
