/** Checks of requests, notifications and results that servers send. Only the members that a client uses are checked. */

import { MAX_COMPLETION_VALUES } from '../model/completion.ts';
import { META_SERVER_INFO, META_SUBSCRIPTION_ID } from '../model/meta.ts';
import {
  anyObject,
  anyOf,
  anyValue,
  array,
  boolean,
  byMethod,
  type Check,
  id,
  integer,
  later,
  type Members,
  type MethodCheck,
  number,
  object,
  oneOf,
  oneOrMany,
  record,
  string,
  tagged,
} from './check.ts';
import {
  annotations,
  block,
  commonNotifications,
  filter,
  implementation,
  level,
  named,
  notificationParams,
  params,
  resource,
  resourceContents,
  role,
  samplingBlock,
  settings,
  strings,
  task,
  taskRequests,
  taskWish,
} from './shapes.ts';

const tool: Check = object(named, {
  inputSchema: object({ '$schema?': string, type: oneOf(['object']), 'properties?': anyObject, 'required?': strings }),
  'outputSchema?': object({ '$schema?': string }),
  'annotations?': object({
    'title?': string,
    'readOnlyHint?': boolean,
    'destructiveHint?': boolean,
    'idempotentHint?': boolean,
    'openWorldHint?': boolean,
  }),
  'execution?': object({ 'taskSupport?': oneOf(['forbidden', 'optional', 'required']) }),
});

const items: Members = {
  'tools/list': tool,
  'resources/list': resource,
  'resources/templates/list': object(named, { uriTemplate: string, 'mimeType?': string, 'annotations?': annotations }),
  'prompts/list': object(named, {
    'arguments?': array(object({ name: string, 'title?': string, 'description?': string, 'required?': boolean })),
  }),
  'tasks/list': object(task),
};

/** The members that every field of an elicitation form may have, with their checks. */
const label: Members = { 'title?': string, 'description?': string };
const option = object({ const: string, title: string });
const numberField = object(label, { 'minimum?': number, 'maximum?': number, 'default?': number });
const choices: Members = { 'minItems?': integer, 'maxItems?': integer, 'default?': strings };

/** Checks the schema of one field of an elicitation form. */
const formField = tagged('type', {
  string: anyOf(
    object(label, {
      'minLength?': integer,
      'maxLength?': integer,
      'format?': oneOf(['email', 'uri', 'date', 'date-time']),
      'default?': string,
    }),
    object(label, { enum: strings, 'default?': string }),
    object(label, { oneOf: array(option), 'default?': string }),
  ),
  number: numberField,
  integer: numberField,
  boolean: object(label, { 'default?': boolean }),
  array: anyOf(
    object(label, choices, { items: object({ type: oneOf(['string']), enum: strings }) }),
    object(label, choices, { items: object({ anyOf: array(option) }) }),
  ),
});

const form = params({
  'mode?': oneOf(['form', 'url']),
  message: string,
  requestedSchema: object({ '$schema?': string, type: oneOf(['object']), properties: record(formField), 'required?': strings }),
  'task?': taskWish,
});
const urlElicitation = params({ message: string, url: string, 'elicitationId?': string, 'task?': taskWish });

const requests: Members = {
  'elicitation/create': (value) => ((value as { mode?: unknown } | null)?.mode === 'url' ? urlElicitation : form)(value),
  'sampling/createMessage': params({
    messages: array(object({ role, content: oneOrMany(samplingBlock), '_meta?': anyObject })),
    'modelPreferences?': object({
      'hints?': array(object({ 'name?': string })),
      'costPriority?': number,
      'speedPriority?': number,
      'intelligencePriority?': number,
    }),
    'systemPrompt?': string,
    'includeContext?': oneOf(['none', 'thisServer', 'allServers']),
    'temperature?': number,
    maxTokens: integer,
    'stopSequences?': strings,
    'metadata?': anyObject,
    'tools?': array(tool),
    'toolChoice?': object({ 'mode?': oneOf(['auto', 'required', 'none']) }),
    'task?': taskWish,
  }),
};

