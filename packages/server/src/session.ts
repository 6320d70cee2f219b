/** A legacy session: what `initialize` agreed with one client, and how that client is reached. */

import {
  CancelledError,
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type LogLevel,
  ProtocolError,
  type RequestId,
} from '@mortise/jsonrpc-core';
import { RequestTable } from '@mortise/jsonrpc-core/connection';
import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  isJsonRpcRequest,
  isJsonRpcResponse,
  isRequestId,
  toWireError,
} from '@mortise/jsonrpc-core/messages';
import { Cancellation } from '@mortise/jsonrpc-core/transport';
import type { Revision, ServerCapabilities } from '@mortise/protocol';
import { checkClientNotification } from '@mortise/protocol/checks';
import type { BusMessage, Call, LegacySession, Principal, SessionLink, SessionState } from '@mortise/protocol/contracts';
import type { ListRootsResult } from '@mortise/protocol/model';
import { Context } from './context.ts';
import { AskError, HandlerStoppedError } from './errors.ts';
import { type EventListener, LIST_KINDS, listTopic, resourceTopic, updatedUri } from './events.ts';
import { findBeforeOpening, negotiate } from './handshake.ts';
import { LogGate } from './logging.ts';
import { toNotificationRoute } from './method.ts';
import type { ClientFacts } from './middleware/middleware.ts';
import { Outbox } from './outbox.ts';
import type { Server } from './server.ts';
import { type Agreement, fromState, toState } from './session-state.ts';

/** How a request to the client is sent. */
export interface ClientRequestOptions {
  /** The call that it belongs to: it is sent on that call's stream and ends with it. @default none */
  readonly call?: Call | undefined;
  /** Cancels the request. @default none */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for the answer. @default 600_000 */
  readonly timeoutMs?: number | undefined;
}

/** How a session reaches its client: a host's link, or a connection, which sends requests itself. */
export interface ClientLink extends SessionLink {
  request?(
    method: string,
    params: JsonObject | undefined,
    options: ClientRequestOptions & { readonly timeoutMs: number },
  ): Promise<JsonObject>;
  /** Called with the version that `initialize` agreed on. */
  onOpened?(version: string): void;
}

interface RunningCall {
  readonly call: Call;
  /** Settles `receive`. */
  readonly settle: (response: JsonRpcResponse | undefined) => void;
}

const NOBODY: ClientFacts = Object.freeze({ info: undefined, capabilities: Object.freeze({}) });
/** Each is kept for as long as its subscription lives. */
const MAX_URI_LENGTH = 2048;
/** Of one session's subscriptions together: a caller may have a thousand sessions. */
const MAX_URI_CHARACTERS = 128 * 1024;
/** How long a question to the client waits for its answer, in milliseconds, unless it says otherwise. */
const ASK_TIMEOUT_MS = 600_000;

export class Session implements LegacySession, EventListener {
  readonly principal: Principal;
  /** The client's roots, kept until it announces a change. */
  roots: Promise<ListRootsResult> | undefined = undefined;
  readonly #server: Server;
  readonly #link: ClientLink;
  readonly #running = new Map<RequestId, RunningCall>();
  #agreed: Agreement | undefined;
  #isClosed = false;
  #logGate: LogGate | undefined;
  /** Requests of a hosted session. A connection has a table of its own. */
  #requests: RequestTable<ClientRequestOptions> | undefined;
  #outbox: Outbox | undefined;

