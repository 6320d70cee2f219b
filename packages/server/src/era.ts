/** The only code that reads a revision's era. Everything else depends on whether a request has a session, or on the revision's own rules. */

import type { Era, Revision } from '@mortise/protocol';

/** Tells whether something limited to some eras exists in a revision. Without eras it exists everywhere. */
export function existsIn(eras: readonly Era[] | undefined, { era }: Revision): boolean {
  return eras?.includes(era) ?? true;
}

/** Returns the highest error code reserved by the specification. From there down to -32099, only codes that the revision defines may be sent. */
export function firstReservedCode({ era }: Revision): number {
  return era === 'modern' ? -32000 : -32020;
}