const notifications: Members = {
  'notifications/message': notificationParams({ level, 'logger?': string, data: anyValue }),
  'notifications/resources/updated': notificationParams({ uri: string }),
  'notifications/subscriptions/acknowledged': notificationParams({ notifications: filter }),
  'notifications/elicitation/complete': notificationParams({ elicitationId: string }),
};

/** Creates a check for a result: the given members, plus `_meta` and the others that every result may have. */
/* @__NO_SIDE_EFFECTS__ */
function result(...parts: readonly Members[]): Check {
  return object({ 'resultType?': string, '_meta?': resultMeta }, ...parts);
}
const resultMeta = later(() => object({ [`${META_SERVER_INFO}?`]: implementation, [`${META_SUBSCRIPTION_ID}?`]: id }));

const listChanged = object({ 'listChanged?': boolean });
const serverCapabilities = object({
  'experimental?': settings,
  'logging?': anyObject,
  'completions?': anyObject,
  'prompts?': listChanged,
  'resources?': object({ 'subscribe?': boolean, 'listChanged?': boolean }),
  'tools?': listChanged,
  'tasks?': object({
    'list?': anyObject,
    'cancel?': anyObject,
    'requests?': object({ 'tools?': object({ 'call?': anyObject }) }),
  }),
  'extensions?': settings,
});

const aboutServer: Members = { capabilities: serverCapabilities, 'instructions?': string };
const cacheable: Members = { 'ttlMs?': number, 'cacheScope?': oneOf(['public', 'private']) };
/** The member `nextCursor` of a list result; `null` counts as absent. The list's items are checked one by one, by `checkListItem`. */
const page: Members = { 'nextCursor?': (value) => (value === null ? undefined : string(value)) };
const list = array(anyObject);

const results: Members = {
  initialize: result({ protocolVersion: string, serverInfo: implementation }, aboutServer),
  'server/discover': result(cacheable, { supportedVersions: strings }, aboutServer),
  'tools/list': result(page, cacheable, { tools: list }),
  'tools/call': result({ content: array(block), 'structuredContent?': anyValue, 'isError?': boolean }),
  'resources/list': result(page, cacheable, { resources: list }),
  'resources/templates/list': result(page, cacheable, { resourceTemplates: list }),
  'resources/read': result(cacheable, { contents: array(resourceContents) }),
  'prompts/list': result(page, cacheable, { prompts: list }),
  'prompts/get': result({ 'description?': string, messages: array(object({ role, content: block })) }),
  'completion/complete': result({
    completion: object({ values: array(string, MAX_COMPLETION_VALUES), 'total?': integer, 'hasMore?': boolean }),
  }),
  'tasks/get': result(task),
  'tasks/cancel': result(task),
  'tasks/list': result(page, { tasks: list }),
};

/**
 * Checks the params of a request to the client: one that a server sends, or an entry of an `input_required` result. Absent params count as
 * `{}`. Params of an unknown method pass.
 *
 * @returns undefined if valid; else one sentence (`params.message must be a string, got 5`).
 */
export const checkServerParams: MethodCheck = byMethod('params', params(), requests, taskRequests);

/** Checks the params of a notification from a server. @returns undefined if valid; else one sentence. */
export const checkServerNotification: MethodCheck = byMethod('params', notificationParams(), notifications, commonNotifications);

/**
 * Checks a complete result (not `input_required`), except list items: see `checkListItem`.
 * @returns undefined if valid; else one sentence.
 */
export const checkServerResult: MethodCheck = byMethod('result', result(), results);

/** Checks one item of a list result, such as a tool, so that the client can leave out an invalid item and keep the others. */
export const checkListItem: MethodCheck = byMethod('item', anyObject, items);
