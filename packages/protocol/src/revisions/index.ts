/**
 * The revisions, and the questions that may be asked of the list. The only place that knows which there are; a new one is a new
 * folder and a line here.
 */

import type { ClientCapabilities, ServerCapabilities } from '../model/capabilities.ts';
import { revision as first } from './2024-11-05/index.ts';
import { revision as second } from './2025-03-26/index.ts';
import { revision as third } from './2025-06-18/index.ts';
import { revision as fourth } from './2025-11-25/index.ts';
import { revision as fifth } from './2026-07-28/index.ts';
import { composeRevisions } from './define-revision.ts';
import { type CapabilitySide, dropCapabilities, foreignCapabilities } from './foreign-capabilities.ts';
import type { Era, MethodFacts, Revision } from './revision.ts';

/** Every revision, newest first. */
export const REVISIONS: readonly Revision[] = /* @__PURE__ */ composeRevisions([first, second, third, fourth, fifth]).toReversed();

const BY_VERSION: ReadonlyMap<unknown, Revision> = new Map(REVISIONS.map((revision) => [revision.version, revision]));

/** The newest revision. */
export const NEWEST: Revision = newestOf(REVISIONS);
/** The newest revision that opens with `initialize`. */
export const NEWEST_LEGACY: Revision = newestOf(revisionsOf('legacy'));
/** What an HTTP request without `MCP-Protocol-Version` is written in, where nothing else tells. @see 2025-06-18 basic/transports#protocol-version-header */
export const ASSUMED_WITHOUT_HEADER: Revision = findRevision(second.version) ?? NEWEST_LEGACY;

/** The revision of a version string, which is compared whole; undefined for anything unknown. */
/* @__NO_SIDE_EFFECTS__ */
export function findRevision(version: unknown): Revision | undefined {
  return BY_VERSION.get(version);
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

/** A client's capabilities as a revision can carry them: keys that only other revisions have are left out. */
export function clientCapabilitiesFor(revision: Revision, capabilities: ClientCapabilities): ClientCapabilities {
  return capabilitiesFor('clientCapabilities', revision, capabilities);
}

/** A server's capabilities as a revision can carry them: keys that only other revisions have are left out. */
export function serverCapabilitiesFor(revision: Revision, capabilities: ServerCapabilities): ServerCapabilities {
  return capabilitiesFor('serverCapabilities', revision, capabilities);
}

function capabilitiesFor<T extends ClientCapabilities & ServerCapabilities>(side: CapabilitySide, revision: Revision, capabilities: T): T {
  return dropCapabilities(capabilities, foreignCapabilities(side, revision, REVISIONS));
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
