/** `Session`: a legacy session with what `initialize` negotiated with the client, and the way to send it messages. */

import {
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonValue,
  type LogLevel,
  ProtocolError,
} from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { Revision, ServerCapabilities } from '@mortise/protocol';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { checkClientNotification } from '@mortise/protocol/checks';
import type { BusMessage, Call, Principal, SessionLink, SessionState } from '@mortise/protocol/contracts';
import type { ListRootsResult } from '@mortise/protocol/model';
import { Context } from './context.ts';
import { AskError, HandlerStoppedError } from './errors.ts';
import { type EventListener, keyOf, LIST_KINDS, listTopic, resourceTopic, toNotification } from './events.ts';
import { findBeforeOpening, negotiate } from './own-methods.ts';
import { LogGate, warnOfSilence } from './logging.ts';
import { createCall } from './calls.ts';
import type { Route } from './method.ts';
import type { ClientFacts } from './middleware/middleware.ts';
import { Outbox } from './outbox.ts';
import type { Server } from './server.ts';
import { type Agreement, fromState, toState } from './session-state.ts';

/** Options of a request to the client: its call, cancellation and time limit. */
export interface ClientRequestOptions {
  /** The client's call that the request belongs to. The request is sent on the call's stream and cancelled with the call. @default none */
  readonly call?: Call | undefined;
  /** Aborting it cancels the request to the client. @default none */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for the client's response, in milliseconds. @default 600_000 */
  readonly timeoutMs?: number | undefined;
  /** How long to wait in total, whatever progress arrives, in milliseconds. @default 600_000, or a longer `timeoutMs` */
  readonly maxTimeoutMs?: number | undefined;
  /** Whether the client's progress restarts `timeoutMs`. @default true */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** Called with the client's progress on the request. @default none */
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
}

const NO_TOPICS: ReadonlySet<string> = new Set();
const NOBODY: ClientFacts = Object.freeze({ info: undefined, capabilities: Object.freeze({}) });
/** The longest URI that a client may subscribe to, in characters. Each URI is kept in memory as long as the subscription. */
const MAX_URI_LENGTH = 2048;
/** The most characters that the subscribed URIs of one session, or of one `subscriptions/listen`, may have together. */
export const MAX_URI_CHARACTERS = 128 * 1024;
/** How long a request to the client waits for its response by default, in milliseconds. */
const ASK_TIMEOUT_MS = 600_000;

export abstract class Session implements EventListener {
  /** The client's roots, kept until the client sends `notifications/roots/list_changed`. */
  roots: Promise<ListRootsResult> | undefined = undefined;
  protected readonly server: Server;
  protected readonly link: SessionLink;
  #agreed: Agreement | undefined;
  #isClosed = false;
  #ready: Promise<void> = resolvedPromise;
  #logGate: LogGate | undefined;
  #outbox: Outbox | undefined;
  #closed: Promise<void> | undefined;
  #onClosed: (() => void) | undefined;

  /**
   * @param saved The stored state of an earlier session to continue.
   * @throws {ProtocolError} -32602: this server does not know the stored state's layout or revision.
   */
  constructor(server: Server, link: SessionLink, saved?: SessionState) {
    this.server = server;
    this.link = link;
    if (saved) this.restore(saved);
  }

  get principal(): Principal {
    return this.link.principal;
  }

  get id(): string | undefined {
    return this.link.sessionId;
  }

  /** The protocol revision that `initialize` negotiated. Undefined before `initialize`. */
  get revision(): Revision | undefined {
    return this.#agreed?.revision;
  }

  get client(): ClientFacts {
    return this.#agreed?.client ?? NOBODY;
  }

