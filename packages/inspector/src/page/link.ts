/** The page's connection to the command: asks, hears events, and connects again when it was lost. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { Connection } from '@mortise/jsonrpc-core/connection';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { signal } from '@preact/signals';
import type { InspectorEvent, InspectorMethod, InspectorRequests } from '../messages.ts';

export interface AskOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (params: JsonObject) => void;
}

/** What the page does with the connection. */
interface LinkUser {
  onOpen(): Promise<void>;
  onEvents(events: readonly InspectorEvent[]): void;
}

const RETRY_MS = 1000;
/** All that the command keeps comes in one message. */
const MAX_MESSAGE_BYTES = 512 * 1024 * 1024;
/** The user cancels what takes too long. */
const DAY_MS = 86_400_000;

export const isLinked = signal(false);
let connection: Connection | undefined;

/** Keeps the connection open for as long as the page lives. */
export async function keepLinked(user: LinkUser): Promise<never> {
  const url = new URL('link', location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.hash = '';
  for (;;) {
    try {
      await openOnce(url, user);
    } catch (error) {
      console.warn(String(error));
    }
    isLinked.value = false;
    connection = undefined;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function openOnce(url: URL, user: LinkUser): Promise<void> {
  const opened = new Connection(webSocketTransport(url, { maxMessageBytes: MAX_MESSAGE_BYTES }), {
    onNotification: ({ params }) => user.onEvents((params?.['events'] ?? []) as unknown as readonly InspectorEvent[]),
    requestTimeoutMs: DAY_MS,
    maxRequestTimeoutMs: DAY_MS,
  });
  await opened.start();
  connection = opened;
  await user.onOpen();
  isLinked.value = true;
  await opened.closed;
}

/** Asks the command. @throws {Error} It answered with an error, or the connection is lost. */
export async function ask<Method extends InspectorMethod>(
  method: Method,
  params: InspectorRequests[Method][0],
  options: AskOptions = {},
): Promise<InspectorRequests[Method][1]> {
  if (!connection) throw new Error('The command does not answer: is it still running?');
  const withToken = (token: string | number | undefined): JsonObject => ({
    ...(params as JsonObject),
    ...(token !== undefined && { _meta: { progressToken: token } }),
  });
  return (await connection.request(method, withToken, options)) as never;
}
