/** `listen` for servers without `subscriptions/listen`: filters the notifications that they send, and uses `resources/subscribe`. */

import type { JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import { hasCapability } from '@mortise/protocol/checks';
import type { ServerCapabilities, SubscriptionFilter } from '@mortise/protocol/model';
import type { Link } from '../link.ts';
import { LIST_CHANGES } from '../lists.ts';
import type { ListenHandle, ListenSink } from '../session.ts';

interface OpenListen {
  readonly sink: ListenSink;
  readonly methods: ReadonlySet<string>;
  readonly uris: readonly string[];
  /** The part of the subscription's filter that the server honours. */
  readonly accepted: SubscriptionFilter;
  /** Whether the server has accepted the `resources/subscribe` requests for all resources in `uris`. */
  isAccepted: boolean;
}

export class LegacyListens {
  readonly #link: Link;
  readonly #capabilities: ServerCapabilities;
  readonly #open = new Set<OpenListen>();
  /** The `resources/subscribe` requests that were sent, pending or completed, by URI. */
  readonly #subscribed = new Map<string, Promise<unknown>>();

  constructor(link: Link, capabilities: ServerCapabilities) {
    this.#link = link;
    this.#capabilities = capabilities;
  }

  open(filter: SubscriptionFilter, sink: ListenSink): ListenHandle {
    const listen = this.#toListen(filter, sink);
    this.#open.add(listen);
    void Promise.allSettled(listen.uris.map((uri) => this.#subscribe(uri))).then((outcomes) => {
      if (!this.#open.has(listen)) return;
      const failed = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failed) {
        this.#close(listen);
        return sink.onEnd(failed.reason as Error);
      }
      listen.isAccepted = true;
      const { accepted } = listen;
      sink.onAccepted(accepted, {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: accepted },
      });
    });
    return { close: () => this.#close(listen) };
  }

  deliver(notification: JsonRpcNotification): void {
    if (this.#open.size === 0) return;
    const open = [...this.#open].filter(({ isAccepted }) => isAccepted);
    const { method, params } = notification;
    if (method === 'notifications/resources/updated') return deliverUpdate(open, notification, params?.['uri']);
    for (const { sink, methods } of open) if (methods.has(method)) sink.onEvent(notification);
  }

  #toListen(filter: SubscriptionFilter, sink: ListenSink): OpenListen {
    const methods = new Set<string>();
    const accepted: Record<string, JsonObject[string]> = {};
    for (const [key, { notification, capability }] of Object.entries(LIST_CHANGES)) {
      if (filter[key] !== true || !hasCapability(this.#capabilities, capability)) continue;
      methods.add(notification);
      accepted[key] = true;
    }
    const canSubscribe = hasCapability(this.#capabilities, 'resources.subscribe');
    const uris = canSubscribe ? [...new Set(filter.resourceSubscriptions)] : [];
    if (uris.length > 0) accepted['resourceSubscriptions'] = uris;
    return { sink, methods, uris, accepted, isAccepted: false };
  }

  /** Sends `resources/subscribe` for a resource once, and again only after an error. */
  #subscribe(uri: string): Promise<unknown> {
    let subscribed = this.#subscribed.get(uri);
    if (!subscribed) {
      subscribed = this.#link.requests.request('resources/subscribe', { uri });
      this.#subscribed.set(uri, subscribed);
      subscribed.catch(() => this.#subscribed.delete(uri));
    }
    return subscribed;
  }

  #close(listen: OpenListen): void {
    if (!this.#open.delete(listen)) return;
    for (const uri of listen.uris) {
      const isWanted = [...this.#open].some(({ uris }) => uris.includes(uri));
      if (!isWanted && this.#subscribed.delete(uri)) this.#link.requests.request('resources/unsubscribe', { uri }).catch(() => undefined);
    }
  }
}

/** Delivers the update of a resource to the subscriptions to it or to one above it; if none, to every subscription with `uris`. */
function deliverUpdate(open: readonly OpenListen[], notification: JsonRpcNotification, uri: unknown): void {
  if (typeof uri !== 'string') return;
  const interested = open.filter(({ uris }) => uris.length > 0);
  const fitting = interested.filter(({ uris }) => uris.some((one) => uri.startsWith(one)));
  for (const { sink } of fitting.length > 0 ? fitting : interested) sink.onEvent(notification);
}
