/** `/shared/metadataUtils`: the name of a thing for the user. */

import type { BaseMetadata, ToolAnnotations } from '../types.ts';

/** Returns what to show for a tool, prompt or resource: its title, a tool's annotated title, or its name. */
export function getDisplayName(metadata: BaseMetadata | (BaseMetadata & { annotations?: ToolAnnotations })): string {
  const annotated = 'annotations' in metadata ? metadata.annotations?.title : undefined;
  return metadata.title || annotated || metadata.name;
}
