/** Converts messages from the form of 2025-03-26 to that of 2024-11-05. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Hop } from '../define-revision.ts';
import { drop, mapBlocks, mapField, mapList } from '../reshape.ts';

/** Replaces an audio block by a text block: 2024-11-05 has no audio. */
function audioToText(block: JsonObject): JsonObject {
  if (block['type'] !== 'audio') return block;
  const { type: _type, data: _data, mimeType, ...rest } = block;
  return { ...rest, type: 'text', text: `[audio, ${String(mimeType)}: this client's protocol revision has no audio]` };
}

const content = mapBlocks('content', audioToText);

export const convert: Hop = {
  toPrevious: {
    params: { 'sampling/createMessage': mapList('messages', content) },
    results: {
      'tools/list': mapList('tools', drop('annotations')),
      'tools/call': content,
      'prompts/get': mapList('messages', mapField('content', audioToText)),
      'sampling/createMessage': content,
    },
    notifications: { 'notifications/progress': drop('message') },
  },
};
