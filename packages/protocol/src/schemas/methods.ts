/** The zod schemas of params and results, by method. */

import { z } from 'zod/v4';
import { MAX_COMPLETION_VALUES } from '../model/completion.ts';
import type { ElicitRequestFormParams, ElicitRequestURLParams } from '../model/elicitation.ts';
import type { InputRequest, InputRequiredResult } from '../model/input-required.ts';
import { META_SERVER_INFO, META_SUBSCRIPTION_ID } from '../model/meta.ts';
import type {
  ClientRequestMap,
  ClientRequestMethod,
  NotificationMap,
  NotificationMethod,
  RequestMap,
  RequestMethod,
  ServerRequestMap,
  ServerRequestMethod,
} from '../model/method-map.ts';
import type { CreateTaskResult } from '../model/tasks.ts';
import type { CallToolResult } from '../model/tools.ts';
import {
  id,
  loose,
  notificationParams,
  optionalBoolean,
  optionalInt,
  optionalNumber,
  optionalObject,
  optionalString,
  optionalStrings,
  params,
  record,
  value,
  ClientCapabilitiesSchema,
  ContentBlockSchema,
  formField,
  ImplementationSchema,
  LoggingLevelSchema,
  PromptMessageSchema,
  PromptSchema,
  ResourceContentsSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  RootSchema,
  samplingMessage,
  SamplingMessageSchema,
  ServerCapabilitiesSchema,
  task,
  taskMetadata,
  TaskSchema,
  ToolSchema,
} from './shapes.ts';

type Given<T> = Exclude<T, undefined>;

/** The params that a client adds when it retries a request after an `input_required` result. */
const round = { inputResponses: record(loose({})).optional(), requestState: optionalString };
const page = { cursor: optionalString };
const asked = { message: z.string(), task: taskMetadata };
const filter = loose({
  toolsListChanged: optionalBoolean,
  promptsListChanged: optionalBoolean,
  resourcesListChanged: optionalBoolean,
  resourceSubscriptions: optionalStrings,
});

/** The zod schemas of the params of all requests, by method. */
export const PARAMS_SCHEMAS: { readonly [M in RequestMethod]: z.ZodType<Given<RequestMap[M]['params']>> } = {
  initialize: params({ protocolVersion: z.string(), capabilities: ClientCapabilitiesSchema, clientInfo: ImplementationSchema }),
  ping: params(),
  'server/discover': params(),
  'subscriptions/listen': params({ notifications: filter }),
  'tools/list': params(page),
  'tools/call': params(round, { name: z.string(), arguments: optionalObject, task: taskMetadata }),
  'resources/list': params(page),
  'resources/templates/list': params(page),
  'resources/read': params(round, { uri: z.string() }),
  'resources/subscribe': params({ uri: z.string() }),
  'resources/unsubscribe': params({ uri: z.string() }),
  'prompts/list': params(page),
  'prompts/get': params(round, { name: z.string(), arguments: record(z.string()).optional() }),
  'completion/complete': params({
    ref: z.union([
      loose({ type: z.literal('ref/prompt'), name: z.string(), title: optionalString }),
      loose({ type: z.literal('ref/resource'), uri: z.string() }),
    ]),
    argument: loose({ name: z.string(), value: z.string() }),
    context: loose({ arguments: record(z.string()).optional() }).optional(),
  }),
  'logging/setLevel': params({ level: LoggingLevelSchema }),
  'elicitation/create': z.union([
    params<ElicitRequestFormParams>(asked, {
      mode: z.literal('form').optional(),
      requestedSchema: loose({
        $schema: optionalString,
        type: z.literal('object'),
        properties: record(formField),
        required: optionalStrings,
      }),
    }),
    params<ElicitRequestURLParams>(asked, { mode: z.literal('url'), url: z.string(), elicitationId: optionalString }),
  ]),
  'sampling/createMessage': params({
    messages: z.array(SamplingMessageSchema),
    modelPreferences: loose({
      hints: z.array(loose({ name: optionalString })).optional(),
      costPriority: optionalNumber,
      speedPriority: optionalNumber,
      intelligencePriority: optionalNumber,
    }).optional(),
    systemPrompt: optionalString,
    includeContext: z.enum(['none', 'thisServer', 'allServers']).optional(),
    temperature: optionalNumber,
    maxTokens: z.int(),
    stopSequences: optionalStrings,
    metadata: optionalObject,
    tools: z.array(ToolSchema).optional(),
    toolChoice: loose({ mode: z.enum(['auto', 'required', 'none']).optional() }).optional(),
    task: taskMetadata,
  }),
  'roots/list': params(),
  'tasks/get': params({ taskId: z.string() }),
  'tasks/result': params({ taskId: z.string() }),
  'tasks/cancel': params({ taskId: z.string() }),
  'tasks/list': params(page),
};

