/** `listen` for servers without `subscriptions/listen`: unasked notifications and `resources/subscribe`, sorted to the listens that want them. */

import type { JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import type { ServerCapabilities, SubscriptionFilter } from '@mortise/protocol/model';
import { hasCapability } from '@mortise/protocol/checks';
import type { Link } from '../link.ts';
import type { ListenHandle, ListenSink } from '../session.ts';

/** The keys of a filter that are switches: the notification that each wants, and the capability that promises it. */
const SWITCHES: Readonly<Record<string, { readonly method: string; readonly capability: string }>> = {
  toolsListChanged: { method: 'notifications/tools/list_changed', capability: 'tools.listChanged' },
  promptsListChanged: { method: 'notifications/prompts/list_changed', capability: 'prompts.listChanged' },
  resourcesListChanged: { method: 'notifications/resources/list_changed', capability: 'resources.listChanged' },
};

interface OpenListen {
  readonly sink: ListenSink;
  readonly methods: ReadonlySet<string>;
  readonly uris: readonly string[];
}

/** A resource that the server was asked to tell of, for all who listen to it. */
interface Wanted {
  listens: number;
  /** What the server says of it, and so to each of them. */
  readonly subscribed: Promise<unknown>;
}

export class LegacyListens {
  readonly #link: Link;
  readonly #capabilities: ServerCapabilities;
  readonly #open = new Set<OpenListen>();
  /** By address: the first listen that wants it subscribes at the server, the last one unsubscribes. */
  readonly #wanted = new Map<string, Wanted>();

  constructor(link: Link, capabilities: ServerCapabilities) {
    this.#link = link;
    this.#capabilities = capabilities;
  }

  open(filter: SubscriptionFilter, sink: ListenSink): ListenHandle {
    let opened: OpenListen | undefined;
    let isClosed = false;
    this.#accept(filter, sink).then(
      (listen) => {
        opened = listen;
        if (isClosed) return this.#close(listen);
        this.#open.add(listen);
        const accepted = this.#toAccepted(filter, listen);
        sink.onAccepted(accepted, {
          jsonrpc: '2.0',
          method: 'notifications/subscriptions/acknowledged',
          params: { notifications: accepted },
        });
      },
      (error: Error) => {
        if (!isClosed) sink.onEnd(error);
      },
    );
    const close = (): void => {
      isClosed = true;
      if (opened) this.#close(opened);
    };
    return { close };
  }

  deliver(notification: JsonRpcNotification): void {
    if (this.#open.size === 0) return;
    const { method, params } = notification;
    if (method === 'notifications/resources/updated') return this.#deliverUpdate(notification, params?.['uri']);
    for (const { sink, methods } of this.#open) if (methods.has(method)) sink.onEvent(notification);
  }

  /** A resource below one that was subscribed to counts; one that fits no listen goes to all that subscribed to anything. */
  #deliverUpdate(notification: JsonRpcNotification, uri: unknown): void {
    if (typeof uri !== 'string') return;
    const interested = [...this.#open].filter(({ uris }) => uris.length > 0);
    const fitting = interested.filter(({ uris }) => uris.some((one) => uri === one || uri.startsWith(one)));
    for (const { sink } of fitting.length > 0 ? fitting : interested) sink.onEvent(notification);
  }

  async #accept(filter: SubscriptionFilter, sink: ListenSink): Promise<OpenListen> {
    const methods = new Set<string>();
    for (const [key, { method, capability }] of Object.entries(SWITCHES)) {
      if (filter[key] === true && hasCapability(this.#capabilities, capability)) methods.add(method);
    }
    const canSubscribe = hasCapability(this.#capabilities, 'resources.subscribe');
    const uris = canSubscribe ? [...new Set(filter.resourceSubscriptions)] : [];
    const wanted = await Promise.allSettled(uris.map((uri) => this.#want(uri)));
    const failed = wanted.find((outcome) => outcome.status === 'rejected');
    if (failed) {
      // Nobody listens to those that the server agreed to.
      for (const [index, uri] of uris.entries()) if (wanted[index]?.status === 'fulfilled') this.#release(uri);
      throw failed.reason as Error;
    }
    return { sink, methods, uris };
  }

  #want(uri: string): Promise<unknown> {
    let wanted = this.#wanted.get(uri);
    if (!wanted) {
      wanted = { listens: 0, subscribed: this.#link.request('resources/subscribe', { uri }) };
      this.#wanted.set(uri, wanted);
      // Whoever wants it next asks again.
      wanted.subscribed.catch(() => this.#wanted.delete(uri));
    }
    wanted.listens += 1;
    return wanted.subscribed;
  }

  #close(listen: OpenListen): void {
    this.#open.delete(listen);
    for (const uri of listen.uris) this.#release(uri);
  }

  #release(uri: string): void {
    const wanted = this.#wanted.get(uri);
    if (!wanted) return;
    wanted.listens -= 1;
    if (wanted.listens > 0) return;
    this.#wanted.delete(uri);
    this.#link.request('resources/unsubscribe', { uri }).catch(() => undefined);
  }

  #toAccepted(filter: SubscriptionFilter, { methods, uris }: OpenListen): SubscriptionFilter {
    const accepted: Record<string, JsonObject[string]> = {};
    for (const [key, { method }] of Object.entries(SWITCHES)) if (methods.has(method)) accepted[key] = true;
    if (filter.resourceSubscriptions && uris.length > 0) accepted['resourceSubscriptions'] = uris;
    return accepted;
  }
}
