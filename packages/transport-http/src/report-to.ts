/** The last resort of a transport whose callbacks throw. */

import type { Transport } from '@mortise/jsonrpc-core';

/** Tells whoever listens to a transport of an error, or of what one of its callbacks threw. Never throws. */
export function reportTo(transport: Pick<Transport, 'onerror'>, thrown: unknown): void {
  try {
    transport.onerror?.(thrown instanceof Error ? thrown : new Error('A callback threw', { cause: thrown }));
  } catch {
    // Whoever is told of errors has failed: there is nobody left to tell.
  }
}