  /**
   * @param saved The state of an earlier session that this one goes on from.
   * @throws {ProtocolError} -32602: the saved state has a layout or revision that this server does not know.
   */
  constructor(server: Server, link: ClientLink, saved?: SessionState) {
    this.#server = server;
    this.#link = link;
    this.principal = link.principal;
    this.#agreed = saved && fromState(saved, server.revisions);
    if (!this.#agreed) return;
    server.sessions.add(this);
    for (const uri of this.#agreed.uris) server.events.listen(resourceTopic(uri), this);
    if (this.#agreed.isReady) this.#listenToLists();
  }

  get id(): string | undefined {
    return this.#link.sessionId;
  }

  /** What was agreed on; undefined before `initialize`. */
  get revision(): Revision | undefined {
    return this.#agreed?.revision;
  }

  get client(): ClientFacts {
    return this.#agreed?.client ?? NOBODY;
  }

  get state(): SessionState {
    return toState(this.#agreed);
  }

  /** Whether the server may write to the client unasked. */
  get isReady(): boolean {
    return this.#agreed?.isReady === true && !this.#isClosed;
  }

  get logGate(): LogGate {
    return (this.#logGate ??= new LogGate(this.#agreed?.logLevel ?? 'debug', this.#server.clock));
  }

  // ---- messages of a host

  async receive(message: JsonRpcMessage, call: Call): Promise<JsonRpcResponse | undefined> {
    const isRequest = isJsonRpcRequest(message);
    // Other principals do not learn that the session exists.
    if (call.principal !== this.principal || this.#isClosed) {
      const unknown = new ProtocolError(INVALID_REQUEST, 'There is no such session: send "initialize" to open one');
      return isRequest ? { jsonrpc: '2.0', id: message.id, error: toWireError(unknown) } : undefined;
    }
    if (isRequest) return this.#serve(message, call);
    if (isJsonRpcResponse(message)) this.#requests?.settle(message);
    else if (message.method === 'notifications/cancelled') this.#cancel(message.params);
    else this.notice(message, call);
    return undefined;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { events, sessions } = this.#server;
    sessions.delete(this);
    const reason = new HandlerStoppedError('ERR_SERVER_CLOSED', 'The session was closed');
    for (const id of [...this.#running.keys()]) this.#end(id, reason);
    this.#requests?.failAll(reason);
    for (const kind of LIST_KINDS) events.unlisten(listTopic(kind), this);
    for (const uri of this.#agreed?.uris ?? []) events.unlisten(resourceTopic(uri), this);
    this.#outbox?.clear();
  }

  #serve(request: JsonRpcRequest, call: Call): JsonRpcResponse | Promise<JsonRpcResponse | undefined> {
    const { id } = request;
    if (this.#running.has(id)) {
      const error = new ProtocolError(INVALID_REQUEST, 'A request with this id is still being served: use a new id');
      return { jsonrpc: '2.0', id, error: toWireError(error) };
    }
    const answered = this.#server.serve(request, call, this);
    if (!(answered instanceof Promise)) return answered;
    return new Promise((resolve) => {
      const running = { call, settle: (response: JsonRpcResponse | undefined) => resolve(response) };
      this.#running.set(id, running);
      void answered.then((response) => {
        // A cancelled call may end when its id belongs to another.
        if (this.#running.get(id) === running) this.#running.delete(id);
        resolve(response);
      });
    });
  }

  #cancel(params: JsonObject | undefined): void {
    const { requestId, reason } = params ?? {};
    if (isRequestId(requestId)) this.#end(requestId, new CancelledError(typeof reason === 'string' ? reason : undefined));
  }

  /** A cancelled request has no answer. */
  #end(id: RequestId, reason: Error): void {
    const running = this.#running.get(id);
    this.#running.delete(id);
    running?.call.cancel(reason);
    running?.settle(undefined);
  }

  // ---- messages, from a host or a connection

  /**
   * In which revision a request of this session is, and whose it is.
   *
   * @returns Without a client for `initialize`, whose params say who it is.
   * @throws {ProtocolError} The session speaks no revision yet, or one already.
   */
  callerOf({ method, params }: JsonRpcRequest): { readonly revision: Revision; readonly client: ClientFacts | undefined } {
    if (method === 'initialize') return { revision: negotiate(this.#server, this, params), client: undefined };
    return { revision: this.revision ?? findBeforeOpening(this.#server, method), client: this.client };
  }

  /** Takes a notification. Never throws; a malformed or unknown one is dropped. */
  notice({ method, params = {} }: JsonRpcNotification, caller: Pick<Call, 'principal' | 'auth'>): void {
    if (!this.#agreed || this.#isClosed || checkClientNotification(method, params) !== undefined) return;
    if (method === 'notifications/initialized') this.#becomeReady();
    else if (method === 'notifications/roots/list_changed') this.roots = undefined;
    const { revision } = this.#agreed;
    const handler = this.#server.methods.notifications.get(method);
    if (!handler) return;
    const canonical = revision.fromWire.notifications.get(method)?.(params) ?? params;
    const context = this.#toContext(method, revision, canonical, caller);
    // Async, so that what it throws and what it rejects with are one.
    (async () => handler({ method, params: canonical }, context))().catch((error: unknown) =>
      this.#server.logger.log('error', 'A notification handler failed', { method, error }),
    );
  }

  /** What the handler of a notification is given. Nothing cancels a notification. */
  #toContext(method: string, revision: Revision, params: JsonObject, { principal, auth }: Pick<Call, 'principal' | 'auth'>): Context {
    const call: Call = {
      principal,
      auth,
      signal: new AbortController().signal,
      isCancelled: false,
      cancel: () => undefined,
      send: async (message) => (this.isReady ? this.#link.send(message) : undefined),
    };
    const route = toNotificationRoute(revision, method);
    return new Context({ server: this.#server, route, requestId: undefined, params, client: this.client, call, session: this });
  }

  // ---- what session methods change

  /** Opens the session. @returns The server's capabilities for this client. @throws {HandlerStoppedError} The session is closed. */
  open(revision: Revision, client: ClientFacts): ServerCapabilities {
    if (this.#isClosed) throw closedError();
    const advertised = this.#server.capabilities.advertise(revision, {
      via: 'channel',
      principal: this.principal,
      isAuthenticated: this.#link.auth !== undefined,
      canReach: this.#link.canRequest,
    });
    this.#agreed = { revision, client, advertised, isReady: false, uris: new Set() };
    this.#server.sessions.add(this);
    this.#link.onOpened?.(revision.version);
    this.#onChanged();
    return advertised;
  }

  /** @throws {HandlerStoppedError} The session is closed. */
  setLogLevel(level: LogLevel): void {
    this.#open.logLevel = level;
    if (this.#logGate) this.#logGate.threshold = level;
    this.#onChanged();
  }

  /**
   * @throws {ProtocolError} -32602: the session has as many subscriptions as it may have, or the address is too long.
   * @throws {HandlerStoppedError} The session is closed.
   */
  subscribe(uri: string): void {
    const { uris } = this.#open;
    if (uris.has(uri)) return;
    checkSubscribedUri(uri);
    const max = this.#server.options.maxSubscriptions ?? 1000;
    if (uris.size >= max) {
      throw new ProtocolError(
        INVALID_PARAMS,
        `This session has ${max} subscriptions, which is the most (the server's option "maxSubscriptions"): unsubscribe from some first`,
      );
    }
    const characters = [...uris].reduce((sum, { length }) => sum + length, uri.length);
    if (characters > MAX_URI_CHARACTERS) {
      const message = `The URIs of this session's subscriptions have more than ${MAX_URI_CHARACTERS} characters in all: unsubscribe from some first`;
      throw new ProtocolError(INVALID_PARAMS, message);
    }
    uris.add(uri);
    this.#server.events.listen(resourceTopic(uri), this);
    this.#onChanged();
  }

  unsubscribe(uri: string): void {
    if (!this.#agreed?.uris.delete(uri)) return;
    this.#server.events.unlisten(resourceTopic(uri), this);
    this.#onChanged();
  }

  /** Middleware may wait while the client leaves: what it then lets through would be kept, and never given back. */
  get #open(): Agreement {
    if (this.#isClosed || !this.#agreed) throw closedError();
    return this.#agreed;
  }

  #becomeReady(): void {
    if (!this.#agreed || this.#agreed.isReady) return;
    this.#agreed.isReady = true;
    this.#listenToLists();
    this.#onChanged();
  }

  #listenToLists(): void {
    for (const kind of LIST_KINDS)
      if (this.#agreed?.advertised[kind]?.listChanged === true) this.#server.events.listen(listTopic(kind), this);
  }

  #onChanged(): void {
    this.#link.onStateChange?.(this.state);
  }

  // ---- the way to the client

  /** Sends a notification that belongs to no call, once the client is ready for such. @param key See `Outbox.push`. */
  tell(notification: JsonRpcNotification, key: string | undefined): void {
    const { revision } = this;
    if (!revision || !this.isReady) return;
    const { method, params } = notification;
    const convert = params && revision.toWire.notifications.get(method);
    this.#outbox ??= new Outbox(this.#link, () =>
      this.#server.logger.log('warning', 'A client is too slow: its notifications were dropped', { sessionId: this.id }),
    );
    this.#outbox.push(convert ? { ...notification, params: convert(params) } : notification, key);
  }

  /**
   * Sends a request to the client.
   *
   * @throws {AskError} `ERR_ASK_UNAVAILABLE`: no request can reach it.
   * @throws {RemoteError} {TimeoutError} and the reasons of `options.signal` and of the call's signal.
   */
  async request(method: string, params: JsonObject | undefined, options: ClientRequestOptions = {}): Promise<JsonObject> {
    this.requireReachable(method);
    const timed = { ...options, timeoutMs: options.timeoutMs ?? ASK_TIMEOUT_MS };
    if (this.#link.request) return this.#link.request(method, params, timed);
    const cancellation = new Cancellation();
    for (const signal of [options.signal, options.call?.signal]) if (signal) cancellation.follow(signal);
    this.#requests ??= this.#createTable();
    return this.#requests.request(method, params, { ...timed, signal: cancellation.signal }).finally(() => cancellation.release());
  }

  /** @throws {AskError} `ERR_ASK_UNAVAILABLE`: the host has switched off what would carry a request to the client. */
  requireReachable(method: string): void {
    if (this.#link.canRequest) return;
    throw new AskError(
      'ERR_ASK_UNAVAILABLE',
      `"${method}" cannot reach this client: sessions are off for this host, switch them on to ask`,
    );
  }

  #createTable(): RequestTable<ClientRequestOptions> {
    const carrierOf = (options: ClientRequestOptions | undefined): Pick<Call, 'send'> => options?.call ?? this.#link;
    return new RequestTable({
      send: (request, { options }) => carrierOf(options).send(request),
      sendCancelled(params, { options }): void {
        // Nothing is sent for a call that its client has given up.
        if (options?.call?.isCancelled) return;
        void carrierOf(options)
          .send({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
          .catch(() => undefined);
      },
      // Unguessable and unique, also where several machines write to one session.
      newId: () => crypto.randomUUID(),
      onError: () => undefined,
      timeoutMs: Infinity,
      maxTimeoutMs: Infinity,
      clock: this.#server.clock,
    });
  }

  onEvent(event: BusMessage): void {
    const uri = updatedUri(event);
    const method = uri === undefined ? `notifications/${event.topic}` : 'notifications/resources/updated';
    const notification: JsonRpcNotification = { jsonrpc: '2.0', method, ...(uri === undefined ? {} : { params: { uri } }) };
    this.tell(notification, `${method} ${uri ?? ''}`);
  }
}

function closedError(): HandlerStoppedError {
  return new HandlerStoppedError('ERR_SERVER_CLOSED', 'The session is closed');
}

/** @throws {ProtocolError} -32602: an address is longer than 2,048 characters. */
export function checkSubscribedUri(uri: unknown): void {
  const { length } = String(uri);
  if (length <= MAX_URI_LENGTH) return;
  throw new ProtocolError(
    INVALID_PARAMS,
    `A URI to subscribe to has ${MAX_URI_LENGTH} characters at most, this one has ${length}: subscribe to a resource with a shorter URI`,
  );
}
