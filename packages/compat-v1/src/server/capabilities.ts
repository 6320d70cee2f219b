/** Which capability each method of a server needs. */

import type { ClientCapabilities, ServerCapabilities } from '../types.ts';

const CLIENT_NEEDS: Readonly<Record<string, readonly [keyof ClientCapabilities, string]>> = {
  'sampling/createMessage': ['sampling', 'sampling'],
  'elicitation/create': ['elicitation', 'elicitation'],
  'roots/list': ['roots', 'listing roots'],
};

const HANDLER_NEEDS: Readonly<Record<string, readonly [keyof ServerCapabilities, string]>> = {
  'completion/complete': ['completions', 'completions'],
  'logging/setLevel': ['logging', 'logging'],
  'prompts/get': ['prompts', 'prompts'],
  'prompts/list': ['prompts', 'prompts'],
  'resources/list': ['resources', 'resources'],
  'resources/templates/list': ['resources', 'resources'],
  'resources/read': ['resources', 'resources'],
  'tools/call': ['tools', 'tools'],
  'tools/list': ['tools', 'tools'],
  'tasks/get': ['tasks', 'tasks capability'],
  'tasks/list': ['tasks', 'tasks capability'],
  'tasks/result': ['tasks', 'tasks capability'],
  'tasks/cancel': ['tasks', 'tasks capability'],
};

const NOTIFICATION_NEEDS: Readonly<Record<string, readonly [keyof ServerCapabilities, string]>> = {
  'notifications/message': ['logging', 'logging'],
  'notifications/resources/updated': ['resources', 'notifying about resources'],
  'notifications/resources/list_changed': ['resources', 'notifying about resources'],
  'notifications/tools/list_changed': ['tools', 'notifying of tool list changes'],
  'notifications/prompts/list_changed': ['prompts', 'notifying of prompt list changes'],
};

/** @throws {Error} The client does not declare what the method needs. */
export function assertCapabilityOfClient(capabilities: ClientCapabilities | undefined, method: string): void {
  assertHas('Client', capabilities, CLIENT_NEEDS[method], method);
}

/** @throws {Error} The server does not declare what a handler of the method needs. */
export function assertCapabilityOfHandler(capabilities: ServerCapabilities, method: string): void {
  assertHas('Server', capabilities, HANDLER_NEEDS[method], method);
}

/** @throws {Error} The server, or for a page the client, does not declare what the notification needs. */
export function assertCapabilityOfNotification(
  capabilities: ServerCapabilities,
  client: ClientCapabilities | undefined,
  method: string,
): void {
  assertHas('Server', capabilities, NOTIFICATION_NEEDS[method], method);
  if (method === 'notifications/elicitation/complete' && !client?.elicitation?.url)
    throw new Error(`Client does not support URL elicitation (required for ${method})`);
}

function assertHas<Name extends string>(
  side: string,
  capabilities: { readonly [K in Name]?: unknown } | undefined,
  need: readonly [Name, string] | undefined,
  method: string,
): void {
  if (need && !capabilities?.[need[0]]) throw new Error(`${side} does not support ${need[1]} (required for ${method})`);
}
