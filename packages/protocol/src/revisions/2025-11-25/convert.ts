/** Converts messages from the form of 2025-11-25 to that of 2025-06-18. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { UnrepresentableError } from '../../errors.ts';
import type { Hop } from '../define-revision.ts';
import { drop, inTurn, mapBlocks, mapField, mapList, mapValues } from '../reshape.ts';

const withoutIcons = drop('icons');
const info = drop('icons', 'description', 'websiteUrl');

function linkWithoutIcons(block: JsonObject): JsonObject {
  return block['type'] === 'resource_link' ? withoutIcons(block) : block;
}

/** Converts a form field to 2025-06-18, which has `enumNames` for labels, no multiple choice, and default values for booleans only. */
function formField(field: JsonObject, name: string): JsonObject {
  if (field['type'] === 'array') {
    throw new UnrepresentableError(
      `Form field "${name}": the client's protocol revision has no multiple choice: ask for one value, or for text`,
    );
  }
  const older = field['type'] === 'boolean' ? field : drop('default')(field);
  const { oneOf, ...rest } = older;
  if (!Array.isArray(oneOf)) return older;
  const options: readonly JsonValue[] = oneOf;
  return {
    ...rest,
    enum: options.map((option) => memberOf(option, 'const')),
    enumNames: options.map((option) => memberOf(option, 'title')),
  };
}

function memberOf(value: JsonValue, key: string): JsonValue {
  return (isJsonObject(value) ? value[key] : undefined) ?? '';
}

/** Converts an elicitation request to 2025-06-18, which has form mode only. */
function elicit(params: JsonObject): JsonObject {
  if (params['mode'] === 'url') {
    throw new UnrepresentableError(
      "The client's protocol revision has no URL mode elicitation: use form mode, or put the URL in the tool result",
    );
  }
  return form(drop('mode', 'task')(params));
}

const form = mapField('requestedSchema', inTurn(drop('$schema'), mapField('properties', mapValues(formField))));

/** Joins the values that the user chose in a multiple choice to one text: a field of 2025-06-18 has one value. */
const oneAnswer = (content: JsonObject): JsonObject => {
  const lists = Object.entries(content).filter(([, value]) => Array.isArray(value));
  return lists.length === 0
    ? content
    : { ...content, ...Object.fromEntries(lists.map(([name, value]) => [name, (value as readonly JsonValue[]).join(', ')])) };
};

/** Splits a sampling message with several blocks into several messages: 2025-06-18 has one block per message. */
function oneBlockEach(message: JsonObject): JsonObject | readonly JsonObject[] {
  const { content, ...rest } = drop('_meta')(message);
  const blocks: readonly JsonValue[] = Array.isArray(content) ? content : [content ?? null];
  blocks.forEach(refuseToolBlock);
  if (!Array.isArray(content)) return drop('_meta')(message);
  return blocks.map((block) => ({ ...rest, content: block }));
}

function refuseToolBlock(block: JsonValue): void {
  const type = isJsonObject(block) ? block['type'] : undefined;
  if (type !== 'tool_use' && type !== 'tool_result') return;
  throw new UnrepresentableError("The client's protocol revision has no tools in sampling: send text, images or audio");
}

/** Converts a sampling request to 2025-06-18, which has no tools in sampling. */
function sample(params: JsonObject): JsonObject {
  const { tools } = params;
  if (Array.isArray(tools) && tools.length > 0) {
    throw new UnrepresentableError("The client's protocol revision has no tools in sampling: leave out `tools`");
  }
  return mapList('messages', oneBlockEach)(drop('tools', 'toolChoice', 'task')(params));
}

/** Joins the text blocks of a sampling result to one: 2025-06-18 has one block per result. */
function oneBlock(result: JsonObject): JsonObject {
  const { content } = result;
  if (!Array.isArray(content)) return result;
  const blocks: readonly JsonValue[] = content;
  blocks.forEach(refuseToolBlock);
  const texts = blocks.map((block) => (isJsonObject(block) && block['type'] === 'text' ? block['text'] : undefined));
  if (blocks.length !== 1 && texts.includes(undefined)) {
    throw new UnrepresentableError(
      "The server's protocol revision allows one content block in a sampling result: return one block, or only text blocks",
    );
  }
  return { ...result, content: blocks.length === 1 ? (blocks[0] ?? null) : { type: 'text', text: texts.join('\n') } };
}

export const convert: Hop = {
  toPrevious: {
    params: {
      initialize: mapField('clientInfo', info),
      'tools/call': drop('task'),
      'elicitation/create': elicit,
      'sampling/createMessage': sample,
    },
    results: {
      initialize: mapField('serverInfo', info),
      'tools/list': mapList('tools', drop('icons', 'execution')),
      'tools/call': mapBlocks('content', linkWithoutIcons),
      'resources/list': mapList('resources', withoutIcons),
      'resources/templates/list': mapList('resourceTemplates', withoutIcons),
      'prompts/list': mapList('prompts', withoutIcons),
      'prompts/get': mapList('messages', mapField('content', linkWithoutIcons)),
      'elicitation/create': mapField('content', oneAnswer),
      'sampling/createMessage': oneBlock,
    },
  },
};
