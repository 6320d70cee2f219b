/** Checks of types that clients and servers both send. A property test proves that they agree with the zod schemas of these types. */

import { LOGGING_LEVELS } from '../model/logging.ts';
import { META_SUBSCRIPTION_ID } from '../model/meta.ts';
import {
  anyObject,
  anyOf,
  anyValue,
  array,
  boolean,
  type Check,
  id,
  integer,
  later,
  type Members,
  number,
  object,
  oneOf,
  record,
  string,
  tagged,
} from './check.ts';

export const strings: Check = array(string);
export const role: Check = oneOf(['user', 'assistant']);
export const level: Check = oneOf(LOGGING_LEVELS);
/** Checks the settings of extensions by identifier, or of `experimental` capabilities by name. */
export const settings: Check = record(anyObject);

export const icons: Check = array(object({ src: string, 'mimeType?': string, 'sizes?': strings, 'theme?': oneOf(['light', 'dark']) }));
export const annotations: Check = object({ 'audience?': array(role), 'priority?': number, 'lastModified?': string });

/** The members that tools, prompts, resources and resource templates share, with their checks. */
export const named: Members = { name: string, 'title?': string, 'description?': string, 'icons?': icons, '_meta?': anyObject };
/** The members that every content block may have, with their checks. */
const shown: Members = { 'annotations?': annotations, '_meta?': anyObject };

export const implementation: Check = object({
  name: string,
  'title?': string,
  version: string,
  'description?': string,
  'websiteUrl?': string,
  'icons?': icons,
});

export const resource: Check = object(named, { uri: string, 'mimeType?': string, 'annotations?': annotations, 'size?': integer });

const contents: Members = { uri: string, 'mimeType?': string, '_meta?': anyObject };
export const resourceContents: Check = anyOf(object(contents, { text: string }), object(contents, { blob: string }));

const text = object({ text: string }, shown);
const media = object({ data: string, mimeType: string }, shown);

export const block: Check = tagged('type', {
  text,
  image: media,
  audio: media,
  resource_link: resource,
  resource: object({ resource: resourceContents }, shown),
});

/** Checks a content block of a sampling message. */
export const samplingBlock: Check = tagged('type', {
  text,
  image: media,
  audio: media,
  tool_use: object({ id: string, name: string, input: anyObject, '_meta?': anyObject }),
  tool_result: object({
    toolUseId: string,
    content: array(block),
    'structuredContent?': anyValue,
    'isError?': boolean,
    '_meta?': anyObject,
  }),
});

/** Creates a check for the params of a request: the given members, and a `_meta` that may have a progress token. */
/* @__NO_SIDE_EFFECTS__ */
export function params(...parts: readonly Members[]): Check {
  return object({ '_meta?': progressMeta }, ...parts);
}
const progressMeta = object({ 'progressToken?': id });

/** Creates a check for the params of a notification: the given members, and a `_meta` that may have a subscription id. */
/* @__NO_SIDE_EFFECTS__ */
export function notificationParams(...parts: readonly Members[]): Check {
  return object({ '_meta?': subscriptionMeta }, ...parts);
}
const subscriptionMeta = later(() => object({ [`${META_SUBSCRIPTION_ID}?`]: id }));

/** Checks the filter of a `subscriptions/listen` request. */
export const filter: Check = object({
  'toolsListChanged?': boolean,
  'promptsListChanged?': boolean,
  'resourcesListChanged?': boolean,
  'resourceSubscriptions?': strings,
});

/** Checks the `task` member of a request that asks to run as a task. @until 2025-11-25 */
export const taskWish: Check = object({ 'ttl?': number });
/** The members of a task, with their checks. @until 2025-11-25 */
export const task: Members = {
  taskId: string,
  status: oneOf(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  'statusMessage?': string,
  createdAt: string,
  lastUpdatedAt: string,
  ttl: (value) => (value === null ? undefined : number(value)),
  'pollInterval?': number,
};

/** The params of the task requests that both clients and servers may send, with their checks. @until 2025-11-25 */
export const taskRequests: Members = {
  'tasks/get': params({ taskId: string }),
  'tasks/result': params({ taskId: string }),
  'tasks/cancel': params({ taskId: string }),
};

/** The params of the notifications that both clients and servers may send, with their checks. */
export const commonNotifications: Members = {
  'notifications/cancelled': notificationParams({ 'requestId?': id, 'reason?': string }),
  'notifications/progress': notificationParams({ progressToken: id, progress: number, 'total?': number, 'message?': string }),
  'notifications/tasks/status': notificationParams(task),
};
