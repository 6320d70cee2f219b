/** Converts messages from the form of 2025-06-18 to that of 2025-03-26. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Hop } from '../define-revision.ts';
import { drop, inTurn, mapBlocks, mapField, mapList, mirrorStructuredContent, set } from '../reshape.ts';

const withoutTitleAndMeta = drop('title', '_meta');
const annotations = mapField('annotations', drop('lastModified'));
const listed = inTurn(withoutTitleAndMeta, annotations);

/** Moves a tool's title into its annotations, where 2025-03-26 expects it. */
function tool(definition: JsonObject): JsonObject {
  const { title, annotations: hints } = definition;
  const older = drop('title', '_meta', 'outputSchema')(definition);
  if (typeof title !== 'string') return older;
  return set(older, 'annotations', { ...(hints as JsonObject | undefined), title });
}

/** Replaces a resource link by a text block with its title and URI: 2025-03-26 has no links. */
function linkToText(block: JsonObject): JsonObject {
  if (block['type'] !== 'resource_link') return block;
  const { name, title = name, uri, description, annotations: hints } = block;
  const about = typeof description === 'string' ? `: ${description}` : '';
  const text = `${String(title)} <${String(uri)}>${about}`;
  return hints === undefined ? { type: 'text', text } : { type: 'text', text, annotations: hints };
}

const block = inTurn(linkToText, drop('_meta'), annotations, mapField('resource', drop('_meta')));
const blocks = mapBlocks('content', block);

/** Replaces structured content by a text block: 2025-03-26 has no structured content. */
function structuredToText(result: JsonObject): JsonObject {
  return drop('structuredContent')(mirrorStructuredContent(result));
}

export const convert: Hop = {
  toPrevious: {
    params: {
      initialize: mapField('clientInfo', drop('title')),
      'completion/complete': inTurn(drop('context'), mapField('ref', drop('title'))),
      'sampling/createMessage': mapList('messages', blocks),
    },
    results: {
      initialize: mapField('serverInfo', drop('title')),
      'tools/list': mapList('tools', tool),
      'tools/call': inTurn(structuredToText, blocks),
      'resources/list': mapList('resources', listed),
      'resources/templates/list': mapList('resourceTemplates', listed),
      'resources/read': mapList('contents', drop('_meta')),
      'prompts/list': mapList('prompts', inTurn(withoutTitleAndMeta, mapList('arguments', drop('title')))),
      'prompts/get': mapList('messages', mapField('content', block)),
      'sampling/createMessage': blocks,
      'roots/list': mapList('roots', drop('_meta')),
    },
  },
};