  get state(): SessionState {
    return toState(this.#agreed);
  }

  /** Whether the server may send unsolicited messages to the client. */
  get isReady(): boolean {
    return this.#agreed?.isReady === true && !this.#isClosed;
  }

  get logGate(): LogGate {
    return (this.#logGate ??= new LogGate(this.#agreed?.logLevel ?? 'debug', this.server.clock));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get closed(): Promise<void> {
    this.#closed ??= new Promise((resolve) => (this.#isClosed ? resolve() : (this.#onClosed = resolve)));
    return this.#closed;
  }

  /**
   * Takes over the state that another machine has stored. Calls and questions in progress continue.
   *
   * @throws {ProtocolError} -32602: this server does not know the stored state's layout or revision. The session's state is then unchanged.
   */
  restore(saved: SessionState): void {
    if (this.#isClosed) return;
    const { events, sessions, revisions } = this.server;
    const agreed = fromState(saved, revisions);
    const [before, after] = [this.#topicsOf(this.#agreed), this.#topicsOf(agreed)];
    // What is in both is listened to without a gap, so that no event is missed.
    for (const topic of before) if (!after.has(topic)) events.unlisten(topic, this);
    const isHere = this.#agreed !== undefined;
    this.#agreed = agreed;
    this.roots = undefined;
    if (agreed) sessions.add(this);
    if (this.#logGate) this.#logGate.threshold = agreed?.logLevel ?? 'debug';
    const added = [...after].filter((topic) => !before.has(topic));
    this.#listen(added);
    // The client has subscribed at another machine, and the resource may have changed before this one listened.
    if (isHere) void this.#ready.then(() => added.forEach((topic) => this.onEvent({ topic }))).catch(() => undefined);
  }

  announceAll(): void {
    for (const topic of this.#topicsOf(this.#agreed)) this.onEvent({ topic });
  }

  /** Settles when the session gets the events of all that its client listens to. Rejects with the error of the message bus. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /** Listens to topics, besides those before. */
  #listen(topics: readonly string[]): void {
    const waits = topics.map((topic) => this.server.events.listen(topic, this)).filter((each) => each !== resolvedPromise);
    if (waits.length === 0) return;
    const ready = Promise.all([this.#ready, ...waits]).then(() => undefined);
    this.#ready = ready;
    const forget = (): void => {
      if (this.#ready === ready) this.#ready = resolvedPromise;
    };
    ready.then(forget, forget);
  }

  /** Closes the session and removes its subscriptions. Safe to call twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#onClosed?.();
    const { events, sessions } = this.server;
    sessions.delete(this);
    for (const topic of this.#topicsOf(this.#agreed)) events.unlisten(topic, this);
    this.#outbox?.clear();
  }

  // ---- messages of the client

  /**
   * Returns the revision of a request in this session, and the facts of the client that sent it.
   *
   * @returns `client` is undefined for `initialize`, because its params describe the client.
   * @throws {ProtocolError} The session has no revision yet, or `initialize` is repeated.
   */
  callerOf({ method, params }: JsonRpcRequest): { readonly revision: Revision; readonly client: ClientFacts | undefined } {
    if (method === 'initialize') return { revision: negotiate(this.server, this, params), client: undefined };
    return { revision: this.revision ?? findBeforeOpening(this.server, method), client: this.client };
  }

  /** Handles a notification from the client. Never throws. A malformed or unknown notification is dropped. */
  notice({ method, params = {} }: JsonRpcNotification, caller: Pick<Call, 'principal' | 'auth'>): void {
    if (!this.#agreed || this.#isClosed || checkClientNotification(method, params) !== undefined) return;
    if (method === 'notifications/initialized') this.#becomeReady();
    else if (method === 'notifications/roots/list_changed') this.roots = undefined;
    const { revision } = this.#agreed;
    const handler = this.server.methods.notifications.get(method);
    if (!handler) return;
    const canonical = revision.fromWire.notifications.get(method)?.(params) ?? params;
    const context = this.#toContext(method, revision, canonical, caller);
    // Async, so that a throw and a rejection of the handler are handled the same way.
    (async () => handler({ method, params: canonical }, context))().catch((error: unknown) =>
      this.server.logger.log('error', 'A notification handler failed', { method, error }),
    );
  }

  /** Makes the context for a notification handler. Notifications cannot be cancelled. */
  #toContext(method: string, revision: Revision, params: JsonObject, { principal, auth }: Pick<Call, 'principal' | 'auth'>): Context {
    const { signal } = new AbortController();
    const call = createCall({ principal, auth, signal }, async (message) => (this.isReady ? this.link.send(message) : undefined));
    const route = toNotificationRoute(revision, method);
    return new Context({ server: this.server, route, requestId: undefined, params, client: this.client, call, session: this });
  }

  // ---- what session methods change

  /** Opens the session for `initialize`. @returns The server's capabilities for this client. @throws {HandlerStoppedError} It is closed. */
  open(revision: Revision, client: ClientFacts): ServerCapabilities {
    if (this.#isClosed) throw closedError();
    const advertised = this.server.capabilities.advertise(revision, {
      principal: this.principal,
      canReach: this.link.canRequest,
    });
    this.#agreed = { revision, client, advertised, isReady: false, uris: new Set() };
    this.server.sessions.add(this);
    this.#onChanged();
    return advertised;
  }

  /** Serves `logging/setLevel`. @throws {HandlerStoppedError} The session is closed. */
  setLogLevel(level: LogLevel): void {
    this.#open.logLevel = level;
    if (this.#logGate) this.#logGate.threshold = level;
    this.#onChanged();
  }

  /**
   * Serves `resources/subscribe`. Resolves when changes of the resource reach the session.
   *
   * @throws {ProtocolError} -32602: the session has too many subscriptions, or the URI is too long.
   * @throws {HandlerStoppedError} The session is closed.
   */
  async subscribe(uri: string): Promise<void> {
    const { uris } = this.#open;
    if (uris.has(uri)) return this.#ready;
    checkSubscribedUri(uri);
    const max = this.server.options.maxSubscriptions ?? 1000;
    if (uris.size >= max) {
      throw new ProtocolError(
        INVALID_PARAMS,
        `This session has ${max} subscriptions, the maximum (the server's option "maxSubscriptions"): unsubscribe from some first`,
      );
    }
    const characters = [...uris].reduce((sum, { length }) => sum + length, uri.length);
    if (characters > MAX_URI_CHARACTERS) {
      const message = `The URIs of this session's subscriptions have more than ${MAX_URI_CHARACTERS} characters in all: unsubscribe from some first`;
      throw new ProtocolError(INVALID_PARAMS, message);
    }
    uris.add(uri);
    try {
      await this.server.events.listen(resourceTopic(uri), this);
    } catch (error) {
      uris.delete(uri);
      throw error;
    }
    if (this.#isClosed) this.server.events.unlisten(resourceTopic(uri), this);
    else this.#onChanged();
  }

  unsubscribe(uri: string): void {
    if (!this.#agreed?.uris.delete(uri)) return;
    this.server.events.unlisten(resourceTopic(uri), this);
    this.#onChanged();
  }

  /**
   * The state of an open session. Throws if the session is closed, because changes would then be kept forever. Middleware may delay a
   * request until after the client has left.
   */
  get #open(): Agreement {
    if (this.#isClosed || !this.#agreed) throw closedError();
    return this.#agreed;
  }

  #becomeReady(): void {
    const agreed = this.#agreed;
    if (!agreed || agreed.isReady) return;
    agreed.isReady = true;
    this.#listen([...this.#topicsOf(agreed)]);
    // The client may send the notification again.
    this.#ready.catch(() => (agreed.isReady = false));
    this.#onChanged();
  }

  #onChanged(): void {
    this.link.onStateChange?.();
  }

  // ---- the way to the client

  /** Sends a log message outside any call, if the client's log level includes it. */
  sendLog(level: LogLevel, data: JsonValue, logger: string | undefined): void {
    const { revision, server } = this;
    if (!revision) return;
    warnOfSilence(server, revision, 'sendLoggingMessage');
    const params = server.capabilities.has(revision, 'logging') ? this.logGate.admit(level, data, logger) : undefined;
    if (params) this.tell({ jsonrpc: '2.0', method: 'notifications/message', params }, undefined);
  }

  /** Sends a notification outside any call, if the client has sent `notifications/initialized`. @param key See `Outbox.push`. */
  tell(notification: JsonRpcNotification, key: string | undefined): void {
    const { revision } = this;
    if (!revision || !this.isReady) return;
    const { method, params } = notification;
    const convert = params && revision.toWire.notifications.get(method);
    this.#outbox ??= new Outbox(this.link, () =>
      this.server.logger.log('warning', 'A client is too slow: its notifications were dropped', { sessionId: this.id }),
    );
    this.#outbox.push(convert ? { ...notification, params: convert(params) } : notification, key);
  }

  /**
   * Sends a request to the client.
   *
   * @throws {AskError} `ERR_ASK_UNAVAILABLE`: no request can reach the client.
   * @throws {RemoteError} The client responded with an error.
   * @throws {TimeoutError} No response arrived in time.
   * @throws The reasons of `options.signal` and of the call's signal.
   */
  async request(method: string, params: JsonObject | undefined, options: ClientRequestOptions = {}): Promise<JsonObject> {
    this.requireReachable(method);
    const { timeoutMs = ASK_TIMEOUT_MS, maxTimeoutMs = Math.max(timeoutMs, ASK_TIMEOUT_MS) } = options;
    return this.sendRequest(method, params, { ...options, timeoutMs, maxTimeoutMs });
  }

  /** Sends a request to the client, over the session's connection or HTTP handler. */
  protected abstract sendRequest(method: string, params: JsonObject | undefined, options: ClientRequestOptions): Promise<JsonObject>;

  /** Checks that requests can reach the client. @throws {AskError} `ERR_ASK_UNAVAILABLE`: the host has sessions switched off. */
  requireReachable(method: string): void {
    if (this.link.canRequest) return;
    throw new AskError(
      'ERR_ASK_UNAVAILABLE',
      `"${method}" cannot reach this client: sessions are switched off for this host, so switch them on`,
    );
  }

  onEvent(event: BusMessage): void {
    const notification = toNotification(event);
    if (notification) this.tell(notification, keyOf(notification));
  }

  /**
   * Returns what the session listens to: each resource that its client subscribed to and, once the session is ready, the lists that can
   * change. Nothing, if nothing can be sent to the client outside of its requests.
   */
  #topicsOf(agreed: Agreement | undefined): ReadonlySet<string> {
    if (!agreed || !this.link.canRequest) return NO_TOPICS;
    const lists = LIST_KINDS.filter((kind) => agreed.isReady && agreed.advertised[kind]?.listChanged === true);
    return new Set([...lists.map(listTopic), ...[...agreed.uris].map(resourceTopic)]);
  }
}

export function closedError(): HandlerStoppedError {
  return new HandlerStoppedError('ERR_SERVER_CLOSED', 'The session is closed: open a new one with "initialize"');
}

/** Checks the URI of a subscription. @throws {ProtocolError} -32602: the URI is longer than 2,048 characters. */
export function checkSubscribedUri(uri: unknown): void {
  const { length } = String(uri);
  if (length <= MAX_URI_LENGTH) return;
  throw new ProtocolError(
    INVALID_PARAMS,
    `The URI of a subscription may have at most ${MAX_URI_LENGTH} characters, this one has ${length}: subscribe to a resource with a shorter URI`,
  );
}

/** Makes the `Route` of a notification, so that its handler gets a `Context`, which has no request id. */
function toNotificationRoute(revision: Revision, method: string): Route {
  const nothing = { facts: undefined, nameParam: undefined, readParams: undefined, writeResult: undefined };
  return { ...nothing, method, revision, entry: { run: (params) => params }, chain: [], mayAsk: false };
}
