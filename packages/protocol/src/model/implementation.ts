/** Who a peer says it is, and the icons that it, its tools, prompts and resources have. */

import type { JsonObject } from '@mortise/jsonrpc-core';

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

/**
 * One picture. Since 2025-11-25. Only `https:` and `data:` addresses are safe to show.
 *
 * @see 2026-07-28 basic/index#icons
 */
export interface Icon extends JsonObject {
  readonly src: string;
  readonly mimeType?: string | undefined;
  /** `48x48`, or `any` for pictures that scale. */
  readonly sizes?: readonly string[] | undefined;
  /** The background that it is made for. */
  readonly theme?: 'light' | 'dark' | undefined;
}

/** Whatever has icons. */
export interface Icons extends JsonObject {
  readonly icons?: readonly Icon[] | undefined;
}
