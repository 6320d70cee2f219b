/** Checks of everything that clients send: what a server needs, and nothing of what it does not. */

import { lazily } from '../lazily.ts';
import { anyObject, array, type Check, every, object, oneOf, oneOrMany, optional, record, string } from './check.ts';
import {
  cancelledParams,
  clientCapabilities,
  filter,
  implementation,
  level,
  notificationParams,
  pagedParams,
  progressParams,
  requestParams,
  role,
  samplingBlock,
  taskParams,
  taskState,
  taskStatusParams,
  taskWish,
} from './shapes.ts';

const stringMap = optional(record(string));
const uriParams = object({ uri: string });
const rounds = object({ inputResponses: optional(record(anyObject)), requestState: optional(string) });

const checksOfParams = lazily(
  (): ReadonlyMap<string, Check> =>
    new Map([
      [
        'initialize',
        every(requestParams, object({ protocolVersion: string, capabilities: clientCapabilities, clientInfo: implementation })),
      ],
      ['subscriptions/listen', every(requestParams, object({ notifications: filter }))],
      ['tools/list', pagedParams],
      ['tools/call', every(requestParams, object({ name: string, arguments: optional(anyObject), task: taskWish }), rounds)],
      ['resources/list', pagedParams],
      ['resources/templates/list', pagedParams],
      ['resources/read', every(requestParams, uriParams, rounds)],
      ['resources/subscribe', every(requestParams, uriParams)],
      ['resources/unsubscribe', every(requestParams, uriParams)],
      ['prompts/list', pagedParams],
      ['prompts/get', every(requestParams, object({ name: string, arguments: stringMap }), rounds)],
      ['completion/complete', every(requestParams, completionParams())],
      ['logging/setLevel', every(requestParams, object({ level }))],
      ['tasks/get', taskParams],
      ['tasks/result', taskParams],
      ['tasks/cancel', taskParams],
      ['tasks/list', pagedParams],
    ]),
);

const checksOfNotifications = lazily(
  (): ReadonlyMap<string, Check> =>
    new Map([
      ['notifications/cancelled', cancelledParams],
      ['notifications/progress', progressParams],
      ['notifications/tasks/status', taskStatusParams],
    ]),
);

const meta = optional(anyObject);
const answer = (value: unknown): string | undefined => (typeof value === 'object' ? strings(value) : scalar(value));
const strings = array(string);
const scalar: Check = (value) => (typeof value === 'number' || typeof value === 'boolean' ? undefined : string(value));

const checksOfResults = lazily(
  (): ReadonlyMap<string, Check> =>
    new Map([
      ['elicitation/create', object({ action: oneOf('accept', 'decline', 'cancel'), content: optional(record(answer)), _meta: meta })],
      [
        'sampling/createMessage',
        object({ role, content: oneOrMany(samplingBlock), model: string, stopReason: optional(string), _meta: meta }),
      ],
      ['roots/list', object({ roots: array(object({ uri: string, name: optional(string), _meta: meta })), _meta: meta })],
      ['tasks/get', taskState],
      ['tasks/cancel', taskState],
    ]),
);

const NO_PARAMS: Readonly<Record<string, never>> = /* @__PURE__ */ Object.freeze({});

/**
 * Checks the params of a request from a client. A method that is not in MCP passes: whether it exists is asked first.
 *
 * @param params As they came; absent counts as `{}`.
 * @returns undefined when they fit; else one sentence for the -32602 (`params.name must be a string, got 5`).
 */
export function checkClientParams(method: string, params: unknown): string | undefined {
  return sentence('params', checksOfParams().get(method) ?? requestParams, params === undefined ? NO_PARAMS : params);
}

/** Checks the params of a notification from a client. @returns See `checkClientParams`; a notification that does not fit is ignored. */
export function checkClientNotification(method: string, params: unknown): string | undefined {
  return sentence('params', checksOfNotifications().get(method) ?? notificationParams, params === undefined ? NO_PARAMS : params);
}

/** Checks a client's answer to a question of the server: `elicitation/create`, `sampling/createMessage`, `roots/list`, tasks. */
export function checkClientResult(method: string, result: unknown): string | undefined {
  return sentence('result', checksOfResults().get(method) ?? anyObject, result);
}

function sentence(name: string, check: Check, value: unknown): string | undefined {
  const reason = check(value);
  return reason === undefined ? undefined : name + reason;
}

/* @__NO_SIDE_EFFECTS__ */
function completionParams(): Check {
  const ref = (value: unknown): string | undefined => {
    const isPrompt = (value as { type?: unknown } | null)?.type === 'ref/prompt';
    return isPrompt ? promptRef(value) : resourceRef(value);
  };
  const promptRef = object({ name: string, title: optional(string) });
  const resourceRef = object({ type: oneOf('ref/resource', 'ref/prompt'), uri: string });
  return object({ ref, argument: object({ name: string, value: string }), context: optional(object({ arguments: stringMap })) });
}
