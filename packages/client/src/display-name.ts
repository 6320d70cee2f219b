/** What people read for a tool, prompt, resource, template or server. */

import type { BaseMetadata } from '@mortise/protocol/model';

/**
 * Gives the name for people: `title`, else a tool's `annotations.title`, else `name`.
 *
 * @see 2026-07-28 schema#basemetadata
 */
export function displayName(thing: BaseMetadata): string {
  const { title, annotations, name } = thing as BaseMetadata & { readonly annotations?: { readonly title?: unknown } };
  if (title !== undefined) return title;
  return typeof annotations?.title === 'string' ? annotations.title : name;
}
