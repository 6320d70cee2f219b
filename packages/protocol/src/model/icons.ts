/** Icons of implementations, tools, prompts, resources and templates. Since 2025-11-25. */

import type { JsonObject } from '@mortise/jsonrpc-core';

/**
 * One picture. Only `https:` and `data:` addresses are safe to show.
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
