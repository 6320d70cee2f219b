/** What a session remembers of `initialize` and after, and the plain JSON in which a host stores it. */

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
  /** Whether `notifications/initialized` came: only then may the server write to the client unasked. */
  isReady: boolean;
  logLevel?: LogLevel | undefined;
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
  const { layout, revision: version, subscriptions = [], ...rest } = state;
  if (layout === LAYOUT && version === undefined) return undefined;
  const revision = findRevision(version);
  if (layout !== LAYOUT || !revision || negotiateLegacy(version, spoken) !== revision)
    throw new ProtocolError(
      INVALID_PARAMS,
      `The saved session has layout ${layout} and version ${String(version)}, which this server does not know: open a new session`,
    );
  // A server wrote the rest, and only the host's store had it since.
  return { revision, uris: new Set(subscriptions as readonly string[]), ...(rest as unknown as Omit<Agreement, 'revision' | 'uris'>) };
}

/** Room for a small icon. Ten thousand sessions with so much each take less than 100 MiB. */
const MAX_CHARACTERS = 8 * 1024;
const MAX_VALUES = 1_000;

/** Whether what a client says of itself, or of its roots, is too much to be kept for as long as its session lives. */
export function isTooMuch(value: unknown): boolean {
  const text = JSON.stringify(value);
  return text.length > MAX_CHARACTERS || (text.match(/[[{,]/g)?.length ?? 0) > MAX_VALUES;
}

/**
 * What a session keeps of its client. Where that is too much, it leaves out what only describes the client for people.
 *
 * @throws {ProtocolError} -32602: the rest is still too much.
 */
export function toClientFacts({ clientInfo, capabilities }: JsonObject): ClientFacts {
  const { icons: _icons, description: _description, websiteUrl: _websiteUrl, ...bare } = clientInfo as JsonObject;
  const info = [clientInfo, bare].find((kept) => !isTooMuch([kept, capabilities]));
  if (info === undefined)
    throw invalidParamsError(
      `"clientInfo" and "capabilities" are more than a session keeps, ${MAX_CHARACTERS} characters and ${MAX_VALUES} values: say less of this client`,
    );
  return { info: info as unknown as Implementation, capabilities: capabilities as ClientFacts['capabilities'] };
}
