/** Requests, answers, notifications and cancellation in both directions over one transport. */

import { checkOptions } from '../check-options.ts';
import { INVALID_REQUEST, PARSE_ERROR } from '../error-codes.ts';
import {
  AlreadyStartedError,
  ConnectionClosedError,
  InvalidRequestError,
  InvalidResponseError,
  isMortiseError,
  type MessageTooLargeError,
  NotConnectedError,
  type ParseError,
  RemoteError,
} from '../errors.ts';
import { classifyMessage, isRequestId } from '../guards.ts';
import { type Clock, type ClockTimer, systemClock } from '../instruments.ts';
import type { MessageHead } from '../message-head.ts';
import type {
  JsonObject,
  JsonRpcErrorObject,
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  RequestId,
} from '../message.ts';
import { measureMessage } from '../parse-json.ts';
import { judgeMalformed } from '../malformed.ts';
import { type ChannelEndError, type MessageInfo, resolvedPromise, type SendOptions, type Transport } from '../transport/transport.ts';
import { holdTransport, toError } from '../transport/hold-transport.ts';
import type { BatchAnswers } from './batch-answers.ts';
import { CONNECTION_OPTIONS, type ConnectionOptions } from './connection-options.ts';
import { InboundCalls } from './inbound-calls.ts';
import type { RequestOptions } from './pending-request.ts';
import { RequestTable } from './request-table.ts';

/** How many messages a batch may hold. A longer one is refused as a whole. */
const MAX_BATCH = 1000;

/**
 * One JSON-RPC connection: correlates answers, serves requests, carries cancellation, progress and timeouts, and settles
 * everything when it closes.
 *
 * It takes the transport's callbacks over at `start` and gives them back at the end. Ids it sends are integers that never repeat.
 *
 * @see JSON-RPC 2.0; all revisions: basic, basic/utilities/cancellation, basic/utilities/progress
 */
export class Connection {
  /** Resolves when the connection has ended, for whatever reason. Never rejects. */
  readonly closed: Promise<void>;
  readonly #transport: Transport;
  readonly #options: ConnectionOptions;
  readonly #clock: Clock;
  readonly #requests: RequestTable;
  readonly #inbound: InboundCalls;
  #state: 'new' | 'open' | 'closing' | 'closed' = 'new';
  #giveBack: (() => void) | undefined;
  #idleWaiters: (() => void)[] = [];
  #resolveClosed: () => void = () => undefined;
  #closedError: ConnectionClosedError | undefined;

