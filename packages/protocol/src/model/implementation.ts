/** The name and version of a peer, and icons. */

import type { JsonObject } from '@mortise/jsonrpc-core';

/** A thing with a name for programs and a title for people. */
export interface BaseMetadata extends JsonObject {
  readonly name: string;
  /** Shown to people. If absent, show `name`. Since 2025-06-18. */
  readonly title?: string | undefined;
}

/**
 * The name and version of a client or server. It is not verified: use it for display and logs, never for decisions.
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
 * One icon. Since 2025-11-25. Only `https:` and `data:` URLs are safe to show.
 *
 * @see 2026-07-28 basic/index#icons
 */
export interface Icon extends JsonObject {
  readonly src: string;
  readonly mimeType?: string | undefined;
  /** Such as `48x48`, or `any` for scalable images. */
  readonly sizes?: readonly string[] | undefined;
  /** The background that the icon is made for. */
  readonly theme?: 'light' | 'dark' | undefined;
}

/** A thing that may have icons. */
export interface Icons extends JsonObject {
  readonly icons?: readonly Icon[] | undefined;
}
