/** The only code that reads a revision's era. All other code tests whether a request has a session, or reads the revision's rules. */

import type { Era, Revision } from '@mortise/protocol';

/** Tells whether a method that exists only in the given eras exists in this revision. Without `eras` it exists in every revision. */
export function existsIn(eras: readonly Era[] | undefined, { era }: Revision): boolean {
  return eras?.includes(era) ?? true;
}

/** Returns the highest error code reserved by the specification. From there down to -32099, only codes that the revision defines may be sent. */
export function firstReservedCode({ era }: Revision): number {
  return era === 'modern' ? -32000 : -32020;
}