  /**
   * @param transport Unstarted; `start` starts it.
   * @throws {TypeError} An option that does not exist, or has the wrong kind of value.
   */
  constructor(transport: Transport, options: ConnectionOptions = {}) {
    checkOptions('Connection options', options, CONNECTION_OPTIONS);
    this.#transport = transport;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#requests = new RequestTable({
      send: this.#send,
      sendCancelled: (params) => this.#sendAndReport(toNotification('notifications/cancelled', params)),
      onEmpty: this.#checkIdle,
      onError: this.#report,
      timeoutMs: options.requestTimeoutMs,
      maxTimeoutMs: options.maxRequestTimeoutMs,
      clock: this.#clock,
    });
    this.#inbound = new InboundCalls(options, this, {
      send: (message) => (this.#state === 'open' ? this.#send(message) : resolvedPromise),
      report: this.#report,
      reportFailedSend: (error) => this.#reportFailedSend(error),
      onProgress: this.#checkIdle,
      giveUp: (error) => {
        this.#report(error);
        void this.close();
      },
    });
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  /** The transport that this connection speaks through. */
  get transport(): Transport {
    return this.#transport;
  }

  /**
   * Lets the time of every request that was sent from here stand still, for as long as this side answers what the peer asks meanwhile. See
   * `RequestTable.pauseTimeouts`.
   *
   * @returns Lets the time go on. Of several pauses the last one ends it.
   */
  pauseTimeouts(): () => void {
    return this.#requests.pauseTimeouts();
  }

  /** How many requests are being served (`inbound`) and how many wait for the peer's answer (`outbound`). */
  get inFlight(): { readonly inbound: number; readonly outbound: number } {
    return { inbound: this.#inbound.running, outbound: this.#requests.size };
  }

  /** How many bytes the requests being served count as, where the transport measures them; see `maxInFlightBytes`. */
  get inFlightBytes(): number {
    return this.#inbound.bytes;
  }

  /**
   * Starts the transport and begins to serve.
   *
   * @throws {AlreadyStartedError} On a second call.
   * @throws Whatever the transport's `start` rejects with; the connection is then closed.
   */
  async start(): Promise<void> {
    if (this.#state !== 'new') throw new AlreadyStartedError('This connection was started before: make a new one');
    this.#state = 'open';
    this.#giveBack = holdTransport(this.#transport, {
      onMessage: this.#receive,
      onError: (error) => this.#onTransportError(error),
      onClose: () => this.#finish(),
      onThrown: this.#report,
    });
    try {
      await this.#transport.start();
    } catch (error) {
      this.#finish();
      throw error;
    }
  }

  /**
   * Sends a request and resolves with its result.
   *
   * @throws {RemoteError} The peer answered with an error.
   * @throws {TimeoutError} No answer came in time; a cancellation was sent.
   * @throws {ConnectionClosedError} The connection closed first.
   * @throws `options.signal`'s reason, once it aborts; a cancellation was sent.
   */
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject> {
    if (this.#state !== 'open') return Promise.reject(this.#toNotOpenError());
    return this.#requests.request(method, params, options);
  }

  /**
   * Like `request`, but resolves with the response as it came, an error too, under this connection's id. For gateways.
   *
   * @throws {TimeoutError} {ConnectionClosedError} As `request` does; never a `RemoteError`.
   */
  requestRaw(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonRpcResponse> {
    if (this.#state !== 'open') return Promise.reject(this.#toNotOpenError());
    return this.#requests.requestRaw(method, params, options);
  }

  /**
   * Sends a notification. Resolves once the transport has taken it. A rejection that nobody listens to harms nothing.
   *
   * @throws {ConnectionClosedError} The connection is closed.
   */
  notify(method: string, params?: JsonObject, options?: SendOptions): Promise<void> {
    const sent = this.#state === 'open' ? this.#send(toNotification(method, params), options) : Promise.reject(this.#toNotOpenError());
    if (sent !== resolvedPromise) sent.catch(() => undefined);
    return sent;
  }

  /**
   * Takes no new request, lets what is in flight finish in both directions, then closes.
   *
   * @param deadlineMs After this many milliseconds what still runs is aborted.
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

  /** Settles everything, aborts what is being served and closes the transport. May be called at any time and again. */
  async close(): Promise<void> {
    // A transport that was never started may hold resources too.
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
    return this.#state === 'new' ? new NotConnectedError('This connection is not started yet: call start() first') : this.#toClosedError();
  }

  #toClosedError(): ConnectionClosedError {
    return (this.#closedError ??= new ConnectionClosedError());
  }

  #sendAndReport(message: JsonRpcMessage): void {
    const sent = this.#send(message);
    if (sent !== resolvedPromise) sent.then(undefined, (error: unknown) => this.#reportFailedSend(error));
  }

  readonly #send = (message: JsonRpcMessage, options?: SendOptions): Promise<void> => {
    try {
      const sent: Promise<void> | undefined = this.#transport.send(message, options);
      return sent ?? resolvedPromise;
    } catch (error) {
      return Promise.reject(toError(error));
    }
  };

  #reportFailedSend(error: unknown): void {
    if (this.#state === 'open') this.#report(toError(error));
  }

  // ---- in

  readonly #receive = (value: unknown, info?: MessageInfo): void => {
    if (this.#state !== 'open') return;
    try {
      this.#dispatch(value, info);
    } catch (error) {
      this.#report(toError(error));
    }
  };

  #dispatch(value: unknown, info: MessageInfo | undefined, batch?: BatchAnswers): void {
    switch (classifyMessage(value)) {
      case 'response':
        return this.#onResponse(value as JsonRpcResponse);
      case 'request':
        return this.#inbound.serve(value as JsonRpcRequest, info, batch);
      case 'notification':
        return this.#onNotification(value as JsonRpcNotification, info);
      default:
        if (!batch && Array.isArray(value) && this.#options.isBatchingOn?.() === true) this.#onBatch(value, info);
        else this.#onMalformed(value, batch);
    }
  }

  #onResponse(response: JsonRpcResponse): void {
    if (this.#requests.settle(response)) return;
    const { id } = response;
    if (id !== undefined && id !== null) {
      this.#report(new InvalidResponseError(`An answer came for id ${JSON.stringify(id)}, which no request has: it was ignored`));
    } else if ('error' in response) this.#report(new RemoteError(response.error));
  }

  #onNotification(notification: JsonRpcNotification, info: MessageInfo | undefined): void {
    const { method, params } = notification;
    if (method === 'notifications/cancelled') {
      const id = params?.['requestId'];
      if (!isRequestId(id) || this.#inbound.cancel(id, params?.['reason'])) return;
    } else if (method === 'notifications/progress') this.#requests.progress(params);
    this.#attempt(() => this.#options.onNotification?.(notification, info));
  }

  #onBatch(members: readonly unknown[], info: MessageInfo | undefined): void {
    if (members.length === 0 || members.length > MAX_BATCH) {
      const message =
        members.length === 0 ? 'A batch must not be empty' : `A batch may hold ${MAX_BATCH} messages at most: send smaller ones`;
      this.#report(new InvalidRequestError(message, INVALID_REQUEST));
      return this.#refuse({ code: INVALID_REQUEST, message }, undefined);
    }
    const batch = this.#inbound.openBatch();
    const isMeasured = info?.bytes !== undefined;
    for (const member of members) this.#dispatch(member, isMeasured ? { ...info, bytes: measureMember(member) } : info, batch);
    batch.drop();
  }

  // ---- what cannot be read

  #onMalformed(value: unknown, batch: BatchAnswers | undefined): void {
    const { error, meantAs, id } = judgeMalformed(value);
    this.#report(error);
    if (meantAs === 'response') this.#requests.settleMalformed(id);
    if (meantAs === 'response' || meantAs === 'notification') return;
    if (meantAs === 'either' && this.#requests.settleMalformed(id, 'has neither a result nor an error')) return;
    this.#refuse({ code: error.rpcCode, message: error.message }, id, batch);
  }

  #onTransportError(error: Error): void {
    this.#report(error);
    if ((error as ChannelEndError).endsChannel === true) {
      this.#closedError = new ConnectionClosedError(`The connection is closed: ${error.message}`, { cause: error });
    } else if (isUnparsable(error)) {
      const { excess = 'the text is not valid JSON', head } = error as Partial<ParseError>;
      this.#onUnread(error, { code: PARSE_ERROR, message: `Parse error: ${excess}` }, head);
    } else if (isMortiseError(error) && error.code === 'ERR_MESSAGE_TOO_LARGE') {
      this.#onUnread(error, { code: INVALID_REQUEST, message: error.message }, (error as MessageTooLargeError).head);
    }
    if (isMortiseError(error) && error.code === 'ERR_CONNECTION_LOST') this.#settleAll(error);
  }

  /** A request is answered with an error under its id; whoever waits for a response learns why there is none. */
  #onUnread(error: Error, wireError: JsonRpcErrorObject, head: MessageHead | undefined): void {
    if (head?.kind === 'response') this.#requests.settleMalformed(head.id, `cannot be read: ${wireError.message}`, error);
    else this.#refuse(wireError, head?.id);
  }

  #refuse(error: JsonRpcErrorObject, id: RequestId | undefined, batch?: BatchAnswers): void {
    if (this.#options.isAnswering?.() === false) return;
    batch?.expect();
    if (id !== undefined) this.#inbound.answer({ jsonrpc: '2.0', id, error }, batch);
    else if (this.#options.isErrorIdOptional?.() === true) this.#inbound.answer({ jsonrpc: '2.0', error }, batch);
    else this.#inbound.answer({ jsonrpc: '2.0', id: null, error }, batch);
  }

  // ---- the end

  #settleAll(error: Error): void {
    this.#inbound.abortAll(error);
    this.#requests.failAll(error);
  }

  async #closeTransport(): Promise<void> {
    try {
      await this.#transport.close();
    } catch (error) {
      this.#report(toError(error));
    }
  }

  #finish(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#settleAll(this.#toClosedError());
    this.#giveBack?.();
    this.#attempt(() => this.#options.onClose?.());
    this.#releaseIdleWaiters();
    this.#resolveClosed();
  }

  #isIdle(): boolean {
    return this.#inbound.isIdle && this.#requests.size === 0;
  }

  readonly #checkIdle = (): void => {
    if (this.#idleWaiters.length > 0 && this.#isIdle()) this.#releaseIdleWaiters();
  };

  #releaseIdleWaiters(): void {
    for (const release of this.#idleWaiters.splice(0)) release();
  }

  /** Runs a callback of the program. One that is async may fail later, which must not go unhandled. */
  #attempt(fn: () => unknown): void {
    try {
      const outcome = fn();
      if (outcome instanceof Promise) outcome.catch((error: unknown) => this.#report(toError(error)));
    } catch (error) {
      this.#report(toError(error));
    }
  }

  readonly #report = (error: Error): void => {
    try {
      const reported: unknown = this.#options.onError?.(error);
      if (reported instanceof Promise) reported.catch(() => undefined);
    } catch {
      // The error handler itself failed: there is nobody left to report to.
    }
  };
}

function toNotification(method: string, params: JsonObject | undefined): JsonRpcNotification {
  return params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params };
}

function isUnparsable(error: unknown): boolean {
  return error instanceof SyntaxError || (isMortiseError(error) && error.code === 'ERR_PARSE');
}

/** Each member counts by itself: one may be nearly the whole batch, and be in flight long after all others. What asks nothing does not stay. */
function measureMember(member: unknown): number | undefined {
  if (classifyMessage(member) !== 'request') return undefined;
  try {
    return measureMessage(JSON.stringify(member));
  } catch {
    // It came by reference and holds what JSON cannot carry.
    return undefined;
  }
}
