/** Checks of everything that servers send: what a client needs, and nothing of what it does not. */

import { lazily } from '../lazily.ts';
import { MAX_COMPLETION_VALUES } from '../model/completion.ts';
import {
  anyObject,
  anyOf,
  anyValue,
  array,
  boolean,
  type Check,
  every,
  integer,
  later,
  number,
  object,
  oneOf,
  oneOrMany,
  optional,
  record,
  string,
  tagged,
} from './check.ts';
import { pagedResult, prompt, resourceTemplate, result, serverCapabilities, tool } from './server-shapes.ts';
import {
  block,
  cancelledParams,
  filter,
  implementation,
  level,
  notificationParams,
  progressParams,
  requestParams,
  resource,
  resourceContents,
  role,
  samplingBlock,
  taskParams,
  taskState,
  taskStatusParams,
  taskWish,
} from './shapes.ts';

const optionalString = optional(string);
const strings = array(string);

/** One field of a form. */
const formField: Check = later(() => {
  const field = { title: optionalString, description: optionalString };
  const option = object({ const: string, title: string });
  const isString = oneOf('string');
  const many = { ...field, type: oneOf('array'), minItems: optional(integer), maxItems: optional(integer), default: optional(strings) };
  return tagged('type', {
    string: anyOf(
      object({
        ...field,
        minLength: optional(integer),
        maxLength: optional(integer),
        format: optional(oneOf('email', 'uri', 'date', 'date-time')),
        default: optionalString,
      }),
      object({ ...field, enum: strings, default: optionalString }),
      object({ ...field, oneOf: array(option), default: optionalString }),
    ),
    number: object({ ...field, minimum: optional(number), maximum: optional(number), default: optional(number) }),
    integer: object({ ...field, minimum: optional(number), maximum: optional(number), default: optional(number) }),
    boolean: object({ ...field, default: optional(boolean) }),
    array: anyOf(
      object({ ...many, items: object({ type: isString, enum: strings }) }),
      object({ ...many, items: object({ anyOf: array(option) }) }),
    ),
  });
});

const form = object({
  mode: optional(oneOf('form', 'url')),
  message: string,
  requestedSchema: object({ $schema: optionalString, type: oneOf('object'), properties: record(formField), required: optional(strings) }),
  task: taskWish,
});
const page = object({ message: string, url: string, elicitationId: optionalString, task: taskWish });
const isPage = (value: unknown): boolean => (value as { mode?: unknown } | null)?.mode === 'url';

const priority = optional(number);

const checksOfParams = lazily(
  (): ReadonlyMap<string, Check> =>
    new Map([
      ['elicitation/create', every(requestParams, (value) => (isPage(value) ? page(value) : form(value)))],
      [
        'sampling/createMessage',
        every(
          requestParams,
          object({
            messages: array(object({ role, content: oneOrMany(samplingBlock), _meta: optional(anyObject) })),
            modelPreferences: optional(
              object({
                hints: optional(array(object({ name: optionalString }))),
                costPriority: priority,
                speedPriority: priority,
                intelligencePriority: priority,
              }),
            ),
            systemPrompt: optionalString,
            includeContext: optional(oneOf('none', 'thisServer', 'allServers')),
            temperature: optional(number),
            maxTokens: integer,
            stopSequences: optional(strings),
            metadata: optional(anyObject),
            tools: optional(array(tool)),
            toolChoice: optional(object({ mode: optional(oneOf('auto', 'required', 'none')) })),
            task: taskWish,
          }),
        ),
      ],
      ['tasks/get', taskParams],
      ['tasks/result', taskParams],
      ['tasks/cancel', taskParams],
    ]),
);

const checksOfNotifications = lazily(
  (): ReadonlyMap<string, Check> =>
    new Map([
      ['notifications/cancelled', cancelledParams],
      ['notifications/progress', progressParams],
      ['notifications/message', every(notificationParams, object({ level, logger: optionalString, data: anyValue }))],
      ['notifications/resources/updated', every(notificationParams, object({ uri: string }))],
      ['notifications/subscriptions/acknowledged', every(notificationParams, object({ notifications: filter }))],
      ['notifications/elicitation/complete', every(notificationParams, object({ elicitationId: string }))],
      ['notifications/tasks/status', taskStatusParams],
    ]),
);

