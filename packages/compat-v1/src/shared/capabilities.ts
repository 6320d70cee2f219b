/** Which capability a method or notification needs, with v1's words. */

import type { ClientCapabilities, ServerCapabilities } from '../types.ts';

type Side = 'Client' | 'Server';
type Declared = ClientCapabilities | ServerCapabilities | undefined;

/** Methods whose first word names the capability. */
const METHODS = {
  Server: /^(completion|logging|prompts|resources|tools)\/(?:complete|setLevel|get|list|templates\/list|read|call)$/,
  Client: /^(sampling|elicitation|roots)\/(?:createMessage|create|list)$/,
};
const SUBSCRIPTIONS = /^(resources)\/(?:un)?subscribe$/;
const TASKS = /^(tasks)\/(?:get|list|result|cancel)$/;

const NOTIFICATIONS: Readonly<Record<string, readonly [keyof ServerCapabilities, string]>> = {
  'notifications/message': ['logging', 'logging'],
  'notifications/resources/updated': ['resources', 'notifying about resources'],
  'notifications/resources/list_changed': ['resources', 'notifying about resources'],
  'notifications/tools/list_changed': ['tools', 'notifying of tool list changes'],
  'notifications/prompts/list_changed': ['prompts', 'notifying of prompt list changes'],
};

/** @throws {Error} The receiver does not declare what a request needs. */
export function assertCanRequest(receiver: Side, declared: Declared, method: string): void {
  const name = nameOf(method, METHODS[receiver], receiver === 'Server' ? SUBSCRIPTIONS : undefined);
  assertDeclared(receiver, declared, name, name === 'roots' ? 'listing roots' : name, method);
  if (method === 'resources/subscribe' && !(declared as ServerCapabilities).resources?.subscribe)
    throw new Error(`Server does not support resource subscriptions (required for ${method})`);
}

/** @throws {Error} This side does not declare what a handler needs. */
export function assertCanHandle(side: Side, declared: Declared, method: string): void {
  const name = nameOf(method, METHODS[side], TASKS);
  assertDeclared(side, declared, name, side === 'Client' || name === 'tasks' ? `${name} capability` : name, method);
}

/** @throws {Error} The server, or for a page the client, does not declare what a notification needs. */
export function assertServerCanNotify(server: ServerCapabilities, client: ClientCapabilities | undefined, method: string): void {
  const [name, words] = NOTIFICATIONS[method] ?? [];
  assertDeclared('Server', server, name, words, method);
  if (method === 'notifications/elicitation/complete') assertDeclared('Client', client?.elicitation, 'url', 'URL elicitation', method);
}

/** @throws {Error} The client does not declare what a notification needs. */
export function assertClientCanNotify({ roots }: ClientCapabilities, method: string): void {
  if (method === 'notifications/roots/list_changed')
    assertDeclared('Client', roots, 'listChanged', 'roots list changed notifications', method);
}

function nameOf(method: string, ...patterns: readonly (RegExp | undefined)[]): string | undefined {
  const name = patterns.map((pattern) => pattern?.exec(method)?.[1]).find((found) => found !== undefined);
  return name === 'completion' ? 'completions' : name;
}

function assertDeclared(
  side: Side,
  declared: object | undefined,
  name: string | undefined,
  words: string | undefined,
  method: string,
): void {
  if (name !== undefined && !(declared as Readonly<Record<string, unknown>> | undefined)?.[name])
    throw new Error(`${side} does not support ${words} (required for ${method})`);
}

/** Declares every method of tasks for a side that has a task store: it serves them all, and v1 serves them undeclared. */
export function withTaskMethods<C extends { tasks?: object | undefined }>(
  capabilities: C,
  options: { taskStore?: unknown } | undefined,
): C {
  const { tasks } = capabilities;
  return options?.taskStore && tasks ? { ...capabilities, tasks: { list: {}, cancel: {}, ...tasks } } : capabilities;
}
