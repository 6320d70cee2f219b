/** Which capability each method of a client needs. */

import type { ClientCapabilities, ServerCapabilities } from '../types.ts';

const SERVER_NEEDS: Readonly<Record<string, readonly [keyof ServerCapabilities, string]>> = {
  'logging/setLevel': ['logging', 'logging'],
  'prompts/get': ['prompts', 'prompts'],
  'prompts/list': ['prompts', 'prompts'],
  'resources/list': ['resources', 'resources'],
  'resources/templates/list': ['resources', 'resources'],
  'resources/read': ['resources', 'resources'],
  'resources/subscribe': ['resources', 'resources'],
  'resources/unsubscribe': ['resources', 'resources'],
  'tools/call': ['tools', 'tools'],
  'tools/list': ['tools', 'tools'],
  'completion/complete': ['completions', 'completions'],
};

const HANDLER_NEEDS: Readonly<Record<string, readonly [keyof ClientCapabilities, string]>> = {
  'sampling/createMessage': ['sampling', 'sampling'],
  'elicitation/create': ['elicitation', 'elicitation'],
  'roots/list': ['roots', 'roots'],
  'tasks/get': ['tasks', 'tasks'],
  'tasks/list': ['tasks', 'tasks'],
  'tasks/result': ['tasks', 'tasks'],
  'tasks/cancel': ['tasks', 'tasks'],
};

/** @throws {Error} The server does not declare what the method needs. */
export function assertCapabilityOfServer(capabilities: ServerCapabilities | undefined, method: string): void {
  const need = SERVER_NEEDS[method];
  if (need && !capabilities?.[need[0]]) throw new Error(`Server does not support ${need[1]} (required for ${method})`);
  if (method === 'resources/subscribe' && !capabilities?.resources?.subscribe)
    throw new Error(`Server does not support resource subscriptions (required for ${method})`);
}

/** @throws {Error} The client does not declare what a handler of the method needs. */
export function assertCapabilityOfHandler(capabilities: ClientCapabilities, method: string): void {
  const need = HANDLER_NEEDS[method];
  if (need && !capabilities[need[0]]) throw new Error(`Client does not support ${need[1]} capability (required for ${method})`);
}

/** @throws {Error} The client does not declare what the notification needs. */
export function assertCapabilityOfNotification(capabilities: ClientCapabilities, method: string): void {
  if (method === 'notifications/roots/list_changed' && !capabilities.roots?.listChanged)
    throw new Error(`Client does not support roots list changed notifications (required for ${method})`);
}
