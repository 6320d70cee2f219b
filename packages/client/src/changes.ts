/** Callbacks for changes at the server, in whichever way its era tells of them. */

import type { JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import type { Prompt, Resource, SubscriptionFilter, Tool } from '@mortise/protocol/model';
import type { Subscription } from './subscription.ts';

/** The lists that change: the notification that says so, and the key of a filter that asks for it. */
const CHANGES = {
  tools: { method: 'notifications/tools/list_changed', key: 'toolsListChanged' },
  prompts: { method: 'notifications/prompts/list_changed', key: 'promptsListChanged' },
  resources: { method: 'notifications/resources/list_changed', key: 'resourcesListChanged' },
} as const;

/** The items of each list. */
export interface ListItems {
  tools: Tool;
  prompts: Prompt;
  resources: Resource;
}

/** How a callback for changes is called. */
export interface ChangeOptions {
  /** Whether to fetch the list anew first, and to hand it to the callback. @default false */
  readonly autoRefresh?: boolean | undefined;
}

/** Called when a list changed. @param items The new list, with `autoRefresh`. */
export type ChangeHandler<T> = (items: readonly T[] | undefined) => void;

/** What callbacks take from the client. */
export interface ChangesHost {
  /** Whether changes must be subscribed to; undefined while there is no session. */
  readonly needsListen: boolean | undefined;
  listen(filter: SubscriptionFilter): Subscription;
  onNotification(method: string, handler: (params: JsonObject) => void): () => void;
  /** Passes a notification of a subscription on as if it had come unasked. */
  dispatch(notification: JsonRpcNotification): void;
  readAll<L extends keyof ListItems>(list: L): Promise<readonly ListItems[L][]>;
  report(error: unknown): void;
}

interface Watch {
  count: number;
  subscription: Subscription | undefined;
}

/** The callbacks, and the subscriptions that they take in the modern era: one a list, opened for its first callback. */
export class Changes {
  readonly #host: ChangesHost;
  readonly #lists = new Map<keyof ListItems, Watch>();
  readonly #uris = new Map<string, Subscription>();

  constructor(host: ChangesHost) {
    this.#host = host;
  }

  /** @returns Ends it. */
  onListChanged<L extends keyof ListItems>(list: L, handler: ChangeHandler<ListItems[L]>, options: ChangeOptions = {}): () => void {
    const onChange = options.autoRefresh === true ? this.#refreshing(list, handler) : () => handler(undefined);
    const off = this.#host.onNotification(CHANGES[list].method, onChange);
    const watch = this.#lists.get(list) ?? { count: 0, subscription: undefined };
    this.#lists.set(list, watch);
    watch.count += 1;
    this.#open(list, watch);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      off();
      watch.count -= 1;
      if (watch.count === 0) watch.subscription?.close();
    };
  }

  /** Opens what callbacks that were there before the connection need. */
  onConnected(): void {
    for (const [list, watch] of this.#lists) this.#open(list, watch);
  }

  /** Asks for updates of a resource, which come as `notifications/resources/updated`. Resolves once the server answered. @returns Whether it agreed. */
  async subscribe(uri: string): Promise<boolean> {
    const known = this.#uris.get(uri);
    const subscription = known?.isOver === false ? known : this.#host.listen({ resourceSubscriptions: [uri] });
    if (subscription !== known) {
      this.#uris.set(uri, subscription);
      void this.#pump(subscription);
    }
    const { resourceSubscriptions = [] } = await subscription.accepted;
    if (resourceSubscriptions.includes(uri)) return true;
    this.unsubscribe(uri);
    return false;
  }

  unsubscribe(uri: string): void {
    this.#uris.get(uri)?.close();
    this.#uris.delete(uri);
  }

  #open(list: keyof ListItems, watch: Watch): void {
    if (watch.count === 0 || watch.subscription?.isOver === false || this.#host.needsListen !== true) return;
    watch.subscription = this.#host.listen({ [CHANGES[list].key]: true });
    void this.#pump(watch.subscription);
  }

  async #pump(subscription: Subscription): Promise<void> {
    try {
      for await (const notification of subscription) {
        const isChange = notification.method !== 'notifications/subscriptions/acknowledged';
        if (isChange && this.#host.needsListen === true) this.#host.dispatch(notification);
      }
    } catch (error) {
      this.#host.report(error);
    }
  }

  /** Fetches the list for each change, but never twice at once: a change meanwhile makes it be fetched once more. */
  #refreshing<L extends keyof ListItems>(list: L, handler: ChangeHandler<ListItems[L]>): () => void {
    let isRunning = false;
    let isStale = false;
    const refresh = async (): Promise<void> => {
      isStale = true;
      if (isRunning) return;
      isRunning = true;
      try {
        while (isStale) {
          isStale = false;
          const outcome: unknown = handler(await this.#host.readAll(list));
          // Not awaited: a slow callback must not keep later changes back.
          if (outcome instanceof Promise) outcome.catch((error: unknown) => this.#host.report(error));
        }
      } catch (error) {
        this.#host.report(error);
      } finally {
        isRunning = false;
      }
    };
    return () => void refresh();
  }
}
