/** The end of a session of the endpoint's. */

import type { Logger } from '@mortise/jsonrpc-core';
import type { LegacySession } from '@mortise/protocol/contracts';

/** Closes a session. An endpoint that fails at it, which it should not, keeps nothing else from ending: that is logged. Never rejects. */
export async function closeSession(session: LegacySession, logger: Logger): Promise<void> {
  try {
    await session.close();
  } catch (error) {
    logger.log('error', 'The endpoint failed to close a session', { error: String(error) });
  }
}
