/** How long a result stays good. Since 2026-07-28. */

import type { Result } from './meta.ts';

/** Who may be given a cached result: anybody, or only the authorization context that fetched it. */
export type CacheScope = 'public' | 'private';

/**
 * A result that may be kept. On the modern wire both members are always there; absent means 0 and `private`.
 *
 * @see 2026-07-28 server/utilities/caching
 */
export interface CacheableResult extends Result {
  /** How long it is fresh after receipt, in milliseconds, an integer from 0 up. */
  readonly ttlMs?: number | undefined;
  readonly cacheScope?: CacheScope | undefined;
}
