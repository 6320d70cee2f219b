/** Which methods the protocol itself has, in any revision: a program's own methods are served in all, these only where they exist. */

import { REVISIONS } from '@mortise/protocol';

let requests: ReadonlySet<string> | undefined;

/** Tells whether any revision has a request of this name, embedded ones included. */
export function isKnownRequest(method: string): boolean {
  requests ??= new Set(REVISIONS.flatMap((revision) => [...revision.requests.keys()]));
  return requests.has(method);
}
