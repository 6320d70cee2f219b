/** The last resort of a transport whose callbacks throw. */

import type { Transport } from '@mortise/jsonrpc-core';

/** Hands an error, or what one of its callbacks threw, to `onerror` of a transport. Never throws. */
export function reportTo(transport: Pick<Transport, 'onerror'>, thrown: unknown): void {
  try {
    transport.onerror?.(thrown instanceof Error ? thrown : new Error('A callback threw', { cause: thrown }));
  } catch {
    // The callback for errors has failed itself: there is nobody left to report to.
  }
}
