/** Who a peer says it is. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Icons } from './icons.ts';

/** Whatever has a name for programs and one for people. */
export interface BaseMetadata extends JsonObject {
  readonly name: string;
  /** For people; `name` where absent. Since 2025-06-18. */
  readonly title?: string | undefined;
}

/**
 * The name and version of a client or server, by its own word: for display and logs, never for decisions.
 *
 * @see 2026-07-28 basic/index#meta
 */
export interface Implementation extends BaseMetadata, Icons {
  readonly version: string;
  /** Since 2025-11-25. */
  readonly description?: string | undefined;
  /** Since 2025-11-25. */
  readonly websiteUrl?: string | undefined;
}
