/** The revisions, and the questions that may be asked of the list. */

import type { RemoteError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { composeRevisions } from './define-revision.ts';
import { newest } from './newest.ts';
import type { Era, MethodFacts, Revision } from './revision.ts';

/** Every revision, newest first. */
export const REVISIONS: readonly Revision[] = /* @__PURE__ */ composeRevisions(newest);

/** The newest revision. */
export const NEWEST: Revision = newestOf(REVISIONS);
/** The newest revision that opens with `initialize`. */
export const NEWEST_LEGACY: Revision = newestOf(revisionsOf('legacy'));
/** What an HTTP request without `MCP-Protocol-Version` is written in, where nothing else says. @see 2025-06-18 basic/transports#protocol-version-header */
export const ASSUMED_WITHOUT_HEADER: Revision = newestOf(/* @__PURE__ */ REVISIONS.filter(({ http }) => http.versionHeader === 'never'));

/** The revision of a version string, which is compared whole; undefined for anything unknown. */
/* @__NO_SIDE_EFFECTS__ */
export function findRevision(version: unknown): Revision | undefined {
  return REVISIONS.find((revision) => revision.version === version);
}

/** The revisions of one era, newest first. @param among @default REVISIONS */
/* @__NO_SIDE_EFFECTS__ */
export function revisionsOf(era: Era, among: readonly Revision[] = REVISIONS): readonly Revision[] {
  return among.filter((revision) => revision.era === era);
}

/** The version strings of revisions, in their order. @param revisions @default REVISIONS */
export function supportedVersions(revisions: readonly Revision[] = REVISIONS): readonly string[] {
  return revisions.map((revision) => revision.version);
}

/**
 * What a server answers to `initialize`: the offered revision where it speaks it, else its newest legacy one.
 *
 * @param offered `params.protocolVersion` as it came.
 * @param supported What the server speaks, newest first. @default REVISIONS
 * @returns undefined where the server speaks no legacy revision.
 * @see 2025-11-25 basic/lifecycle#version-negotiation
 */
export function negotiateLegacy(offered: unknown, supported: readonly Revision[] = REVISIONS): Revision | undefined {
  const legacy = revisionsOf('legacy', supported);
  return legacy.find((revision) => revision.version === offered) ?? legacy[0];
}

/** The newest modern revision that both sides speak, from a peer's `supportedVersions`. @param ours @default REVISIONS */
export function chooseModern(theirs: readonly string[], ours: readonly Revision[] = REVISIONS): Revision | undefined {
  return choose('modern', theirs, ours);
}

/** The newest legacy revision that both sides speak, from a peer's `supportedVersions`. @param ours @default REVISIONS */
export function chooseLegacy(theirs: readonly string[], ours: readonly Revision[] = REVISIONS): Revision | undefined {
  return choose('legacy', theirs, ours);
}

/**
 * The facts of a request that `from` may send in a revision; undefined where the answer is -32601: unknown, of another
 * revision, of the other direction, or embedded in results.
 */
export function findRequest(revision: Revision, method: string, from: 'client' | 'server'): MethodFacts | undefined {
  return sentBy(revision.requests.get(method), from);
}

/** The facts of a notification that `from` may send in a revision; undefined where it does not exist or goes the other way. */
export function findNotification(revision: Revision, method: string, from: 'client' | 'server'): MethodFacts | undefined {
  return sentBy(revision.notifications.get(method), from);
}

/** Tells whether the peer said "no such resource", in the words of any revision. -32602 counts only where its data names a `uri`. */
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
  if (newest === undefined) throw new TypeError('There is no revision of that era');
  return newest;
}
