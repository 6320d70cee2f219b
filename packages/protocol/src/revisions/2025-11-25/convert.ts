/** The wire of 2025-11-25 and the one of 2025-06-18. */

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

/** Forms had `enum` with `enumNames`, one choice, and a default for yes and no alone. */
function formField(field: JsonObject, name: string): JsonObject {
  if (field['type'] === 'array') {
    throw new UnrepresentableError(
      `Field "${name}": the client's protocol revision has no choice of several; ask for one value, or for text`,
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

/** Elicitation was by forms alone. */
function elicit(params: JsonObject): JsonObject {
  if (params['mode'] === 'url') {
    throw new UnrepresentableError(
      "The client's protocol revision has no elicitation by URL: ask by a form, or give the address in a tool's result",
    );
  }
  return form(drop('mode', 'task')(params));
}

const form = mapField('requestedSchema', inTurn(drop('$schema'), mapField('properties', mapValues(formField))));

/** Fields held one value. */
const oneAnswer = (content: JsonObject): JsonObject => {
  const lists = Object.entries(content).filter(([, value]) => Array.isArray(value));
  return lists.length === 0
    ? content
    : { ...content, ...Object.fromEntries(lists.map(([name, value]) => [name, (value as readonly JsonValue[]).join(', ')])) };
};

/** A sampling message held one block: several become several messages. */
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

/** Sampling had no tools. */
function sample(params: JsonObject): JsonObject {
  const { tools } = params;
  if (Array.isArray(tools) && tools.length > 0) {
    throw new UnrepresentableError("The client's protocol revision has no tools in sampling: ask without `tools`");
  }
  return mapList('messages', oneBlockEach)(drop('tools', 'toolChoice', 'task')(params));
}

/** A sampled message held one block: several texts are joined. */
function oneBlock(result: JsonObject): JsonObject {
  const { content } = result;
  if (!Array.isArray(content)) return result;
  const blocks: readonly JsonValue[] = content;
  blocks.forEach(refuseToolBlock);
  const texts = blocks.map((block) => (isJsonObject(block) && block['type'] === 'text' ? block['text'] : undefined));
  if (blocks.length !== 1 && texts.includes(undefined)) {
    throw new UnrepresentableError("The server's protocol revision takes one block from a model: answer with one, or with text alone");
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
