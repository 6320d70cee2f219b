/** The list of all protocol revisions, and functions to find and negotiate one. */

import type { RemoteError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { composeRevisions } from './define-revision.ts';
import { newest } from './newest.ts';
import type { Era, MethodFacts, Revision } from './revision.ts';

/** Every protocol revision that Mortise supports, newest first. */
export const REVISIONS: readonly Revision[] = /* @__PURE__ */ composeRevisions(newest);

/** The newest protocol revision. */
export const NEWEST: Revision = newestOf(REVISIONS);
/** The newest revision of the legacy era, in which a session begins with `initialize`. */
export const NEWEST_LEGACY: Revision = newestOf(revisionsOf('legacy'));
/** The revision assumed for an HTTP request without `MCP-Protocol-Version`. @see 2025-06-18 basic/transports#protocol-version-header */
export const ASSUMED_WITHOUT_HEADER: Revision = newestOf(/* @__PURE__ */ REVISIONS.filter(({ http }) => http.versionHeader === 'never'));

/** Finds a revision by its exact version string; undefined if unknown. */
/* @__NO_SIDE_EFFECTS__ */
export function findRevision(version: unknown): Revision | undefined {
  return REVISIONS.find((revision) => revision.version === version);
}

/** Returns the revisions of one era, in the order of `among`. @param among The revisions to choose from. @default REVISIONS */
/* @__NO_SIDE_EFFECTS__ */
export function revisionsOf(era: Era, among: readonly Revision[] = REVISIONS): readonly Revision[] {
  return among.filter((revision) => revision.era === era);
}

/** Returns the version strings of the given revisions, in the same order. @param revisions @default REVISIONS */
export function supportedVersions(revisions: readonly Revision[] = REVISIONS): readonly string[] {
  return revisions.map((revision) => revision.version);
}

/**
 * Chooses the revision for a server's `initialize` result: the requested revision if supported, else the newest supported legacy one.
 *
 * @param offered `params.protocolVersion` as received.
 * @param supported The server's revisions, newest first. @default REVISIONS
 * @returns undefined if the server supports no legacy revision.
 * @see 2025-11-25 basic/lifecycle#version-negotiation
 */
export function negotiateLegacy(offered: unknown, supported: readonly Revision[] = REVISIONS): Revision | undefined {
  const legacy = revisionsOf('legacy', supported);
  return legacy.find((revision) => revision.version === offered) ?? legacy[0];
}

/** Returns the newest modern revision that both sides have. @param theirs The peer's `supportedVersions`. @param ours @default REVISIONS */
export function chooseModern(theirs: readonly string[], ours: readonly Revision[] = REVISIONS): Revision | undefined {
  return choose('modern', theirs, ours);
}

/** Returns the newest legacy revision that both sides have. @param theirs The peer's `supportedVersions`. @param ours @default REVISIONS */
export function chooseLegacy(theirs: readonly string[], ours: readonly Revision[] = REVISIONS): Revision | undefined {
  return choose('legacy', theirs, ours);
}

/**
 * Finds the definition of a request that `from` may send in a revision. Undefined means a -32601 error: the revision does not have the
 * method, only the other side may send it, or it exists only inside `input_required` results.
 */
export function findRequest(revision: Revision, method: string, from: 'client' | 'server'): MethodFacts | undefined {
  return sentBy(revision.requests.get(method), from);
}

/** Finds the definition of a notification that `from` may send in a revision; undefined if there is none, or only the other side may. */
export function findNotification(revision: Revision, method: string, from: 'client' | 'server'): MethodFacts | undefined {
  return sentBy(revision.notifications.get(method), from);
}

/** Tells whether an error means "resource not found" in any revision. -32602 counts only if the error's `data` has a `uri`. */
export function isResourceNotFound({ rpcCode, data }: Pick<RemoteError, 'rpcCode' | 'data'>): boolean {
  const hasUri = isJsonObject(data) && typeof data['uri'] === 'string';
  return (hasUri || rpcCode !== INVALID_PARAMS) && REVISIONS.some(({ rules }) => rules.resourceNotFoundCode === rpcCode);
}

function choose(era: Era, theirs: readonly string[], ours: readonly Revision[]): Revision | undefined {
  return revisionsOf(era, ours).find((revision) => theirs.includes(revision.version));
}

function sentBy(facts: MethodFacts | undefined, from: 'client' | 'server'): MethodFacts | undefined {
  const direction = facts?.direction;
  return direction === 'both' || direction === (from === 'client' ? 'client-to-server' : 'server-to-client') ? facts : undefined;
}

/* @__NO_SIDE_EFFECTS__ */
function newestOf(revisions: readonly Revision[]): Revision {
  const [newest] = revisions;
  if (newest === undefined) throw new TypeError('There is no newest protocol revision: the list of revisions is empty');
  return newest;
}
