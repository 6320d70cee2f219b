/** Delivers change events of lists and resources to the clients of this process. Changes of a list in one event-loop turn are merged. */

import type { Clock, ClockTimer, JsonRpcNotification, Logger } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { MemoryMessageBus } from '@mortise/protocol';
import type { BusMessage, MessageBus, Principal } from '@mortise/protocol/contracts';

/** The lists whose changes clients can be notified of. */
export type ListKind = 'tools' | 'resources' | 'prompts';

export const LIST_KINDS: readonly ListKind[] = ['tools', 'resources', 'prompts'];

/** Returns the message bus topic for changes of a list, such as `tools/list_changed`. With `notifications/` it is the method to send. */
export function listTopic(kind: ListKind): string {
  return `${kind}/list_changed`;
}

/** Returns the list that a `list_changed` notification is about. Undefined for other notifications. */
export function listKindOf(method: string): ListKind | undefined {
  return LIST_KINDS.find((kind) => method === `notifications/${listTopic(kind)}`);
}

const RESOURCE = 'resource:';

export function resourceTopic(uri: string): string {
  return `${RESOURCE}${uri}`;
}

/** Returns the notification for a change event; undefined for an extension's event. Its URI may be below the subscribed one. */
export function toNotification({ topic, payload }: BusMessage): JsonRpcNotification | undefined {
  if (LIST_KINDS.some((kind) => topic === listTopic(kind))) return { jsonrpc: '2.0', method: `notifications/${topic}` };
  if (!topic.startsWith(RESOURCE)) return undefined;
  const { uri } = (payload ?? {}) as { readonly uri?: unknown };
  const params = { uri: typeof uri === 'string' ? uri : topic.slice(RESOURCE.length) };
  return { jsonrpc: '2.0', method: 'notifications/resources/updated', params };
}

/** Returns a key of a notification: of several queued notifications with the same key, only the newest is sent. */
export function keyOf({ method, params }: JsonRpcNotification): string {
  return `${method} ${String(params?.['uri'])}`;
}

/** A receiver of change events: a legacy session or a `subscriptions/listen` request. */
export interface EventListener {
  /** The listener's principal. An event for one principal only reaches listeners with this principal. */
  readonly principal: Principal;
  /** @param event Without a payload after a gap, in which events may have been lost: the listener's client must read again. */
  onEvent(event: BusMessage): void;
}

interface Topic {
  readonly listeners: Set<EventListener>;
  /** Resolves when events arrive, to the function that ends the subscription. */
  readonly subscribed: Promise<() => void>;
  /** `resolvedPromise` as soon as events arrive. */
  ready: Promise<unknown>;
}

export class Events {
  readonly #bus: MessageBus;
  readonly #isShared: boolean;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #topics = new Map<string, Topic>();
  readonly #changed = new Set<ListKind>();
  #timer: ClockTimer | undefined;

  /** @param bus The option `messageBus`, which may connect several machines. Without it, events stay in this process. */
  constructor(bus: MessageBus | undefined, clock: Clock, logger: Logger) {
    this.#isShared = bus !== undefined;
    this.#clock = clock;
    this.#logger = logger;
    this.#bus = bus ?? new MemoryMessageBus({ onError: (error) => logger.log('error', 'A listener failed', { error }) });
  }

  /**
   * Passes the events of a topic to a listener. A second call for the same listener changes nothing.
   *
   * @returns Resolves when events that are published from now on arrive. If it rejects, no listener of the topic gets any.
   */
  listen(topic: string, listener: EventListener): Promise<unknown> {
    const known = this.#topics.get(topic) ?? this.#subscribe(topic);
    known.listeners.add(listener);
    return known.ready;
  }

  unlisten(topic: string, listener: EventListener): void {
    const known = this.#topics.get(topic);
    if (!known?.listeners.delete(listener) || known.listeners.size > 0) return;
    this.#topics.delete(topic);
    known.subscribed
      .then((unsubscribe) => unsubscribe())
      .catch((error: unknown) => this.#logger.log('error', 'A subscription of the message bus could not be ended', { topic, error }));
  }

  /** Subscribes to a topic of the bus. @throws Errors of the bus, as a rejection. */
  async subscribe(topic: string, onMessage: (event: BusMessage) => void, onGap: () => void): Promise<() => void> {
    return this.#bus.subscribe(topic, onMessage, onGap);
  }

  #subscribe(topic: string): Topic {
    const listeners = new Set<EventListener>();
    const subscribe = (): Promise<() => void> =>
      this.subscribe(
        topic,
        (event) => deliver(listeners, event),
        () => deliver(listeners, { topic }),
      );
    const subscribed = subscribe();
    const known: Topic = { listeners, subscribed, ready: subscribed };
    this.#topics.set(topic, known);
    subscribed.then(
      () => (known.ready = resolvedPromise),
      () => this.#topics.get(topic) === known && this.#topics.delete(topic),
    );
    return known;
  }

  /** Publishes an event. Logs errors of the bus, and never rejects. */
  publish(event: BusMessage): Promise<void> {
    return this.#publish(event).catch(() => undefined);
  }

  /** @throws Errors of the bus, as a rejection. They are logged too, so that nobody needs to await it. */
  resourceUpdated(uri: string): Promise<void> {
    return this.#publish({ topic: resourceTopic(uri), payload: { uri } });
  }

  #publish(event: BusMessage): Promise<void> {
    const published = this.#bus.publish(event);
    published.catch((error: unknown) => this.#logger.log('error', 'An event could not be published', { topic: event.topic, error }));
    return published;
  }

  /** Announces that a list changed. Several changes in one event-loop turn are published once, and only if there are listeners. */
  listChanged(kind: ListKind): void {
    if (!this.#isShared && !this.#topics.has(listTopic(kind))) return;
    this.#changed.add(kind);
    this.#timer ??= this.#clock.schedule(() => this.#publishChanges(), 0);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #publishChanges(): void {
    this.#timer = undefined;
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const kind of changed) void this.publish({ topic: listTopic(kind) });
  }
}

function deliver(listeners: ReadonlySet<EventListener>, event: BusMessage): void {
  for (const listener of listeners) {
    if (event.principal === undefined || event.principal === listener.principal) listener.onEvent(event);
  }
}
