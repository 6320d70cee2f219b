/** Change events within this process: one subscription of the message bus per topic, and at most one event per list and event-loop turn. */

import type { Clock, ClockTimer, JsonRpcNotification, Logger } from '@mortise/jsonrpc-core';
import { MemoryMessageBus } from '@mortise/protocol';
import type { BusMessage, MessageBus, Principal } from '@mortise/protocol/contracts';

/** The lists whose changes are announced. */
export type ListKind = 'tools' | 'resources' | 'prompts';

export const LIST_KINDS: readonly ListKind[] = ['tools', 'resources', 'prompts'];

/** Returns the bus topic of a list's changes. The notification's method is `notifications/` plus the topic. */
export function listTopic(kind: ListKind): string {
  return `${kind}/list_changed`;
}

/** Returns the list that a notification is about. */
export function listKindOf(method: string): ListKind | undefined {
  return LIST_KINDS.find((kind) => method === `notifications/${listTopic(kind)}`);
}

const RESOURCE = 'resource:';

export function resourceTopic(uri: string): string {
  return `${RESOURCE}${uri}`;
}

/** Returns the notification for an event, or undefined for an extension's event. A subscription may also cover URIs below its own. */
export function toNotification({ topic, payload }: BusMessage): JsonRpcNotification | undefined {
  if (LIST_KINDS.some((kind) => topic === listTopic(kind))) return { jsonrpc: '2.0', method: `notifications/${topic}` };
  if (!topic.startsWith(RESOURCE)) return undefined;
  const { uri } = (payload ?? {}) as { readonly uri?: unknown };
  const params = { uri: typeof uri === 'string' ? uri : topic.slice(RESOURCE.length) };
  return { jsonrpc: '2.0', method: 'notifications/resources/updated', params };
}

/** Returns a key for merging: of several notifications with the same key, only the newest matters. */
export function keyOf({ method, params }: JsonRpcNotification): string {
  return `${method} ${String(params?.['uri'])}`;
}

/** A listener for events: a session or a `subscriptions/listen`. */
export interface EventListener {
  /** Events for one principal only reach that principal's listeners. */
  readonly principal: Principal;
  onEvent(event: BusMessage): void;
}

interface Topic {
  readonly listeners: Set<EventListener>;
  readonly unsubscribe: () => void;
}

export class Events {
  readonly #bus: MessageBus;
  readonly #isShared: boolean;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #topics = new Map<string, Topic>();
  readonly #changed = new Set<ListKind>();
  #timer: ClockTimer | undefined;

  /** @param bus The program's own bus, which may connect several machines. */
  constructor(bus: MessageBus | undefined, clock: Clock, logger: Logger) {
    this.#isShared = bus !== undefined;
    this.#clock = clock;
    this.#logger = logger;
    this.#bus = bus ?? new MemoryMessageBus({ onError: (error) => logger.log('error', 'A listener failed', { error }) });
  }

  listen(topic: string, listener: EventListener): void {
    let known = this.#topics.get(topic);
    if (!known) {
      const listeners = new Set<EventListener>();
      known = { listeners, unsubscribe: this.#bus.subscribe(topic, (event) => deliver(listeners, event)) };
      this.#topics.set(topic, known);
    }
    known.listeners.add(listener);
  }

  unlisten(topic: string, listener: EventListener): void {
    const known = this.#topics.get(topic);
    if (!known?.listeners.delete(listener) || known.listeners.size > 0) return;
    this.#topics.delete(topic);
    known.unsubscribe();
  }

  publish(event: BusMessage): Promise<void> {
    return this.#bus
      .publish(event)
      .catch((error: unknown) => this.#logger.log('error', 'An event could not be published', { topic: event.topic, error }));
  }

  resourceUpdated(uri: string): Promise<void> {
    return this.publish({ topic: resourceTopic(uri), payload: { uri } });
  }

  /** Announces that a list changed. Several changes in one turn are published once. Nothing is published without listeners. */
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
