/** Which methods the protocol itself has, in any revision: a program's own methods are served in all, these only where they exist. */

import { REVISIONS } from '@mortise/protocol';
import { RegistrationError } from './errors.ts';
import { tellMeant } from './registry/refuse-unknown.ts';
import type { ServerCore } from './server-core.ts';

let requests: ReadonlySet<string> | undefined;

/** Tells whether any revision has a request of this name, embedded ones included. */
export function isKnownRequest(method: string): boolean {
  return knownRequests().has(method);
}

/**
 * A method that the program adds later is let through: only what looks like one of the protocol's is taken for a slip.
 *
 * @throws {RegistrationError} `ERR_REGISTRATION`: nobody serves the method, and one of nearly the same name there is.
 */
export function refuseMisspelt(method: string, core: ServerCore): void {
  if (isKnownRequest(method) || core.revisions.some((revision) => core.resolve(revision, method))) return;
  const hint = tellMeant(method, [...knownRequests()]);
  if (hint !== undefined)
    throw new RegistrationError(`use("${method}", middleware): there is no such method: ${hint} Set the handler of one of your own first`);
}

function knownRequests(): ReadonlySet<string> {
  return (requests ??= new Set(REVISIONS.flatMap((revision) => [...revision.requests.keys()])));
}
