/** The name, version and icons of a client or server. */

import type { JsonObject } from '@mortise/jsonrpc-core';

/** The base of types that have a name for programs and a title for people, such as tools. */
export interface BaseMetadata extends JsonObject {
  readonly name: string;
  /** The title to show to people. If absent, show `name`. Since 2025-06-18. */
  readonly title?: string | undefined;
}

/**
 * The name and version of a client or server. It is not verified: use it for display and logs, never for decisions.
 *
 * @see 2026-07-28 basic/index#meta
 */
export interface Implementation extends BaseMetadata, Icons {
  readonly version: string;
  /** A text about the client or server. Since 2025-11-25. */
  readonly description?: string | undefined;
  /** The URL of the website about the client or server. Since 2025-11-25. */
  readonly websiteUrl?: string | undefined;
}

/**
 * An icon of a server, client, tool, prompt or resource. Since 2025-11-25. Only `https:` and `data:` URLs are safe to show.
 *
 * @see 2026-07-28 basic/index#icons
 */
export interface Icon extends JsonObject {
  readonly src: string;
  readonly mimeType?: string | undefined;
  /** The sizes, such as `48x48`, or `any` for scalable images. */
  readonly sizes?: readonly string[] | undefined;
  /** Whether the icon is made for a light or a dark background. */
  readonly theme?: 'light' | 'dark' | undefined;
}

/** The base of types that may have icons, such as tools. */
export interface Icons extends JsonObject {
  readonly icons?: readonly Icon[] | undefined;
}
