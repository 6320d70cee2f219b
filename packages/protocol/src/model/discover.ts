/** Discovery: what a modern server speaks and can do. Since 2026-07-28. */

import type { CacheableResult } from './cacheable.ts';
import type { ServerCapabilities } from './capabilities.ts';

/**
 * Result of `server/discover`. Who the server is stands in `_meta`.
 *
 * @see 2026-07-28 server/discover
 */
export interface DiscoverResult extends CacheableResult {
  /** May name legacy revisions too, which can only be used through `initialize`. */
  readonly supportedVersions: readonly string[];
  readonly capabilities: ServerCapabilities;
  /** How to use the server, for the model. */
  readonly instructions?: string | undefined;
}
