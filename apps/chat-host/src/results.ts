/** What servers send, as text for the model. */

import type { ContentBlock, ReadResourceResult } from '@mortise/protocol/model';

/** The most characters of one result or resource that the model gets. */
const MAX_CHARACTERS = 100_000;

export function resourceText({ contents }: ReadResourceResult): string {
  return limited(contents.map((each) => each.text ?? describeBytes(each.mimeType, each.blob)).join('\n'));
}

export function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return describeBytes(block.mimeType, block.data);
    case 'resource_link':
      return `[link: ${block.uri}]`;
    case 'resource':
      return block.resource.text ?? describeBytes(block.resource.mimeType, block.resource.blob);
  }
}

function describeBytes(mimeType = 'unknown type', base64 = ''): string {
  return `[${mimeType}, ${Math.ceil((base64.length * 3) / 4 / 1024)} KiB]`;
}

/** Cuts a text that would fill the model's context. */
export function limited(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}\n[the rest is left out]` : text;
}
