/** Converts messages from the form of 2026-07-28 to that of 2025-11-25. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_PROTOCOL_VERSION,
  META_SERVER_INFO,
  META_SUBSCRIPTION_ID,
} from '../../model/meta.ts';
import type { Hop } from '../define-revision.ts';
import { drop, each, inTurn, mapBlocks, mapField, mapList, mapValues, mirrorStructuredContent } from '../reshape.ts';
import type { Convert } from '../revision.ts';

/** Drops the `_meta` members that legacy revisions send in `initialize` instead. */
const statefulRequest = mapField('_meta', drop(META_PROTOCOL_VERSION, META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_LOG_LEVEL));
const statefulResult = inTurn(drop('resultType'), mapField('_meta', drop(META_SERVER_INFO)));
const unsolicited = mapField('_meta', drop(META_SUBSCRIPTION_ID));

const uncacheable = inTurn(statefulResult, drop('ttlMs', 'cacheScope'));
const singleRound = inTurn(statefulRequest, drop('inputResponses', 'requestState'));

/** Replaces property schemas that are `true` or `false` by objects, as 2025-11-25 requires. */
const objectSchemas: Convert = (properties) => {
  const bare = Object.entries(properties).filter(([, schema]) => typeof schema === 'boolean');
  if (bare.length === 0) return properties;
  return { ...properties, ...Object.fromEntries(bare.map(([name, schema]) => [name, schema === true ? {} : { not: {} }])) };
};
const schemaOfObject = mapField('properties', objectSchemas);

/** Drops a tool's output schema if its root type is not object, which 2025-11-25 does not allow. */
function outputOfObject(tool: JsonObject): JsonObject {
  const { outputSchema } = tool;
  return isJsonObject(outputSchema) && outputSchema['type'] !== 'object' ? drop('outputSchema')(tool) : tool;
}

const tool = inTurn(outputOfObject, mapField('inputSchema', schemaOfObject), mapField('outputSchema', schemaOfObject));
const tools = mapList('tools', tool);

/** Replaces structured content that is not an object by a text block: 2025-11-25 allows only objects. */
function structuredObject(result: JsonObject): JsonObject {
  const { structuredContent } = result;
  if (structuredContent === undefined || isJsonObject(structuredContent)) return result;
  return drop('structuredContent')(mirrorStructuredContent(result));
}

const toolResultBlock: Convert = (block) => (block['type'] === 'tool_result' ? structuredObject(block) : block);
const samplingContent = mapBlocks('content', toolResultBlock);

const elicitation = drop('task', 'elicitationId');
const sampling = inTurn(drop('task'), mapList('tools', drop('execution')));

/** Converts a request to the client inside an `input_required` result in the same way as a legacy request of that method. */
const ask: Convert = (request) => {
  if (request['method'] === 'elicitation/create') return mapField('params', elicitation)(request);
  return request['method'] === 'sampling/createMessage' ? mapField('params', sampling)(request) : request;
};
const asks: Convert = mapField('inputRequests', mapValues(ask));

const LISTS: readonly string[] = ['prompts/list', 'resources/list', 'resources/templates/list'];
const CHANGES: readonly string[] = ['tools/list_changed', 'prompts/list_changed', 'resources/list_changed', 'resources/updated'];

export const convert: Hop = {
  toPrevious: {
    params: {
      ...each([...LISTS, 'tools/list', 'completion/complete'], statefulRequest),
      ...each(['tools/call', 'prompts/get', 'resources/read'], singleRound),
      'sampling/createMessage': inTurn(tools, mapList('messages', samplingContent)),
    },
    results: {
      ...each([...LISTS, 'resources/read'], uncacheable),
      ...each(['initialize', 'prompts/get', 'completion/complete'], statefulResult),
      'tools/list': inTurn(uncacheable, tools),
      'tools/call': inTurn(statefulResult, structuredObject),
      'sampling/createMessage': samplingContent,
    },
    notifications: each(
      CHANGES.map((change) => `notifications/${change}`),
      unsolicited,
    ),
  },
  withoutRemoved: {
    params: { 'tools/call': drop('task'), 'elicitation/create': elicitation, 'sampling/createMessage': sampling },
    results: { ...each(['tools/call', 'prompts/get', 'resources/read'], asks), 'tools/list': mapList('tools', drop('execution')) },
  },
};
