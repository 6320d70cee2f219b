/** Checks that a revision has a method and that the server declared the capability it needs. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { REVISIONS, type Revision } from '@mortise/protocol';
import { hasCapability, hasExtension } from '@mortise/protocol/checks';
import { findNotification, findRequest } from '@mortise/protocol/revisions';
import { MissingCapabilityError } from './errors.ts';
import type { Session } from './session.ts';

/** Checks that the server can answer a method; methods of extensions always pass. @throws {MissingCapabilityError} The server cannot. */
export function assertAnswers(session: Session, method: string): void {
  const facts = findRequest(session.revision, method, 'client');
  if (facts) assertCapability(session, facts.serverCapability, method);
  else if (REVISIONS.some(({ requests }) => requests.has(method))) throw notSent(session.revision, method);
}

/** Checks that clients may send a notification. @throws {MissingCapabilityError} The revision has no such notification from clients. */
export function assertNotifies(revision: Revision, method: string): void {
  const isKnown = REVISIONS.some(({ notifications }) => notifications.has(method));
  if (isKnown && !findNotification(revision, method, 'client')) throw notSent(revision, method);
}

/** Checks that the server declares the capability that a method needs. @throws {MissingCapabilityError} The server does not declare it. */
export function assertCapability({ server, isDiscovered }: Session, name: string | undefined, method: string): void {
  if (name === undefined || !isDiscovered || hasCapability(server.capabilities, name)) return;
  throw new MissingCapabilityError(`"${method}" needs the capability "${name}", which the server does not declare`, 'server', [name]);
}

/** Checks that the server has these capabilities (dotted) and extensions (by id). @throws {MissingCapabilityError} Some are missing. */
export function assertHas({ server }: Session, required: readonly string[]): void {
  const has = (name: string): boolean =>
    name.includes('/') ? hasExtension(server.capabilities, name) : hasCapability(server.capabilities, name);
  const missing = required.filter((name) => !has(name));
  if (missing.length === 0) return;
  throw new MissingCapabilityError(`the server lacks what this program requires: ${missing.join(', ')}`, 'server', missing);
}

/** Lists capabilities by dotted name (`resources.subscribe`), and extensions by identifier. */
export function capabilityNames(capabilities: JsonObject): readonly string[] {
  return Object.entries(capabilities).flatMap(([name, settings]) => {
    const parts = isJsonObject(settings) ? Object.keys(settings) : [];
    if (name === 'extensions') return parts;
    return parts.length > 0 ? parts.map((part) => `${name}.${part}`) : [name];
  });
}

function notSent({ version }: Revision, method: string): MissingCapabilityError {
  return new MissingCapabilityError(`clients cannot send "${method}" in protocol version ${version}`, 'server', [method]);
}
