/** The shapes that several methods share, as checks. `/schemas` says the same in zod; a property test holds them equal. */

import { LOGGING_LEVELS } from '../model/logging.ts';
import { META_SUBSCRIPTION_ID } from '../model/meta.ts';
import {
  anyObject,
  anyOf,
  anyValue,
  array,
  boolean,
  type Check,
  every,
  id,
  integer,
  later,
  number,
  object,
  oneOf,
  optional,
  record,
  string,
  tagged,
} from './check.ts';

const optionalString = optional(string);
const optionalObject = optional(anyObject);
const optionalBoolean = optional(boolean);
const optionalInteger = optional(integer);
const strings = array(string);

export const role: Check = oneOf('user', 'assistant');
export const level: Check = later(() => oneOf(...LOGGING_LEVELS));

/** Params of a request: `_meta` may hold a progress token. */
export const requestParams: Check = object({ _meta: optional(object({ progressToken: optional(id) })) });
/** Params of a notification: `_meta` may hold a subscription's id. */
export const notificationParams: Check = later(() => object({ _meta: optional(object({ [META_SUBSCRIPTION_ID]: optional(id) })) }));

export const icons: Check = optional(
  array(object({ src: string, mimeType: optionalString, sizes: optional(strings), theme: optional(oneOf('light', 'dark')) })),
);

export const implementation: Check = object({
  name: string,
  title: optionalString,
  version: string,
  description: optionalString,
  websiteUrl: optionalString,
  icons,
});

export const settings: Check = optional(record(anyObject));

export const clientCapabilities: Check = object({
  experimental: settings,
  roots: optional(object({ listChanged: optionalBoolean })),
  sampling: optional(object({ context: optionalObject, tools: optionalObject })),
  elicitation: optional(object({ form: optionalObject, url: optionalObject })),
  tasks: optional(
    object({
      list: optionalObject,
      cancel: optionalObject,
      requests: optional(
        object({
          sampling: optional(object({ createMessage: optionalObject })),
          elicitation: optional(object({ create: optionalObject })),
        }),
      ),
    }),
  ),
  extensions: settings,
});

export const annotations: Check = optional(
  object({ audience: optional(array(role)), priority: optional(number), lastModified: optionalString }),
);

export const resource: Check = object({
  uri: string,
  name: string,
  title: optionalString,
  description: optionalString,
  mimeType: optionalString,
  annotations,
  size: optionalInteger,
  icons,
  _meta: optionalObject,
});

const contentsBase = object({ uri: string, mimeType: optionalString, _meta: optionalObject });
export const resourceContents: Check = every(contentsBase, anyOf(object({ text: string }), object({ blob: string })));

const text = object({ text: string, annotations, _meta: optionalObject });
const media = object({ data: string, mimeType: string, annotations, _meta: optionalObject });

const BLOCKS: Readonly<Record<string, Check>> = {
  text,
  image: media,
  audio: media,
  resource_link: resource,
  resource: object({ resource: resourceContents, annotations, _meta: optionalObject }),
};

export const block: Check = tagged('type', BLOCKS);

/** A block of a sampling message. */
export const samplingBlock: Check = tagged('type', {
  text,
  image: media,
  audio: media,
  tool_use: object({ id: string, name: string, input: anyObject, _meta: optionalObject }),
  tool_result: object({
    toolUseId: string,
    content: array(block),
    structuredContent: optional(anyValue),
    isError: optionalBoolean,
    _meta: optionalObject,
  }),
});

const task = object({
  taskId: string,
  status: oneOf('working', 'input_required', 'completed', 'failed', 'cancelled'),
  statusMessage: optionalString,
  createdAt: string,
  lastUpdatedAt: string,
  ttl: (value) => (value === null ? undefined : number(value)),
  pollInterval: optional(number),
});

/** Params or a result that are a task. @until 2025-11-25 */
export const taskState: Check = task;
/** Asks for a task. @until 2025-11-25 */
export const taskWish: Check = optional(object({ ttl: optional(number) }));
/** Names a task. @until 2025-11-25 */
export const taskParams: Check = every(requestParams, object({ taskId: string }));
/** Params of `notifications/tasks/status`. @until 2025-11-25 */
export const taskStatusParams: Check = every(notificationParams, task);
/** Params of `notifications/cancelled`. */
export const cancelledParams: Check = every(notificationParams, object({ requestId: optional(id), reason: optionalString }));
/** Params of `notifications/progress`. */
export const progressParams: Check = every(
  notificationParams,
  object({ progressToken: id, progress: number, total: optional(number), message: optionalString }),
);
/** Params of a list. */
export const pagedParams: Check = every(requestParams, object({ cursor: optionalString }));
/** The filter of a subscription. */
export const filter: Check = object({
  toolsListChanged: optionalBoolean,
  promptsListChanged: optionalBoolean,
  resourcesListChanged: optionalBoolean,
  resourceSubscriptions: optional(strings),
});
