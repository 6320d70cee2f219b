/** Values of the canonical model, with every member that any revision has, for properties and for the twin test. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import fc from 'fast-check';
import { LOGGING_LEVELS } from '@mortise/protocol';

type Arb = fc.Arbitrary<JsonValue>;
type Shape = Readonly<Record<string, fc.Arbitrary<unknown>>>;

const text: fc.Arbitrary<string> = fc.string({ maxLength: 6 });
const bool: fc.Arbitrary<boolean> = fc.boolean();
const int: fc.Arbitrary<number> = fc.integer({ min: 0, max: 1000 });
const texts: fc.Arbitrary<string[]> = fc.array(text, { maxLength: 2 });
const uri: fc.Arbitrary<string> = fc.constantFrom('file:///a', 'https://example.com/x', 'docs://b');
const id: fc.Arbitrary<string | number> = fc.oneof(text, int);

/** An object with all required members and some of the optional ones. */
export function shape(required: Shape, optional: Shape = {}): fc.Arbitrary<JsonObject> {
  return fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) }) as unknown as fc.Arbitrary<JsonObject>;
}

export const meta: Arb = fc.constant({ 'com.example/key': { a: 1 } });
const openObject: Arb = fc.constantFrom({}, { setting: true });
const settings: Arb = fc.constantFrom({}, { 'com.example/ext': {} });
const icons: Arb = fc.constant([{ src: 'https://example.com/i.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }]);
const annotations: Arb = shape(
  {},
  { audience: fc.constant(['user']), priority: fc.constantFrom(0, 0.5, 1), lastModified: fc.constant('2025-01-12T15:00:58Z') },
);

const named: Shape = { title: text, icons };
export const implementation: Arb = shape({ name: text, version: text }, { ...named, description: text, websiteUrl: uri });
export const resource: Arb = shape(
  { uri, name: text },
  { ...named, description: text, mimeType: text, annotations, size: int, _meta: meta },
);
export const resourceTemplate: Arb = shape(
  { uriTemplate: fc.constant('a://{b}'), name: text },
  { ...named, description: text, mimeType: text, annotations, _meta: meta },
);
export const resourceContents: Arb = fc.oneof(
  shape({ uri, text }, { mimeType: text, _meta: meta }),
  shape({ uri, blob: fc.constant('AA==') }, { mimeType: text, _meta: meta }),
);

const blockRest: Shape = { annotations, _meta: meta };
const type = (name: string): Arb => fc.constant(name);
export const textBlock: Arb = shape({ type: type('text'), text }, blockRest);
const media = (name: string): Arb => shape({ type: type(name), data: fc.constant('AA=='), mimeType: fc.constant(`${name}/x`) }, blockRest);
const link: Arb = fc.tuple(resource).map(([value]) => ({ ...(value as JsonObject), type: 'resource_link' }));
const embedded: Arb = shape({ type: type('resource'), resource: resourceContents }, blockRest);
export const block: Arb = fc.oneof(textBlock, media('image'), media('audio'), link, embedded);
/** Content of a sampling message that every revision can carry, converted. */
export const plainSamplingContent: Arb = fc.oneof(
  textBlock,
  media('image'),
  media('audio'),
  fc.array(fc.oneof(textBlock, media('image')), { minLength: 1, maxLength: 2 }),
);
const toolBlocks: Arb = fc.oneof(
  shape({ type: type('tool_use'), id: text, name: text, input: openObject }, { _meta: meta }),
  shape(
    { type: type('tool_result'), toolUseId: text, content: fc.array(block, { maxLength: 1 }) },
    { structuredContent: fc.jsonValue({ maxDepth: 1 }) as Arb, isError: bool, _meta: meta },
  ),
);
export const samplingContent: Arb = fc.oneof(plainSamplingContent, toolBlocks, fc.array(toolBlocks, { maxLength: 2 }));

export const tool: Arb = shape(
  {
    name: text,
    inputSchema: fc.constantFrom<JsonValue>(
      { type: 'object' },
      { type: 'object', properties: { a: true, b: { type: 'string' }, c: false }, required: ['b'] },
      { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties: { a: { type: 'number' } } },
    ),
  },
  {
    ...named,
    description: text,
    outputSchema: fc.constantFrom<JsonValue>(
      { type: 'object', properties: { a: true } },
      { type: 'array', items: {} },
      { oneOf: [{ type: 'string' }] },
    ),
    annotations: shape({}, { title: text, readOnlyHint: bool, destructiveHint: bool, idempotentHint: bool, openWorldHint: bool }),
    execution: shape({}, { taskSupport: fc.constantFrom('optional', 'required', 'forbidden') }),
    _meta: meta,
  },
);
export const prompt: Arb = shape(
  { name: text },
  {
    ...named,
    description: text,
    arguments: fc.array(shape({ name: text }, { title: text, description: text, required: bool }), { maxLength: 2 }),
    _meta: meta,
  },
);

export const clientCapabilities: Arb = shape(
  {},
  {
    experimental: settings,
    roots: shape({}, { listChanged: bool }),
    sampling: shape({}, { context: openObject, tools: openObject }),
    elicitation: shape({}, { form: openObject, url: openObject }),
    tasks: shape(
      {},
      {
        list: openObject,
        cancel: openObject,
        requests: shape({}, { sampling: shape({}, { createMessage: openObject }), elicitation: shape({}, { create: openObject }) }),
      },
    ),
    extensions: settings,
  },
);
export const serverCapabilities: Arb = shape(
  {},
  {
    experimental: settings,
    logging: openObject,
    completions: openObject,
    prompts: shape({}, { listChanged: bool }),
    resources: shape({}, { subscribe: bool, listChanged: bool }),
    tools: shape({}, { listChanged: bool }),
    tasks: shape({}, { list: openObject, cancel: openObject, requests: shape({}, { tools: shape({}, { call: openObject }) }) }),
    extensions: settings,
  },
);

const requestMeta: Arb = shape({
  progressToken: id,
  'io.modelcontextprotocol/protocolVersion': fc.constant('2026-07-28'),
  'io.modelcontextprotocol/clientCapabilities': fc.constant({}),
});
const asked: Shape = { _meta: requestMeta };
const round: Shape = { inputResponses: fc.constant({ a: { action: 'decline' } }), requestState: text };
const task: Arb = shape({}, { ttl: int });
const stringMap: Arb = fc.constantFrom({}, { a: 'b' });

const enumField: Arb = shape({ type: type('string'), enum: texts }, { title: text, description: text, default: text });
const titledField: Arb = shape(
  { type: type('string'), oneOf: fc.constant([{ const: 'a', title: 'A' }]) },
  { title: text, description: text, default: text },
);
const legacyField: Arb = shape(
  { type: type('string'), enum: fc.constant(['a']), enumNames: fc.constant(['A']) },
  { title: text, description: text },
);
const plainField: Arb = fc.oneof(
  shape(
    { type: type('string') },
    {
      title: text,
      description: text,
      minLength: int,
      maxLength: int,
      format: fc.constantFrom('email', 'uri', 'date', 'date-time'),
      default: text,
    },
  ),
  shape({ type: fc.constantFrom('number', 'integer') }, { title: text, description: text, minimum: int, maximum: int, default: int }),
  shape({ type: type('boolean') }, { title: text, description: text, default: bool }),
);
const severalField: Arb = fc.oneof(
  shape(
    { type: type('array'), items: fc.constant({ type: 'string', enum: ['a'] }) },
    { title: text, minItems: int, maxItems: int, default: texts },
  ),
  shape({ type: type('array'), items: fc.constant({ anyOf: [{ const: 'a', title: 'A' }] }) }, { description: text, default: texts }),
);
const formOf = (field: Arb): Arb =>
  shape(
    {
      message: text,
      requestedSchema: shape(
        { type: type('object'), properties: fc.dictionary(fc.constantFrom('a', 'b'), field, { maxKeys: 2 }) },
        { $schema: text, required: texts },
      ),
    },
    { mode: type('form'), task },
  );
const page: Arb = shape({ mode: type('url'), message: text, url: uri, elicitationId: text }, { task });

const sampling = (content: Arb, more: Shape): Arb =>
  shape(
    {
      messages: fc.array(shape({ role: fc.constantFrom('user', 'assistant'), content }, { _meta: meta }), { maxLength: 2 }),
      maxTokens: int,
    },
    {
      modelPreferences: shape(
        {},
        {
          hints: fc.constant([{ name: 'm' }]),
          costPriority: fc.constant(0.5),
          speedPriority: fc.constant(0),
          intelligencePriority: fc.constant(1),
        },
      ),
      systemPrompt: text,
      includeContext: fc.constantFrom('none', 'thisServer', 'allServers'),
      temperature: fc.constant(0.5),
      stopSequences: texts,
      metadata: openObject,
      task,
      ...more,
    },
  );

/** Params of each request. */
export const params: Readonly<Record<string, Arb>> = {
  initialize: shape(
    { protocolVersion: text, capabilities: clientCapabilities, clientInfo: implementation },
    { _meta: shape({}, { progressToken: id }) },
  ),
  ping: shape({}, { _meta: shape({}, { progressToken: id }) }),
  'server/discover': shape(asked),
  'subscriptions/listen': shape({
    ...asked,
    notifications: shape(
      {},
      { toolsListChanged: bool, promptsListChanged: bool, resourcesListChanged: bool, resourceSubscriptions: texts },
    ),
  }),
  'tools/list': shape(asked, { cursor: text }),
  'tools/call': shape({ ...asked, name: text }, { ...round, arguments: openObject, task }),
  'resources/list': shape(asked, { cursor: text }),
  'resources/templates/list': shape(asked, { cursor: text }),
  'resources/read': shape({ ...asked, uri }, round),
  'resources/subscribe': shape({ uri }),
  'resources/unsubscribe': shape({ uri }),
  'prompts/list': shape(asked, { cursor: text }),
  'prompts/get': shape({ ...asked, name: text }, { ...round, arguments: stringMap }),
  'completion/complete': shape(
    {
      ...asked,
      ref: fc.oneof(shape({ type: type('ref/prompt'), name: text }, { title: text }), shape({ type: type('ref/resource'), uri })),
      argument: shape({ name: text, value: text }),
    },
    { context: shape({}, { arguments: stringMap }) },
  ),
  'logging/setLevel': shape({ level: fc.constantFrom(...LOGGING_LEVELS) }),
  'tasks/get': shape({ taskId: text }),
  'tasks/result': shape({ taskId: text }),
  'tasks/cancel': shape({ taskId: text }),
  'tasks/list': shape({}, { cursor: text }),
  'elicitation/create': fc.oneof(formOf(fc.oneof(plainField, enumField, titledField, legacyField, severalField)), page),
  'sampling/createMessage': sampling(samplingContent, {
    tools: fc.array(tool, { maxLength: 1 }),
    toolChoice: shape({}, { mode: fc.constantFrom('auto', 'required', 'none') }),
  }),
  'roots/list': shape({}),
};

/** Of the asks, those that every revision with the method can carry. */
export const representableParams: Readonly<Record<string, Arb>> = {
  'elicitation/create': formOf(fc.oneof(plainField, enumField, titledField, legacyField)),
  'sampling/createMessage': sampling(plainSamplingContent, {}),
};

const resultMeta: Arb = shape({ 'com.example/key': fc.constant(1) }, { 'io.modelcontextprotocol/serverInfo': implementation });
const done: Shape = { resultType: fc.constant('complete') };
const cacheable: Shape = { ...done, ttlMs: int, cacheScope: fc.constantFrom('public', 'private') };
const anyMeta: Shape = { _meta: resultMeta };
const paged: Shape = { ...anyMeta, nextCursor: text };
const few = (item: Arb): Arb => fc.array(item, { maxLength: 2 });
const taskState: Shape = {
  taskId: text,
  status: fc.constantFrom('working', 'input_required', 'completed', 'failed', 'cancelled'),
  createdAt: fc.constant('2025-01-12T15:00:58Z'),
  lastUpdatedAt: fc.constant('2025-01-12T15:00:58Z'),
  ttl: fc.oneof(int, fc.constant(null)),
};
const taskRest: Shape = { statusMessage: text, pollInterval: int };

/** Complete results of what clients request. */
export const serverResults: Readonly<Record<string, Arb>> = {
  initialize: shape(
    { protocolVersion: text, capabilities: serverCapabilities, serverInfo: implementation },
    { ...anyMeta, instructions: text },
  ),
  ping: shape({}),
  'server/discover': shape(
    { ...cacheable, supportedVersions: texts, capabilities: serverCapabilities },
    { ...anyMeta, instructions: text },
  ),
  'tools/list': shape({ ...cacheable, tools: few(tool) }, paged),
  'tools/call': shape({ ...done, content: few(block) }, { ...anyMeta, structuredContent: fc.jsonValue({ maxDepth: 1 }), isError: bool }),
  'resources/list': shape({ ...cacheable, resources: few(resource) }, paged),
  'resources/templates/list': shape({ ...cacheable, resourceTemplates: few(resourceTemplate) }, paged),
  'resources/read': shape({ ...cacheable, contents: few(resourceContents) }, anyMeta),
  'resources/subscribe': shape({}),
  'resources/unsubscribe': shape({}),
  'prompts/list': shape({ ...cacheable, prompts: few(prompt) }, paged),
  'prompts/get': shape(
    { ...done, messages: few(shape({ role: fc.constantFrom('user', 'assistant'), content: block })) },
    { ...anyMeta, description: text },
  ),
  'completion/complete': shape({ ...done, completion: shape({ values: texts }, { total: int, hasMore: bool }) }, anyMeta),
  'logging/setLevel': shape({}),
  'tasks/get': shape(taskState, taskRest),
  'tasks/cancel': shape(taskState, taskRest),
  'tasks/list': shape({ tasks: few(shape(taskState, taskRest)) }, { nextCursor: text }),
};

const answer: Arb = fc.oneof(text, int, bool, texts);
/** Results of what servers ask. */
export const clientResults: Readonly<Record<string, Arb>> = {
  'elicitation/create': shape(
    { action: fc.constantFrom('accept', 'decline', 'cancel') },
    { content: fc.dictionary(fc.constantFrom('a', 'b'), answer) },
  ),
  'sampling/createMessage': shape(
    {
      role: fc.constantFrom('user', 'assistant'),
      content: fc.oneof(textBlock, media('image'), media('audio'), fc.array(textBlock, { minLength: 1, maxLength: 2 })),
      model: text,
    },
    { stopReason: fc.constantFrom('endTurn', 'custom') },
  ),
  'roots/list': shape({ roots: few(shape({ uri }, { name: text, _meta: meta })) }),
};

const tagged: Shape = { _meta: shape({ 'io.modelcontextprotocol/subscriptionId': id }) };
/** Params of each notification. */
export const notifications: Readonly<Record<string, Arb>> = {
  'notifications/initialized': shape({}),
  'notifications/cancelled': shape({ requestId: id }, { reason: text }),
  'notifications/progress': shape({ progressToken: id, progress: int }, { total: int, message: text }),
  'notifications/message': shape({ level: fc.constantFrom(...LOGGING_LEVELS), data: fc.jsonValue({ maxDepth: 1 }) }, { logger: text }),
  'notifications/tools/list_changed': shape({}, tagged),
  'notifications/prompts/list_changed': shape({}, tagged),
  'notifications/resources/list_changed': shape({}, tagged),
  'notifications/resources/updated': shape({ uri }, tagged),
  'notifications/roots/list_changed': shape({}),
  'notifications/subscriptions/acknowledged': shape({ ...tagged, notifications: shape({}, { toolsListChanged: bool }) }),
  'notifications/elicitation/complete': shape({ elicitationId: text }),
  'notifications/tasks/status': shape(taskState, taskRest),
};

/** A value with one of its parts, at any depth, put out of shape or left out. */
export function damaged(value: JsonValue, path: readonly number[], by: JsonValue | undefined): JsonValue {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return by ?? null;
  const keys = Object.keys(value);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined) return by ?? null;
  const copy: Record<string, JsonValue> = { ...(value as Record<string, JsonValue>) };
  const old = copy[key] as JsonValue;
  if (rest.length === 0 && by === undefined) delete copy[key];
  else copy[key] = rest.length === 0 ? (by as JsonValue) : damaged(old, rest, by);
  return Array.isArray(value) ? Object.values(copy) : copy;
}
