/** `subscriptions/listen`: one long request that delivers the changes it asked for. */

import type { JsonObject, JsonRpcNotification, JsonValue, RequestId } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { META_SUBSCRIPTION_ID } from '@mortise/protocol/wire';
import type { BusMessage, Call, ListenFilter, Principal } from '@mortise/protocol/contracts';
import { ChannelCall } from './channel-call.ts';
import { LIST_KINDS, type ListKind, listTopic } from './list-changed.ts';
import { Outbox } from './outbox.ts';
import { takeListen } from './take-listen.ts';
import type { RequestCall } from './request-call.ts';
import { requireShortUris } from './subscribed-uri.ts';
import type { TopicListener } from './topics.ts';

const FILTER_KEYS: Readonly<Record<ListKind, string>> = {
  tools: 'toolsListChanged',
  resources: 'resourcesListChanged',
  prompts: 'promptsListChanged',
};

/** What an extension's part of a filter came to. */
interface AcceptedFilter {
  readonly filter: ListenFilter;
  readonly accepted: JsonValue;
}

/** The honoured part of a wish. */
interface Honoured {
  readonly notifications: JsonObject;
  readonly topics: readonly string[];
  /** The resources that are named. */
  readonly uris: readonly unknown[];
  readonly extensions: readonly AcceptedFilter[];
}

/** Serves `subscriptions/listen`. */
export async function listen(params: JsonObject, call: RequestCall, filters: readonly ListenFilter[]): Promise<JsonObject> {
  return new Listen(call, await honour(params['notifications'] as JsonObject, call, filters)).run();
}

async function honour(wish: JsonObject, call: RequestCall, filters: readonly ListenFilter[]): Promise<Honoured> {
  const { core, revision } = call;
  const notifications: Record<string, JsonValue> = {};
  const topics: string[] = [];
  let uris: readonly unknown[] = [];
  for (const kind of LIST_KINDS) {
    if (wish[FILTER_KEYS[kind]] !== true || !core.capabilities.has(revision, `${kind}.listChanged`)) continue;
    notifications[FILTER_KEYS[kind]] = true;
    topics.push(listTopic(kind));
  }
  const wished = wish['resourceSubscriptions'];
  if (Array.isArray(wished) && core.capabilities.has(revision, 'resources.subscribe')) {
    requireShortUris(wished);
    notifications['resourceSubscriptions'] = wished;
    uris = wished;
    topics.push(...new Set(wished.map((uri) => `resource:${String(uri)}`)));
  }
  const extensions = await acceptExtensions(wish, call, filters, notifications);
  topics.push(...extensions.flatMap(({ filter, accepted }) => filter.topics(accepted, call)));
  return { notifications, topics, uris, extensions };
}

async function acceptExtensions(
  wish: JsonObject,
  call: RequestCall,
  filters: readonly ListenFilter[],
  notifications: Record<string, JsonValue>,
): Promise<readonly AcceptedFilter[]> {
  const accepted: AcceptedFilter[] = [];
  for (const filter of filters) {
    const part = Object.hasOwn(wish, filter.key) ? wish[filter.key] : undefined;
    const value = part === undefined ? undefined : await filter.accept(part, call);
    if (value === undefined) continue;
    notifications[filter.key] = value;
    accepted.push({ filter, accepted: value });
  }
  return accepted;
}

/** One open subscription. */
export class Listen implements TopicListener {
  readonly #call: RequestCall;
  readonly #honoured: Honoured;
  readonly #outbox: Outbox;
  #finish: ((result: JsonObject) => void) | undefined;

  constructor(call: RequestCall, honoured: Honoured) {
    this.#call = call;
    this.#honoured = honoured;
    const target = { send: (message: JsonRpcNotification) => call.report(message), onOverflow: () => this.#overflow() };
    this.#outbox = new Outbox(target, call.core.options.maxQueuedNotifications ?? 1024);
  }

  get principal(): Principal {
    return this.#call.principal;
  }

  get id(): RequestId {
    return this.#call.requestId;
  }

  get host(): Call {
    return this.#call.host;
  }

  /** Acknowledges, then delivers. Resolves with the closing result when the server ends it, rejects when the client does. */
  async run(): Promise<JsonObject> {
    const { core, signal } = this.#call;
    signal.throwIfAborted();
    const { topics, uris } = this.#honoured;
    const giveBack = takeListen(this.host, uris, core.options);
    core.listens.add(this);
    try {
      for (const topic of topics) core.topics.add(topic, this);
      // Pushed before anything can be published, so it is the first message.
      this.#push('notifications/subscriptions/acknowledged', { notifications: this.#honoured.notifications }, undefined);
      return await new Promise<JsonObject>((resolve, reject) => {
        this.#finish = resolve;
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    } finally {
      giveBack();
      core.listens.delete(this);
      for (const topic of topics) core.topics.delete(topic, this);
      this.#outbox.clear();
    }
  }

  onEvent(event: BusMessage): void {
    for (const { filter, accepted } of this.#honoured.extensions) {
      const notification = filter.toNotification(event, accepted);
      if (notification) this.#push(notification.method, notification.params ?? {}, undefined);
    }
    if (event.topic.startsWith('resource:')) this.#pushUpdate(event);
    else if (LIST_KINDS.some((kind) => event.topic === listTopic(kind))) this.#push(`notifications/${event.topic}`, {}, event.topic);
  }

  /**
   * Ends the subscription from the server's side: its result, then, on a channel, the notification that some clients wait for.
   *
   * @returns Resolves once both are sent.
   * @see 2026-07-28 basic/patterns/subscriptions#graceful-closure, basic/patterns/cancellation
   */
  async end(): Promise<void> {
    const { host, id } = this;
    this.#finish?.({ _meta: { [META_SUBSCRIPTION_ID]: id } });
    if (!(host instanceof ChannelCall)) return;
    await host.sendAfterAnswer({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: id, reason: 'The server ended the subscription' },
    });
  }

  #pushUpdate(event: BusMessage): void {
    const uri = isJsonObject(event.payload) ? event.payload['uri'] : undefined;
    const told = typeof uri === 'string' ? uri : event.topic.slice('resource:'.length);
    this.#push('notifications/resources/updated', { uri: told }, `${event.topic} ${told}`);
  }

  #push(method: string, params: JsonObject, key: string | undefined): void {
    const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
    this.#outbox.push({ jsonrpc: '2.0', method, params: { ...params, _meta: { ...meta, [META_SUBSCRIPTION_ID]: this.id } } }, key);
  }

  #overflow(): void {
    this.#call.core.logger.log('warning', 'A listener is too slow: its subscription was ended', { principal: this.principal });
    void this.end();
  }
}
