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
  /** Whether the client has sent `notifications/initialized`. Before that, the server must not send anything unsolicited. */
  isReady: boolean;
  logLevel?: LogLevel | undefined;
  /** The URIs of the resources that the client subscribed to. */
  readonly uris: Set<string>;
}

/** The version of the layout of a stored session. Incremented when the meaning of its content changes. */
const LAYOUT = 1;

/** Converts a session to the JSON in which a host stores it. @param agreed Undefined for a session before `initialize`. */
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
 * Reads a session that a host stored. Returns undefined for a session before `initialize`.
 *
 * @throws {ProtocolError} -32602: this server does not know the layout or the revision of the stored session.
 */
export function fromState(state: SessionState, spoken: readonly Revision[]): Agreement | undefined {
  const { layout, revision: version, subscriptions = [], ...rest } = state;
  if (layout === LAYOUT && version === undefined) return undefined;
  const revision = findRevision(version);
  if (layout !== LAYOUT || !revision || negotiateLegacy(version, spoken) !== revision)
    throw new ProtocolError(
      INVALID_PARAMS,
      `This server cannot read the saved session (storage format ${layout}, protocol version ${String(version)}): open a new session`,
    );
  // Not validated: a server wrote this state, and only the host's store had it since.
  return { revision, uris: new Set(subscriptions as readonly string[]), ...(rest as unknown as Omit<Agreement, 'revision' | 'uris'>) };
}

/** The most characters of client data that a session keeps: enough for a small icon. Ten thousand such sessions take under 100 MiB. */
const MAX_CHARACTERS = 8 * 1024;
const MAX_VALUES = 1_000;

/** Tells whether data from a client, such as `clientInfo`, is too large to keep for the life of its session. */
export function isTooMuch(value: unknown): boolean {
  const text = JSON.stringify(value);
  return text.length > MAX_CHARACTERS || (text.match(/[[{,]/g)?.length ?? 0) > MAX_VALUES;
}

/**
 * Reads `clientInfo` and `capabilities` to keep in a session. Drops the parts of `clientInfo` that are only for display if they are too
 * large.
 *
 * @throws {ProtocolError} -32602: they are still too large without these parts.
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
