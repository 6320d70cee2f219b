/** Requests, responses, notifications and cancellation in both directions over one transport. */

import { checkOptions } from '../check-options.ts';
import { ConnectionClosedError, InvalidRequestError, InvalidResponseError, RemoteError, UsageError } from '../errors.ts';
import { type Clock, type ClockTimer, systemClock } from '../clock.ts';
import { judgeMalformed, type MessageHead } from '../malformed.ts';
import {
  classifyMessage,
  isRequestId,
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../message.ts';
import { measureMessage } from '../parse-json.ts';
import { holdTransport, runCallback, toError } from '../transport/hold-transport.ts';
import { type MessageInfo, resolvedPromise, type SendOptions, type Transport } from '../transport/transport.ts';
import { INVALID_REQUEST, PARSE_ERROR } from '../wire-error.ts';
import { CONNECTION_OPTIONS, type ConnectionOptions } from './connection-options.ts';
import { type Batch, InboundCalls } from './inbound-calls.ts';
import type { RequestOptions, RequestParams } from './pending-request.ts';
import { RequestTable } from './request-table.ts';

/** How many messages a batch may contain. A longer batch is rejected as a whole. */
const MAX_BATCH = 1000;
const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_TIMEOUT_MS = 600_000;

/**
 * One JSON-RPC connection. It matches responses to requests, serves requests, and handles cancellation, progress and timeouts. When it closes, all
 * pending requests end with an error.
 *
 * It takes over the transport's callbacks at `start` and restores them at the end. The ids that it sends are integers that never repeat.
 *
 * @see JSON-RPC 2.0; all revisions: basic, basic/utilities/cancellation, basic/utilities/progress
 */
export class Connection {
  /** Resolves when the connection has ended, for any reason, and no request is pending any more. Never rejects. */
  readonly closed: Promise<void>;
  readonly transport: Transport;
  /** The requests sent on this connection that wait for a response. `Connection.request` is a shortcut to it. */
  readonly requests: RequestTable;
  readonly #options: ConnectionOptions;
  readonly #clock: Clock;
  readonly #inbound: InboundCalls;
  #state: 'new' | 'open' | 'closing' | 'closed' = 'new';
  #giveBack: (() => void) | undefined;
  #idleWaiters: (() => void)[] = [];
  #resolveClosed: () => void = () => undefined;
  #closedError: ConnectionClosedError | undefined;

  /**
   * @param transport An unstarted transport; `start` starts it.
   * @throws {TypeError} An unknown option, or a value of the wrong kind.
   */
  constructor(transport: Transport, options: ConnectionOptions = {}) {
    checkOptions('Connection options', options, CONNECTION_OPTIONS);
    const { clock = systemClock, requestTimeoutMs: timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    this.transport = transport;
    this.#options = options;
    this.#clock = clock;
    this.requests = new RequestTable({
      send: this.#send,
      sendCancelled: (params) => this.#sendCancelled(params),
      onEmpty: this.#checkIdle,
      onError: this.#report,
      newId: options.newId,
      timeoutMs,
      maxTimeoutMs: options.maxRequestTimeoutMs ?? Math.max(timeoutMs, DEFAULT_MAX_TIMEOUT_MS),
      clock,
    });
    this.#inbound = new InboundCalls(this, options, {
      send: (message) => (this.#state === 'open' ? this.#send(message) : resolvedPromise),
      report: this.#report,
      onProgress: this.#checkIdle,
    });
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  /** How many requests of the peer are being served (`inbound`), and how many to the peer wait for a response (`outbound`). */
  get inFlight(): { readonly inbound: number; readonly outbound: number } {
    return { inbound: this.#inbound.running, outbound: this.requests.size };
  }

  /** How many bytes the requests in progress have, if the transport measures them. See `maxInFlightBytes`. */
  get inFlightBytes(): number {
    return this.#inbound.bytes;
  }

  /**
   * Starts the transport and begins to serve.
   *
   * @throws {UsageError} `ERR_ALREADY_STARTED`: on a second call.
   * @throws Whatever the transport's `start` rejects with. The connection is closed then.
   */
  async start(): Promise<void> {
    if (this.#state !== 'new') throw new UsageError('ERR_ALREADY_STARTED', 'This connection was already started: create a new one');
    this.#state = 'open';
    this.#giveBack = holdTransport(this.transport, {
      onMessage: this.#receive,
      onError: (error) => this.#onTransportError(error),
      onClose: () => this.#finish(),
      onThrown: this.#report,
    });
    try {
      await this.transport.start();
    } catch (error) {
      this.#finish();
      throw error;
    }
  }

  /**
   * Sends a request and resolves with its result.
   *
   * @throws {RemoteError} The peer responded with an error.
   * @throws {TimeoutError} No response arrived in time. A cancellation was sent.
   * @throws {ConnectionClosedError} The connection closed first.
   * @throws `options.signal`'s reason, once it aborts. A cancellation was sent.
   */
  request(method: string, params?: RequestParams, options?: RequestOptions): Promise<JsonObject> {
    return this.requests.request(method, params, options);
  }

  /**
   * Sends a notification. Resolves once the transport has accepted it. You need not handle a rejection.
   *
   * @throws {ConnectionClosedError} The connection is closed.
   */
  notify(method: string, params?: JsonObject, options?: SendOptions): Promise<void> {
    const sent = this.#send(toNotification(method, params), options);
    if (sent !== resolvedPromise) sent.catch(() => undefined);
    return sent;
  }

  /**
   * Rejects new requests, lets requests in flight finish in both directions, then closes.
   *
   * @param deadlineMs Milliseconds after which the remaining requests are aborted.
   */
  async drain(deadlineMs: number): Promise<void> {
    this.#inbound.refuseNew();
    if (this.#state === 'open' && !this.#isIdle()) {
      let timer: ClockTimer | undefined;
      await new Promise<void>((resolve) => {
        this.#idleWaiters.push(resolve);
        timer = this.#clock.schedule(resolve, deadlineMs, { keepAlive: true });
      });
      timer?.cancel();
    }
    await this.close();
  }

  /** Rejects all pending requests, aborts the requests being served and closes the transport. May be called at any time and repeatedly. */
  async close(): Promise<void> {
    // A transport that was never started may hold resources too, so close it as well.
    if (this.#state === 'new' || this.#state === 'open') {
      this.#state = 'closing';
      this.#settleAll(this.#toClosedError());
      await this.#closeTransport();
      this.#finish();
    }
    await this.closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // ---- out

  #toNotOpenError(): Error {
    return this.#state === 'new'
      ? new UsageError('ERR_NOT_CONNECTED', 'This connection is not started yet: call start() first')
      : this.#toClosedError();
  }

  #toClosedError(): ConnectionClosedError {
    return (this.#closedError ??= new ConnectionClosedError());
  }

  #sendCancelled(params: JsonObject): void {
    const sent = this.#send(toNotification('notifications/cancelled', params));
    if (sent === resolvedPromise) return;
    sent.catch((error: unknown) => error instanceof ConnectionClosedError || this.#report(toError(error)));
  }

  readonly #send = (message: JsonRpcMessage, options?: SendOptions): Promise<void> => {
    if (this.#state !== 'open') return Promise.reject(this.#toNotOpenError());
    try {
      const sent: Promise<void> | undefined = this.transport.send(message, options);
      return sent ?? resolvedPromise;
    } catch (error) {
      return Promise.reject(toError(error));
    }
  };

  // ---- in

  readonly #receive = (value: unknown, info?: MessageInfo): void => {
    if (this.#state !== 'open') return;
    try {
      this.#dispatch(value, info);
    } catch (error) {
      this.#report(toError(error));
    }
  };

  #dispatch(value: unknown, info: MessageInfo | undefined, batch?: Batch): void {
    switch (classifyMessage(value)) {
      case 'response':
        return this.#onResponse(value as JsonRpcResponse);
      case 'request':
        return this.#inbound.serve(value as JsonRpcRequest, info, batch);
      case 'notification':
        return this.#onNotification(value as JsonRpcNotification, info);
      default:
        if (!batch && Array.isArray(value) && this.#options.rules?.isBatchingOn === true) this.#onBatch(value, info);
        else this.#onMalformed(value, batch);
    }
  }

  #onResponse(response: JsonRpcResponse): void {
    if (this.requests.settle(response)) return;
    const { id } = response;
    if (id !== undefined && id !== null) {
      this.#report(new InvalidResponseError(`Ignored a response with id ${JSON.stringify(id)}: no request has this id`));
    } else if ('error' in response) this.#report(new RemoteError(response.error));
  }

  #onNotification(notification: JsonRpcNotification, info: MessageInfo | undefined): void {
    const { method, params } = notification;
    if (method === 'notifications/cancelled') {
      const id = params?.['requestId'];
      if (!isRequestId(id) || this.#inbound.cancel(id, params?.['reason'])) return;
    } else if (method === 'notifications/progress') this.requests.progress(params);
    runCallback(() => this.#options.onNotification?.(notification, info), this.#report);
  }

  #onBatch(members: readonly unknown[], info: MessageInfo | undefined): void {
    const isEmpty = members.length === 0;
    if (isEmpty || members.length > MAX_BATCH) {
      const message = isEmpty ? 'A batch must not be empty' : `A batch may hold ${MAX_BATCH} messages at most: send smaller ones`;
      this.#report(new InvalidRequestError(message, INVALID_REQUEST));
      return this.#inbound.refuse({ code: INVALID_REQUEST, message }, undefined, undefined);
    }
    const batch: Batch = { answers: [], bytes: 0, waiting: 1 };
    const isMeasured = info?.bytes !== undefined;
    for (const member of members) this.#dispatch(member, isMeasured ? { ...info, bytes: measureMember(member) } : info, batch);
    this.#inbound.leaveBatch(batch);
  }

  // ---- what cannot be read

  #onMalformed(value: unknown, batch: Batch | undefined): void {
    const { error, meantAs, id } = judgeMalformed(value);
    this.#report(error);
    if (meantAs === 'response') this.requests.settleMalformed(id);
    if (meantAs === 'response' || meantAs === 'notification') return;
    if (meantAs === 'either' && this.requests.settleMalformed(id, 'has neither a result nor an error')) return;
    this.#inbound.refuse({ code: error.rpcCode, message: error.message }, id, batch);
  }

  #onTransportError(error: Error): void {
    this.#report(error);
    const { code, excess, head, endsChannel } = error as TransportError;
    if (endsChannel === true) {
      this.#closedError = new ConnectionClosedError(`The connection is closed: ${error.message}`, { cause: error });
    } else if (code === 'ERR_PARSE' || error instanceof SyntaxError) {
      this.#onUnread(error, PARSE_ERROR, `Parse error: ${excess ?? 'the text is not valid JSON'}`, head);
    } else if (code === 'ERR_MESSAGE_TOO_LARGE') {
      this.#onUnread(error, INVALID_REQUEST, error.message, head);
    } else if (code === 'ERR_CONNECTION_LOST') this.#settleAll(error);
  }

  /** Handles a message that cannot be read: sends an error response to a request, and rejects the pending request of a response. */
  #onUnread(error: Error, code: number, message: string, head: MessageHead | undefined): void {
    if (head?.kind === 'response') this.requests.settleMalformed(head.id, `cannot be read: ${message}`, error);
    else this.#inbound.refuse({ code, message }, head?.id, undefined);
  }

  // ---- the end

  #settleAll(error: Error): void {
    this.#inbound.abortAll(error);
    this.requests.failAll(error);
  }

  async #closeTransport(): Promise<void> {
    try {
      await this.transport.close();
    } catch (error) {
      this.#report(toError(error));
    }
  }

  #finish(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#settleAll(this.#toClosedError());
    this.#giveBack?.();
    this.#releaseIdleWaiters();
    this.#resolveClosed();
  }

  #isIdle(): boolean {
    return this.#inbound.isIdle && this.requests.size === 0;
  }

  readonly #checkIdle = (): void => {
    if (this.#idleWaiters.length > 0 && this.#isIdle()) this.#releaseIdleWaiters();
  };

  #releaseIdleWaiters(): void {
    for (const release of this.#idleWaiters.splice(0)) release();
  }

  /** Passes an error to the option `onError`. An error thrown by `onError` itself is dropped. */
  readonly #report = (error: Error): void => runCallback(() => this.#options.onError?.(error), ignore);
}

function ignore(): void {}

/** The members that an error reported by a transport may have: those of this package's errors and of `ChannelEndError`. */
interface TransportError extends Error {
  readonly code?: unknown;
  readonly excess?: string | undefined;
  readonly head?: MessageHead | undefined;
  readonly endsChannel?: true;
}

function toNotification(method: string, params: JsonObject | undefined): JsonRpcNotification {
  return params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params };
}

/** Returns the size of one request of a batch; each is measured separately, because a large one may be served longer than the others. */
function measureMember(member: unknown): number | undefined {
  if (classifyMessage(member) !== 'request') return undefined;
  try {
    return measureMessage(JSON.stringify(member));
  } catch {
    // The transport passed an object that JSON cannot represent.
    return undefined;
  }
}
