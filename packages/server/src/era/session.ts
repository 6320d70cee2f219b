/** A legacy session: what `initialize` agreed with one client, and how its messages become the server's ordinary dispatch. */

import { type JsonObject, type JsonRpcNotification, type JsonRpcRequest, type LogLevel, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { Revision, Root, ServerCapabilities } from '@mortise/protocol';
import { checkClientNotification } from '@mortise/protocol/checks';
import type { AuthInfo, BusMessage, Call, ExtensionCall, Principal } from '@mortise/protocol/contracts';
import { type Answer, answer, toErrorAnswer } from '../answer.ts';
import type { ClientLink } from '../client-link.ts';
import { ServerClosedError } from '../errors.ts';
import { LIST_KINDS, listTopic } from '../list-changed.ts';
import { LogGate } from '../logging.ts';
import type { ClientFacts } from '../middleware/middleware.ts';
import { Outbox } from '../outbox.ts';
import { paramsOf } from '../request-call.ts';
import type { ServerCore } from '../server-core.ts';
import { requireShortInSum, requireShortUris } from '../subscribed-uri.ts';
import type { TopicListener } from '../topics.ts';
import { NotificationCall } from './notification-call.ts';
import { toSessionCall } from './session-call.ts';

const NOBODY: ClientFacts = Object.freeze({ info: undefined, capabilities: Object.freeze({}) });

/** What a session keeps, in the form that it is opened from again. */
export interface SessionFacts {
  readonly revision: Revision;
  readonly client: ClientFacts;
  readonly isReady: boolean;
  readonly logLevel: LogLevel | undefined;
  readonly uris: readonly string[];
  /** What the client was told. */
  readonly advertised: ServerCapabilities;
}

export class Session implements TopicListener {
  readonly core: ServerCore;
  readonly link: ClientLink;
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  /** What the client said its roots are, kept until it says that they changed, unless they are too much; see `listClientRoots`. */
  roots: Promise<readonly Root[]> | undefined = undefined;
  #revision: Revision | undefined;
  #client: ClientFacts = NOBODY;
  #advertised: ServerCapabilities | undefined;
  #isReady = false;
  #isClosed = false;
  #logLevel: LogLevel | undefined;
  #logGate: LogGate | undefined;
  #uris: Set<string> | undefined;
  #urisLength = 0;
  #outbox: Outbox | undefined;

  constructor(core: ServerCore, link: ClientLink, caller: { readonly principal: Principal; readonly auth?: AuthInfo | undefined }) {
    this.core = core;
    this.link = link;
    this.principal = caller.principal;
    this.auth = caller.auth;
  }

  get id(): string | undefined {
    return this.link.sessionId;
  }

  /** What was agreed on; undefined before `initialize`. */
  get revision(): Revision | undefined {
    return this.#revision;
  }

  get client(): ClientFacts {
    return this.#client;
  }

  /** Whether the client said that it is ready: only then may the server write to it unasked. */
  get isReady(): boolean {
    return this.#isReady && !this.#isClosed;
  }

  get logLevel(): LogLevel | undefined {
    return this.#logLevel;
  }

  get logGate(): LogGate {
    const { logging = {} } = this.core.options;
    return (this.#logGate ??= new LogGate(this.#logLevel ?? logging.defaultLevel ?? 'debug', this.core.clock, logging));
  }

  /** What the session remembers; undefined before `initialize`. */
  get facts(): SessionFacts | undefined {
    if (!this.#revision) return undefined;
    return {
      revision: this.#revision,
      client: this.#client,
      isReady: this.#isReady,
      logLevel: this.#logLevel,
      uris: [...(this.#uris ?? [])],
      advertised: this.#advertised ?? {},
    };
  }

  // ---- messages

  /** Answers a request. Neither throws nor rejects. */
  serve(request: JsonRpcRequest, host: Call): Answer {
    try {
      return answer(toSessionCall(this, request, host));
    } catch (error) {
      return toErrorAnswer(request.id, error);
    }
  }

  /** Takes a notification. Never throws; a malformed or unknown one is dropped. */
  notice(notification: JsonRpcNotification, host: { readonly principal: Principal; readonly auth?: AuthInfo | undefined }): void {
    const revision = this.#revision;
    if (!revision || this.#isClosed) return;
    const params = paramsOf(notification.params);
    if (checkClientNotification(notification.method, notification.params) !== undefined) return;
    if (notification.method === 'notifications/initialized') this.#becomeReady();
    else if (notification.method === 'notifications/roots/list_changed') this.roots = undefined;
    const entries = this.core.notifications.find(notification.method, revision.era);
    if (entries.length === 0) return;
    const canonical = revision.fromWire.notifications.get(notification.method)?.(params) ?? params;
    const call: ExtensionCall = new NotificationCall(this, revision, host);
    for (const entry of entries) void this.#run(notification.method, () => entry.run(canonical, call));
  }

  // ---- what session methods change

  /** Opens the session. @returns What the client is told. @throws {ServerClosedError} It is over. */
  open(revision: Revision, client: ClientFacts): ServerCapabilities {
    this.#requireOpen();
    this.#revision = revision;
    this.#client = client;
    this.#advertised = this.core.capabilities.tellTo(revision, {
      via: 'channel',
      principal: this.principal,
      isAuthenticated: this.auth !== undefined,
      hasWayBack: this.link.canRequest,
    });
    this.core.sessions.add(this);
    this.link.onOpened?.(revision.version);
    this.link.onChanged?.();
    return this.#advertised;
  }

  /** Goes on where another session stopped. */
  restore(facts: SessionFacts): void {
    this.#revision = facts.revision;
    this.#client = facts.client;
    this.#advertised = facts.advertised;
    this.#logLevel = facts.logLevel;
    this.core.sessions.add(this);
    for (const uri of new Set(facts.uris)) this.#listenTo(uri);
    if (facts.isReady) this.#listenToLists();
  }

  /** @throws {ServerClosedError} The session is over. */
  setLogLevel(level: LogLevel): void {
    this.#requireOpen();
    this.#logLevel = level;
    if (this.#logGate) this.#logGate.threshold = level;
    this.link.onChanged?.();
  }

  /**
   * @throws {ProtocolError} -32602: the session has as many subscriptions as it may have, or the addresses are too long.
   * @throws {ServerClosedError} The session is over.
   */
  subscribe(uri: string): void {
    this.#requireOpen();
    if (this.#uris?.has(uri)) return;
    requireShortUris([uri]);
    const max = this.core.options.maxSubscriptions ?? 1000;
    if ((this.#uris?.size ?? 0) >= max) {
      throw new ProtocolError(
        INVALID_PARAMS,
        `This session has ${max} subscriptions, which is the most (the server's option "maxSubscriptions"): unsubscribe from some first`,
      );
    }
    requireShortInSum(this.#urisLength + uri.length, max);
    this.#listenTo(uri);
    this.link.onChanged?.();
  }

  unsubscribe(uri: string): void {
    if (!this.#uris?.delete(uri)) return;
    this.#urisLength -= uri.length;
    this.core.topics.delete(`resource:${uri}`, this);
    this.link.onChanged?.();
  }

  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#isClosed = true;
    this.core.sessions.delete(this);
    for (const kind of LIST_KINDS) this.core.topics.delete(listTopic(kind), this);
    for (const uri of this.#uris ?? []) this.core.topics.delete(`resource:${uri}`, this);
    this.#uris = undefined;
    this.#outbox?.clear();
    return Promise.resolve();
  }

  // ---- what the session tells unasked

  onEvent(event: BusMessage): void {
    const isUpdate = event.topic.startsWith('resource:');
    const method = isUpdate ? 'notifications/resources/updated' : `notifications/${event.topic}`;
    const payload = event.payload as JsonObject | undefined;
    const uri = payload?.['uri'];
    const params: JsonObject | undefined = isUpdate
      ? { uri: typeof uri === 'string' ? uri : event.topic.slice('resource:'.length) }
      : undefined;
    this.tell({ jsonrpc: '2.0', method, ...(params ? { params } : {}) }, isUpdate ? `${method} ${String(params?.['uri'])}` : method);
  }

  /** Sends a notification that belongs to no call, once the client is ready for such. @param key See `Outbox.push`. */
  tell(notification: JsonRpcNotification, key: string | undefined): void {
    const revision = this.#revision;
    if (!revision || !this.isReady) return;
    const { params } = notification;
    const convert = params && revision.toWire.notifications.get(notification.method);
    this.#outbox ??= new Outbox(
      {
        send: (message) => this.link.send(message),
        onOverflow: () => this.core.logger.log('warning', 'A client is too slow: its notifications were dropped', { sessionId: this.id }),
      },
      this.core.options.maxQueuedNotifications ?? 1024,
    );
    this.#outbox.push(convert ? { ...notification, params: convert(params) } : notification, key);
  }

  /** Middleware may wait while the client goes: what it then lets through would be kept, and never given back. */
  #requireOpen(): void {
    if (this.#isClosed) throw new ServerClosedError('The session was closed');
  }

  #becomeReady(): void {
    if (this.#isReady) return;
    this.#listenToLists();
    this.link.onChanged?.();
  }

  #listenToLists(): void {
    this.#isReady = true;
    for (const kind of LIST_KINDS) {
      if (this.#advertised?.[kind]?.listChanged === true) this.core.topics.add(listTopic(kind), this);
    }
  }

  #listenTo(uri: string): void {
    (this.#uris ??= new Set()).add(uri);
    this.#urisLength += uri.length;
    this.core.topics.add(`resource:${uri}`, this);
  }

  async #run(method: string, fn: () => void | Promise<void>): Promise<void> {
    try {
      await fn();
    } catch (error) {
      this.core.logger.log('error', 'A notification handler failed', { method, error });
    }
  }
}