const cacheable = object({ ttlMs: optional(number), cacheScope: optional(oneOf('public', 'private')) });
const described = { capabilities: serverCapabilities, instructions: optionalString };
/** A list's items are checked one by one, so that a bad one does not hide the rest. */
const list = /* @__NO_SIDE_EFFECTS__ */ (key: string): Check => every(pagedResult, cacheable, object({ [key]: array(anyObject) }));

const checksOfResults = lazily(
  (): ReadonlyMap<string, Check> =>
    new Map([
      ['initialize', every(result, object({ protocolVersion: string, serverInfo: implementation, ...described }))],
      ['server/discover', every(result, cacheable, object({ supportedVersions: strings, ...described }))],
      ['tools/list', list('tools')],
      ['tools/call', every(result, object({ content: array(block), structuredContent: optional(anyValue), isError: optional(boolean) }))],
      ['resources/list', list('resources')],
      ['resources/templates/list', list('resourceTemplates')],
      ['resources/read', every(result, cacheable, object({ contents: array(resourceContents) }))],
      ['prompts/list', list('prompts')],
      ['prompts/get', every(result, object({ description: optionalString, messages: array(object({ role, content: block })) }))],
      ['completion/complete', every(result, object({ completion: completion() }))],
      ['tasks/get', every(result, taskState)],
      ['tasks/cancel', every(result, taskState)],
      ['tasks/list', every(pagedResult, object({ tasks: array(anyObject) }))],
    ]),
);

const checksOfItems = lazily(
  (): ReadonlyMap<string, Check> =>
    new Map([
      ['tools/list', tool],
      ['resources/list', resource],
      ['resources/templates/list', resourceTemplate],
      ['prompts/list', prompt],
      ['tasks/list', taskState],
    ]),
);

const NO_PARAMS: Readonly<Record<string, never>> = /* @__PURE__ */ Object.freeze({});

/**
 * Checks the params of a request from a server, sent or embedded in a result. A method that is not in MCP passes.
 *
 * @returns undefined when they fit; else one sentence (`params.message must be a string, got 5`).
 */
export function checkServerParams(method: string, params: unknown): string | undefined {
  return sentence('params', checksOfParams().get(method) ?? requestParams, params === undefined ? NO_PARAMS : params);
}

/** Checks the params of a notification from a server. @returns See `checkServerParams`. */
export function checkServerNotification(method: string, params: unknown): string | undefined {
  return sentence('params', checksOfNotifications().get(method) ?? notificationParams, params === undefined ? NO_PARAMS : params);
}

/** Checks a complete result from a server; the items of lists are left to `checkListItem`. @returns See `checkServerParams`. */
export function checkServerResult(method: string, value: unknown): string | undefined {
  return sentence('result', checksOfResults().get(method) ?? result, value);
}

/** Checks one item of a list method's result, so that a bad one can be left out and the others kept. */
export function checkListItem(method: string, item: unknown): string | undefined {
  return sentence('item', checksOfItems().get(method) ?? anyObject, item);
}

/** Checks an `input_required` result and the params of its questions. @see 2026-07-28 basic/patterns/mrtr */
export function checkInputRequired(value: unknown): string | undefined {
  return sentence('result', inputRequired, value);
}

const question: Check = every(
  object({ method: oneOf('elicitation/create', 'sampling/createMessage', 'roots/list'), params: optional(anyObject) }),
  (value) => {
    const { method, params } = value as { readonly method: string; readonly params?: unknown };
    const reason = (checksOfParams().get(method) ?? requestParams)(params ?? {});
    return reason === undefined ? undefined : `.params${reason}`;
  },
);

const inputRequired: Check = every(
  result,
  object({ resultType: oneOf('input_required'), inputRequests: optional(record(question)), requestState: optionalString }),
  (value) => {
    const { inputRequests, requestState } = value as { readonly inputRequests?: unknown; readonly requestState?: unknown };
    return inputRequests === undefined && requestState === undefined ? ' must have inputRequests or requestState' : undefined;
  },
);

/* @__NO_SIDE_EFFECTS__ */
function completion(): Check {
  return object({ values: array(string, MAX_COMPLETION_VALUES), total: optional(integer), hasMore: optional(boolean) });
}

function sentence(name: string, check: Check, value: unknown): string | undefined {
  const reason = check(value);
  return reason === undefined ? undefined : name + reason;
}
