/** When an answer means that the server does not know the session any more. */

import type { HttpFailure } from '../http-failure.ts';
import type { Lineage } from './legacy-settings.ts';

/** How long what is on its way in a lost session may still take, in milliseconds. */
export const DRAIN_MS = 1000;

/** What servers say with 400 when they have been started again and know nothing of a session. */
const ABOUT_SESSION = /session|not initiali[sz]ed/i;

/**
 * Judges an answer to a request that carried a session's id. 404 always means that it is gone; a 400 that speaks of the session is taken
 * so too, but not a second time before a session has worked.
 *
 * @see 2025-11-25 basic/transports#session-management
 */
export function isSessionLoss({ status, text }: HttpFailure, lineage: Lineage): boolean {
  return status === 404 || (status === 400 && !lineage.isBadRequestSpent && ABOUT_SESSION.test(text));
}