/** The zod schemas of the params of all notifications, by method. */
export const NOTIFICATION_SCHEMAS: { readonly [M in NotificationMethod]: z.ZodType<Given<NotificationMap[M]>> } = {
  'notifications/initialized': notificationParams(),
  'notifications/cancelled': notificationParams({ requestId: id.optional(), reason: optionalString }),
  'notifications/progress': notificationParams({
    progressToken: id,
    progress: z.number(),
    total: optionalNumber,
    message: optionalString,
  }),
  'notifications/message': notificationParams({ level: LoggingLevelSchema, logger: optionalString, data: value }),
  'notifications/tools/list_changed': notificationParams(),
  'notifications/prompts/list_changed': notificationParams(),
  'notifications/resources/list_changed': notificationParams(),
  'notifications/resources/updated': notificationParams({ uri: z.string() }),
  'notifications/roots/list_changed': notificationParams(),
  'notifications/subscriptions/acknowledged': notificationParams({ notifications: filter }),
  'notifications/elicitation/complete': notificationParams({ elicitationId: z.string() }),
  'notifications/tasks/status': notificationParams(task),
};

function result<T>(...shapes: readonly z.ZodRawShape[]): z.ZodType<T> {
  const meta = loose({ [META_SERVER_INFO]: ImplementationSchema.optional(), [META_SUBSCRIPTION_ID]: id.optional() });
  return loose<T>({ _meta: meta.optional(), resultType: optionalString }, ...shapes);
}

/** The member `nextCursor` of a list result; `null` counts as absent. */
const paged = { nextCursor: z.string().nullish() };
const cacheable = { ttlMs: optionalNumber, cacheScope: z.enum(['public', 'private']).optional() };
const aboutServer = { capabilities: ServerCapabilitiesSchema, instructions: optionalString };

/** The zod schema of `CallToolResult`. */
export const CallToolResultSchema: z.ZodType<CallToolResult> = result({
  content: z.array(ContentBlockSchema),
  structuredContent: z.unknown().optional(),
  isError: optionalBoolean,
});

/** The zod schema of `CreateTaskResult`. @until 2025-11-25 */
export const CreateTaskResultSchema: z.ZodType<CreateTaskResult> = result({ task: TaskSchema });

/** The zod schemas of the complete results of requests from clients, by method. */
export const SERVER_RESULT_SCHEMAS: { readonly [M in ClientRequestMethod]: z.ZodType<ClientRequestMap[M]['result']> } = {
  initialize: result({ protocolVersion: z.string(), serverInfo: ImplementationSchema }, aboutServer),
  ping: result(),
  'server/discover': result(cacheable, { supportedVersions: z.array(z.string()) }, aboutServer),
  'subscriptions/listen': result(),
  'tools/list': result(paged, cacheable, { tools: z.array(ToolSchema) }),
  'tools/call': CallToolResultSchema,
  'resources/list': result(paged, cacheable, { resources: z.array(ResourceSchema) }),
  'resources/templates/list': result(paged, cacheable, { resourceTemplates: z.array(ResourceTemplateSchema) }),
  'resources/read': result(cacheable, { contents: z.array(ResourceContentsSchema) }),
  'resources/subscribe': result(),
  'resources/unsubscribe': result(),
  'prompts/list': result(paged, cacheable, { prompts: z.array(PromptSchema) }),
  'prompts/get': result({ description: optionalString, messages: z.array(PromptMessageSchema) }),
  'completion/complete': result({
    completion: loose({ values: z.array(z.string()).max(MAX_COMPLETION_VALUES), total: optionalInt, hasMore: optionalBoolean }),
  }),
  'logging/setLevel': result(),
  'tasks/get': result(task),
  'tasks/result': result(),
  'tasks/cancel': result(task),
  'tasks/list': result(paged, { tasks: z.array(TaskSchema) }),
};

const answer = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);

/** The zod schemas of the results of requests from servers, by method. */
export const CLIENT_RESULT_SCHEMAS: { readonly [M in ServerRequestMethod]: z.ZodType<ServerRequestMap[M]['result']> } = {
  ping: result(),
  'elicitation/create': loose({
    action: z.enum(['accept', 'decline', 'cancel']),
    content: record(answer).optional(),
    _meta: optionalObject,
  }),
  'sampling/createMessage': loose(samplingMessage, { model: z.string(), stopReason: optionalString }),
  'roots/list': loose({ roots: z.array(RootSchema), _meta: optionalObject }),
  'tasks/get': result(task),
  'tasks/result': result(),
  'tasks/cancel': result(task),
  'tasks/list': result(paged, { tasks: z.array(TaskSchema) }),
};

const question = <M extends 'elicitation/create' | 'sampling/createMessage'>(method: M): z.ZodType<InputRequest> =>
  loose({ method: z.literal(method), params: PARAMS_SCHEMAS[method] });

/** The zod schema of `InputRequiredResult`. @see 2026-07-28 basic/patterns/mrtr */
export const InputRequiredResultSchema: z.ZodType<InputRequiredResult> = result<InputRequiredResult>({
  resultType: z.literal('input_required'),
  inputRequests: record(
    z.union([
      question('elicitation/create'),
      question('sampling/createMessage'),
      loose<InputRequest>({ method: z.literal('roots/list'), params: PARAMS_SCHEMAS['roots/list'].optional() }),
    ]),
  ).optional(),
  requestState: optionalString,
}).refine(
  ({ inputRequests, requestState }) => inputRequests !== undefined || requestState !== undefined,
  'inputRequests or requestState is required',
);
