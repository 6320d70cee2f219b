/** Callbacks for changes of the server's lists and resources, in both eras. */

import type { Clock, JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import type { SubscriptionFilter } from '@mortise/protocol/model';
import { LIST_CHANGES } from './lists.ts';
import type { Subscription } from './subscription.ts';

/** How long `whenListening` waits for an acknowledgement. A later one counts as a gap, so that no change is lost. */
const ACKNOWLEDGE_MS = 3000;

/** The key of a list in a `subscriptions/listen` filter. */
type ListKey = keyof typeof LIST_CHANGES;

/** The parts of the client that `Changes` uses. */
export interface ChangesHost {
  readonly clock: Clock;
  /** Whether the server reports changes only to subscriptions (modern era); undefined while no session is open. */
  readonly needsListen: boolean | undefined;
  listen(filter: SubscriptionFilter): Subscription;
  onNotification(method: string, handler: (params: JsonObject) => unknown): () => void;
  /** Passes a notification of a subscription to the client's notification handlers. */
  dispatch(notification: JsonRpcNotification): void;
  report(error: unknown): void;
}

interface Watch {
  count: number;
  subscription: Subscription | undefined;
}

/** The callbacks for changes of the server's lists and resources. In the modern era, the first callback for a list opens a subscription. */
export class Changes {
  readonly #host: ChangesHost;
  readonly #lists = new Map<ListKey, Watch>();
  readonly #uris = new Map<string, Subscription>();

  constructor(host: ChangesHost) {
    this.#host = host;
  }

  /** Adds a callback for changes of a list, such as the list of tools. @returns A function that removes the callback. */
  onListChanged(list: ListKey, handler: () => unknown): () => void {
    const off = this.#host.onNotification(LIST_CHANGES[list].notification, () => handler());
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

  /** Opens the subscriptions for callbacks that were set before the client connected. */
  onConnected(): void {
    for (const [list, watch] of this.#lists) this.#open(list, watch);
  }

  /** Resolves when the server has acknowledged or refused the subscriptions of all callbacks, or after `ACKNOWLEDGE_MS`. Never rejects. */
  async whenListening(): Promise<void> {
    const open = [...this.#lists.values()].flatMap(({ subscription }) => subscription ?? []);
    await Promise.all(open.map((subscription) => this.#whenAcknowledged(subscription)));
  }

  /** Subscribes to `notifications/resources/updated` of a resource. @returns Whether the server agreed to send them. */
  async subscribe(uri: string): Promise<boolean> {
    const known = this.#uris.get(uri);
    const subscription = known?.isOver === false ? known : this.#host.listen({ resourceSubscriptions: [uri] });
    if (subscription !== known) {
      this.#uris.set(uri, subscription);
      // Who subscribes gets the refusal.
      subscription.accepted.then(
        () => this.#pump(subscription),
        () => this.#uris.get(uri) === subscription && this.#uris.delete(uri),
      );
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

  #open(list: ListKey, watch: Watch): void {
    if (watch.count === 0 || watch.subscription?.isOver === false || this.#host.needsListen !== true) return;
    watch.subscription = this.#host.listen({ [list]: true });
    void this.#pump(watch.subscription);
  }

  #whenAcknowledged({ accepted, filter }: Subscription): Promise<void> {
    return new Promise((resolve) => {
      const onLate = (): void => {
        accepted.then(
          () => this.#dispatchAll(filter),
          () => undefined,
        );
        resolve();
      };
      const timer = this.#host.clock.schedule(onLate, ACKNOWLEDGE_MS, { keepAlive: true });
      const onSettled = (): void => {
        timer.cancel();
        resolve();
      };
      accepted.then(onSettled, onSettled);
    });
  }

  #dispatchAll(filter: SubscriptionFilter): void {
    for (const [list, { notification }] of Object.entries(LIST_CHANGES))
      if (filter[list as ListKey] === true) this.#host.dispatch({ jsonrpc: '2.0', method: notification });
  }

  async #pump(subscription: Subscription): Promise<void> {
    try {
      for await (const notification of subscription) {
        if (this.#host.needsListen !== true) continue;
        if (notification.method !== 'notifications/subscriptions/acknowledged') this.#host.dispatch(notification);
        // The lists may have changed while the subscription was broken.
        else if (notification.isAfterGap) this.#dispatchAll(subscription.filter);
      }
    } catch (error) {
      this.#host.report(error);
    }
  }
}
