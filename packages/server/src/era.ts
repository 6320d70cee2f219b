/** The one file that asks for a revision's era. All else follows from whether a request belongs to a session, or is a fact of the revision. */

import type { Era, Revision } from '@mortise/protocol';

/** Whether something that exists in some eras exists in a revision; without eras it exists everywhere. */
export function existsIn(eras: readonly Era[] | undefined, { era }: Revision): boolean {
  return eras?.includes(era) ?? true;
}

/** Error codes from here down to -32099 belong to the specification: only those that the revision defines may be sent. */
export function firstReservedCode({ era }: Revision): number {
  return era === 'modern' ? -32000 : -32020;
}
