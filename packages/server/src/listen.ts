/** Serves `subscriptions/listen`: a request that stays open and delivers change notifications. Loaded when a client first sends one. */

import { type JsonObject, type JsonRpcNotification, type JsonValue, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { BusMessage, ListenFilter, Principal } from '@mortise/protocol/contracts';
import { META_SUBSCRIPTION_ID } from '@mortise/protocol/wire';
import type { Channel } from './channel.ts';
import { ChannelCall } from './calls.ts';
import type { Context } from './context.ts';
import { type EventListener, keyOf, LIST_KINDS, listTopic, resourceTopic, toNotification } from './events.ts';
import { Outbox } from './outbox.ts';
import { checkSubscribedUri } from './session.ts';

/** How many `subscriptions/listen` requests one connection may have open. */
const MAX_LISTENS = 100;

/** The part of a `subscriptions/listen` filter that the server accepts. */
interface AcceptedFilter {
  /** The accepted filter, as sent in the acknowledgement. */
  readonly notifications: JsonObject;
  readonly topics: readonly string[];
  /** How many resource URIs the filter of `subscriptions/listen` names. */
  readonly subscriptions: number;
  readonly extensions: readonly (readonly [filter: ListenFilter, accepted: JsonValue])[];
}

/** Serves a `subscriptions/listen` request until it ends, and returns its result. */
export async function listen(params: JsonObject, context: Context): Promise<JsonObject> {
  return new Listen(context, await acceptFilter(params['notifications'] as JsonObject, context)).run();
}

async function acceptFilter(wish: JsonObject, context: Context): Promise<AcceptedFilter> {
  const { server, revision } = context;
  const notifications: Record<string, JsonValue> = {};
  const topics: string[] = [];
  const extensions: [ListenFilter, JsonValue][] = [];
  for (const kind of LIST_KINDS) {
    const key = `${kind}ListChanged`;
    if (wish[key] !== true || !server.capabilities.has(revision, `${kind}.listChanged`)) continue;
    notifications[key] = true;
    topics.push(listTopic(kind));
  }
  const uris = server.capabilities.has(revision, 'resources.subscribe') ? wish['resourceSubscriptions'] : undefined;
  if (Array.isArray(uris)) {
    uris.forEach(checkSubscribedUri);
    notifications['resourceSubscriptions'] = uris;
    topics.push(...new Set(uris.map((uri) => resourceTopic(String(uri)))));
  }
  for (const filter of server.listenFilters) {
    const part = Object.hasOwn(wish, filter.key) ? wish[filter.key] : undefined;
    const accepted = part === undefined ? undefined : await filter.accept(part, context, context.asking);
    if (accepted === undefined) continue;
    notifications[filter.key] = accepted;
    extensions.push([filter, accepted]);
    topics.push(...filter.topics(accepted, context));
  }
  return { notifications, topics, subscriptions: Array.isArray(uris) ? uris.length : 0, extensions };
}

/** One open `subscriptions/listen` request. */
export class Listen implements EventListener {
  readonly #context: Context;
  readonly #accepted: AcceptedFilter;
  readonly #outbox: Outbox;
  #finish: ((result: JsonObject) => void) | undefined;

  constructor(context: Context, accepted: AcceptedFilter) {
    this.#context = context;
    this.#accepted = accepted;
    this.#outbox = new Outbox(context, () => this.#onOverflow());
  }

  get principal(): Principal {
    return this.#context.principal;
  }

  /** Acknowledges, then delivers change events. Resolves with the result when the server ends it, rejects when the client does. */
  async run(): Promise<JsonObject> {
    const { server, signal } = this.#context;
    signal.throwIfAborted();
    const { topics, notifications } = this.#accepted;
    const owned = this.#channel?.listens;
    this.#checkBounds(owned ?? new Set());
    owned?.add(this);
    server.listens.add(this);
    try {
      for (const topic of topics) server.events.listen(topic, this);
      // Pushed before any event can be published, so that it is the first message.
      this.#push('notifications/subscriptions/acknowledged', { notifications }, undefined);
      return await new Promise<JsonObject>((resolve, reject) => {
        this.#finish = resolve;
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    } finally {
      owned?.delete(this);
      server.listens.delete(this);
      for (const topic of topics) server.events.unlisten(topic, this);
      this.#outbox.clear();
    }
  }

  onEvent(event: BusMessage): void {
    for (const [filter, accepted] of this.#accepted.extensions) {
      const notification = filter.toNotification(event, accepted);
      if (notification) this.#push(notification.method, notification.params ?? {}, undefined);
    }
    const notification = toNotification(event);
    if (notification) this.#push(notification.method, notification.params ?? {}, keyOf(notification));
  }

  /**
   * Ends the subscription from the server's side. Sends its result and, except over HTTP, `notifications/cancelled` (some clients wait
   * for it).
   *
   * @returns Resolves once both are sent.
   * @see 2026-07-28 basic/patterns/subscriptions#graceful-closure, basic/patterns/cancellation
   */
  async end(): Promise<void> {
    const { call } = this.#context;
    const id = this.#id;
    this.#finish?.({ _meta: { [META_SUBSCRIPTION_ID]: id } });
    if (!(call instanceof ChannelCall)) return;
    const params = { requestId: id, reason: 'The server ended the subscription' };
    await call.sendAfterResponse({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
  }

  get #id(): JsonValue {
    return this.#context.requestId ?? null;
  }

  /**
   * The connection of the request. Undefined over HTTP, where each `subscriptions/listen` has its own stream and the transport limits
   * their number.
   */
  get #channel(): Channel | undefined {
    return this.#context.call instanceof ChannelCall ? this.#context.call.owner : undefined;
  }

  /**
   * Checks the limits of one connection.
   *
   * @throws {ProtocolError} -32602: its filters name too many resources. -32603: it has too many open `subscriptions/listen` requests.
   */
  #checkBounds(others: ReadonlySet<Listen>): void {
    const { maxSubscriptions = 1000 } = this.#context.server.options;
    const { subscriptions } = this.#accepted;
    let used = 0;
    for (const other of others) used += other.#accepted.subscriptions;
    if (used + subscriptions > maxSubscriptions) {
      const also = used === 0 ? '' : ` and the connection's other listens name ${used}`;
      throw new ProtocolError(
        INVALID_PARAMS,
        `resourceSubscriptions names ${subscriptions} resources${also}: at most ${maxSubscriptions} on one connection (the server's option "maxSubscriptions")`,
      );
    }
    if (others.size < MAX_LISTENS) return;
    throw new ProtocolError(
      INTERNAL_ERROR,
      `This connection has ${MAX_LISTENS} open subscriptions/listen requests, the maximum: cancel one first, or combine their filters`,
    );
  }

  #push(method: string, params: JsonObject, key: string | undefined): void {
    const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
    const notification: JsonRpcNotification = {
      jsonrpc: '2.0',
      method,
      params: { ...params, _meta: { ...meta, [META_SUBSCRIPTION_ID]: this.#id } },
    };
    this.#outbox.push(notification, key);
  }

  #onOverflow(): void {
    this.#context.server.logger.log('warning', 'A listener is too slow: its subscription was ended', { principal: this.principal });
    void this.end();
  }
}
