/** Checks of requests and notifications that clients send. Only the members that a server uses are checked. */

import { anyObject, boolean, byMethod, type Check, type Members, type MethodCheck, object, record, string, tagged } from './check.ts';
import {
  commonNotifications,
  filter,
  implementation,
  level,
  notificationParams,
  params,
  settings,
  taskRequests,
  taskWish,
} from './shapes.ts';

export const clientCapabilities: Check = object({
  'experimental?': settings,
  'roots?': object({ 'listChanged?': boolean }),
  'sampling?': object({ 'context?': anyObject, 'tools?': anyObject }),
  'elicitation?': object({ 'form?': anyObject, 'url?': anyObject }),
  'tasks?': object({
    'list?': anyObject,
    'cancel?': anyObject,
    'requests?': object({ 'sampling?': object({ 'createMessage?': anyObject }), 'elicitation?': object({ 'create?': anyObject }) }),
  }),
  'extensions?': settings,
});

const page = params({ 'cursor?': string });
const byUri = params({ uri: string });
const stringMap = record(string);
/** The params that a client adds when it retries a request after an `input_required` result, with their checks. */
const round: Members = { 'inputResponses?': record(anyObject), 'requestState?': string };

const requests: Members = {
  initialize: params({ protocolVersion: string, capabilities: clientCapabilities, clientInfo: implementation }),
  'subscriptions/listen': params({ notifications: filter }),
  'tools/list': page,
  'tools/call': params({ name: string, 'arguments?': anyObject, 'task?': taskWish }, round),
  'resources/list': page,
  'resources/templates/list': page,
  'resources/read': params({ uri: string }, round),
  'resources/subscribe': byUri,
  'resources/unsubscribe': byUri,
  'prompts/list': page,
  'prompts/get': params({ name: string, 'arguments?': stringMap }, round),
  'completion/complete': params({
    ref: tagged('type', { 'ref/prompt': object({ name: string, 'title?': string }), 'ref/resource': object({ uri: string }) }),
    argument: object({ name: string, value: string }),
    'context?': object({ 'arguments?': stringMap }),
  }),
  'logging/setLevel': params({ level }),
  'tasks/list': page,
};

/**
 * Checks the params of a request from a client. Absent params count as `{}`. Does not check whether the method exists: params of an
 * unknown method pass.
 *
 * @returns undefined if valid; else one sentence for a -32602 error (`params.name must be a string, got 5`).
 */
export const checkClientParams: MethodCheck = byMethod('params', params(), requests, taskRequests);

/** Checks the params of a client's notification, so that an invalid one can be ignored. @returns undefined if valid; else one sentence. */
export const checkClientNotification: MethodCheck = byMethod('params', notificationParams(), commonNotifications);
