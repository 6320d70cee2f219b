/** `ctx.notify`, `ctx.sendNotification` and `ctx.completeElicitation`: the notifications that a handler sends. */

import type { JsonObject, JsonRpcNotification, JsonValue, LogLevel } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { hasCapability } from '@mortise/protocol/checks';
import { META_PROGRESS_TOKEN } from '@mortise/protocol/wire';
import type { Context } from './context.ts';
import { listKindOf } from './events.ts';
import type { ProgressUpdate } from './handler-context.ts';

const NO_PARAMS: JsonObject = Object.freeze({});

export function sendNotification(context: Context, method: string, params: JsonObject = NO_PARAMS): Promise<void> {
  const { level, data, logger, progressToken } = params;
  switch (method) {
    case 'notifications/progress':
      // The progress token of another call may no longer be valid, so only the call's own is used.
      return progressToken === context.meta[META_PROGRESS_TOKEN] ? context.progress(params as unknown as ProgressUpdate) : resolvedPromise;
    case 'notifications/message':
      return context.log(level as LogLevel, data as JsonValue, logger as string | undefined);
    case 'notifications/cancelled':
      // Handlers cannot send cancellations: only the server sends them, for its own requests.
      return resolvedPromise;
    default:
      return publish(context, method, params) ?? context.report({ jsonrpc: '2.0', method, ...(params === NO_PARAMS ? {} : { params }) });
  }
}

/** Publishes a handler's change notification to subscribed clients, in revisions with subscriptions. */
function publish({ revision, server }: Context, method: string, { uri }: JsonObject): Promise<void> | undefined {
  if (revision.rules.changeNotifications !== 'listen') return undefined;
  if (method === 'notifications/resources/updated') return server.events.resourceUpdated(String(uri));
  const kind = listKindOf(method);
  if (!kind) return undefined;
  server.events.listChanged(kind);
  return resolvedPromise;
}

/** Implements `ctx.completeElicitation`. @see 2025-11-25 client/elicitation#completion-notifications-for-url-mode-elicitation */
export function completeElicitation(context: Context, elicitationId: string): Promise<void> {
  const { revision, client } = context;
  if (!revision.rules.elicitationIds || !hasCapability(client.capabilities, 'elicitation.url')) return resolvedPromise;
  const notification: JsonRpcNotification = { jsonrpc: '2.0', method: 'notifications/elicitation/complete', params: { elicitationId } };
  if (!context.isOver) return context.send(notification);
  // Sent by the session, because the interaction may be completed after the call.
  context.session?.tell(notification, undefined);
  return resolvedPromise;
}
