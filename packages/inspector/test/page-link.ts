/** What the page does, without a page: opens the WebSocket, says hello, collects events, and asks. */

import { EventEmitter, once } from 'node:events';
import { serveInspector, type ServeInspectorOptions } from '@mortise/inspector';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { Connection } from '@mortise/jsonrpc-core/connection';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { onTestFinished } from 'vitest';
import type { InspectorEvent, InspectorMethod, InspectorRequests, ServerTarget } from '../src/messages.ts';

type EventOf<Type extends InspectorEvent['type']> = Extract<InspectorEvent, { type: Type }>;

export interface PageLink {
  readonly url: string;
  readonly events: readonly InspectorEvent[];
  ask<Method extends InspectorMethod>(
    method: Method,
    params: InspectorRequests[Method][0],
    options?: { readonly signal?: AbortSignal; readonly onProgress?: (params: JsonObject) => void },
  ): Promise<InspectorRequests[Method][1]>;
  /** The first event of a type that fits, whether it has come already or not. */
  event<Type extends InspectorEvent['type']>(type: Type, fits?: (event: EventOf<Type>) => boolean): Promise<EventOf<Type>>;
  /** Connects a server and waits until it is ready. */
  connect(target: ServerTarget): Promise<string>;
}

export async function openLink(options?: ServeInspectorOptions): Promise<PageLink> {
  const inspector = await serveInspector(options);
  onTestFinished(() => inspector.close());
  const { url } = inspector;
  const events: InspectorEvent[] = [];
  const heard = new EventEmitter().setMaxListeners(0);
  const transport = webSocketTransport(`${url.replace('http', 'ws')}link`, {
    headers: { Origin: new URL(url).origin },
    maxMessageBytes: 512 * 1024 * 1024,
  });
  const connection = new Connection(transport, {
    onNotification: ({ params }) => {
      events.push(...(params?.['events'] as unknown as readonly InspectorEvent[]));
      heard.emit('event');
    },
  });
  await connection.start();
  onTestFinished(() => connection.close());
  const link: PageLink = {
    url,
    events,
    ask: async (method, params, { signal, onProgress } = {}) =>
      (await connection.request(
        method,
        (token) => ({ ...(params as JsonObject), ...(token === undefined ? {} : { _meta: { progressToken: token } }) }),
        {
          signal,
          onProgress,
        },
      )) as never,
    async event(type, fits = () => true) {
      for (;;) {
        const found = events.find((event): event is EventOf<typeof type> => event.type === type && fits(event as EventOf<typeof type>));
        if (found) return found;
        await once(heard, 'event');
      }
    },
    async connect(target) {
      const { server } = await link.ask('connect', { target });
      const { state } = await link.event('state', (event) => event.server === server && ['ready', 'failed'].includes(event.state.status));
      if (state.status === 'failed') throw new Error(state.reason);
      return server;
    },
  };
  return link;
}
