/** Serves `subscriptions/listen`: a request that stays open and delivers change notifications. Loaded when a client first sends one. */

import { type JsonObject, type JsonRpcNotification, type JsonValue, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { BusMessage, Principal } from '@mortise/protocol/contracts';
import { META_SUBSCRIPTION_ID } from '@mortise/protocol/wire';
import type { Channel } from './channel.ts';
import { ChannelCall } from './calls.ts';
import type { Context } from './context.ts';
import { type EventListener, keyOf, LIST_KINDS, listTopic, resourceTopic, toNotification } from './events.ts';
import { Outbox } from './outbox.ts';
import { callerOf } from './middleware/rate-limit.ts';
import { checkSubscribedUri, MAX_URI_CHARACTERS } from './session.ts';

/** How many `subscriptions/listen` requests one connection may have open. */
const MAX_LISTENS = 100;
/** Over HTTP, a caller may have many listens. All together may name this many times what one listen may. */
const CALLER_FACTOR = 10;

/** The part of a `subscriptions/listen` filter that the server accepts. */
interface AcceptedFilter {
  /** The accepted filter, as sent in the acknowledgement. */
  readonly notifications: JsonObject;
  readonly topics: readonly string[];
  /** The resource URIs that the filter names. */
  readonly uris: readonly string[];
}

/** Serves a `subscriptions/listen` request until it ends, and returns its result. */
export async function listen(params: JsonObject, context: Context): Promise<JsonObject> {
  return new Listen(context).run(params['notifications'] as JsonObject);
}

async function acceptFilter(
  wish: JsonObject,
  context: Context,
  send: (method: string, params: JsonObject) => void,
): Promise<AcceptedFilter> {
  const { server, revision, asking: ended } = context;
  const notifications: Record<string, JsonValue> = {};
  const topics: string[] = [];
  for (const kind of LIST_KINDS) {
    const key = `${kind}ListChanged`;
    if (wish[key] !== true || !server.capabilities.has(revision, `${kind}.listChanged`)) continue;
    notifications[key] = true;
    topics.push(listTopic(kind));
  }
  const uris = server.capabilities.has(revision, 'resources.subscribe') ? readUris(wish['resourceSubscriptions']) : undefined;
  if (uris) {
    notifications['resourceSubscriptions'] = uris;
    topics.push(...new Set(uris.map(resourceTopic)));
  }
  for (const filter of server.listenFilters) {
    const part = Object.hasOwn(wish, filter.key) ? wish[filter.key] : undefined;
    const accepted = part === undefined ? undefined : await filter.accept(part, context, { send, ended });
    if (accepted !== undefined) notifications[filter.key] = accepted;
  }
  return { notifications, topics, uris: uris ?? [] };
}

function readUris(wish: JsonValue | undefined): readonly string[] | undefined {
  if (!Array.isArray(wish)) return undefined;
  wish.forEach(checkSubscribedUri);
  return wish.map(String);
}

/** One open `subscriptions/listen` request. */
export class Listen implements EventListener {
  readonly #context: Context;
  readonly #outbox: Outbox;
  #uris: readonly string[] = [];
  #finish: ((result: JsonObject) => void) | undefined;
  /** The messages that wait for the acknowledgement, which must be the first; undefined afterwards. */
  #early: Parameters<Listen['send']>[] | undefined = [];

  constructor(context: Context) {
    this.#context = context;
    this.#outbox = new Outbox(context, () => this.#onOverflow());
  }

  get principal(): Principal {
    return this.#context.principal;
  }

  /** Acknowledges, then delivers change events. Resolves with the result when the server ends it, rejects when the client does. */
  async run(wish: JsonObject): Promise<JsonObject> {
    const { server, signal, asking } = this.#context;
    const send = (method: string, params: JsonObject): void => (asking.aborted ? undefined : this.send(method, params));
    const { topics, notifications, uris } = await acceptFilter(wish, this.#context, send);
    signal.throwIfAborted();
    this.#uris = uris;
    const owned = this.#channel?.listens;
    this.#checkBounds(owned);
    owned?.add(this);
    server.listens.add(this);
    const ended = new Promise<JsonObject>((resolve, reject) => {
      this.#finish = resolve;
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    try {
      const pending = topics.map((topic) => server.events.listen(topic, this)).filter((subscribed) => subscribed !== resolvedPromise);
      // Acknowledged when every event from now on arrives. Where that is so already, nothing is kept of a wait.
      const listening = pending.length > 0 && Promise.all(pending).then(() => undefined);
      const result = listening ? await Promise.race([listening, ended]) : undefined;
      if (result === undefined) this.#acknowledge(notifications);
      return await ended;
    } finally {
      owned?.delete(this);
      server.listens.delete(this);
      for (const topic of topics) server.events.unlisten(topic, this);
      this.#outbox.clear();
    }
  }

  #acknowledge(notifications: JsonObject): void {
    this.#push('notifications/subscriptions/acknowledged', { notifications });
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const message of early) this.#push(...message);
  }

  onEvent(event: BusMessage): void {
    const notification = toNotification(event);
    if (notification) this.send(notification.method, notification.params ?? {}, keyOf(notification));
  }

  /** Sends a notification, not before the acknowledgement. @param key Of notifications with the same key, only the last one need be sent. */
  send(method: string, params: JsonObject, key?: string): void {
    if (this.#early) this.#early.push([method, params, key]);
    else this.#push(method, params, key);
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
   * Checks the limits of one connection; over HTTP, those of one listen and of one caller.
   *
   * @param owned The other listens of the connection. Undefined over HTTP.
   * @throws {ProtocolError} -32602: the filters name too many or too long URIs. -32603: too many listens are open on the connection.
   */
  #checkBounds(owned: ReadonlySet<Listen> | undefined): void {
    const { server } = this.#context;
    if (owned) this.#checkUris(owned, 1);
    else if (this.#uris.length > 0) {
      const caller = callerOf(this.#context);
      this.#checkUris([], 1);
      this.#checkUris(
        [...server.listens].filter((other) => callerOf(other.#context) === caller),
        CALLER_FACTOR,
      );
    }
    if (!owned || owned.size < MAX_LISTENS) return;
    throw new ProtocolError(
      INTERNAL_ERROR,
      `This connection has ${MAX_LISTENS} open subscriptions/listen requests, the maximum: cancel one first, or combine their filters`,
    );
  }

  #checkUris(others: Iterable<Listen>, factor: number): void {
    const { maxSubscriptions = 1000 } = this.#context.server.options;
    let [count, characters] = [0, 0];
    for (const listen of [this, ...others]) {
      count += listen.#uris.length;
      for (const { length } of listen.#uris) characters += length;
    }
    if (count <= maxSubscriptions * factor && characters <= MAX_URI_CHARACTERS * factor) return;
    throw new ProtocolError(
      INVALID_PARAMS,
      `The resourceSubscriptions of your listens name ${count} resources in ${characters} characters: at most ${maxSubscriptions * factor} ` +
        `(the server's option "maxSubscriptions") and ${MAX_URI_CHARACTERS * factor} are allowed together`,
    );
  }

  #push(method: string, params: JsonObject, key?: string): void {
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
