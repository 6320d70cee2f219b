/** Requests, answers, notifications and cancellation in both directions over one transport. */

import { Answers, type AnswersHost } from './answers.ts';
import { checkAmounts } from '../check-amounts.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { INVALID_REQUEST, PARSE_ERROR } from '../error-codes.ts';
import {
  AlreadyStartedError,
  ConnectionClosedError,
  isMortiseError,
  type MessageTooLargeError,
  NotConnectedError,
  type ParseError,
} from '../errors.ts';
import { type InboundHost, InboundCalls } from './inbound-calls.ts';
import type { Clock, ClockTimer, Logger } from '../instruments.ts';
import type { JsonObject, JsonRpcMessage, JsonRpcNotification, JsonRpcResponse } from '../message.ts';
import type { RequestOptions } from './pending-request.ts';
import { RequestTable } from './request-table.ts';
import { Receiver, type ReceiverHost } from './receiver.ts';
import { resolvedPromise } from '../resolved-promise.ts';
import { silentLogger, systemClock } from '../system-clock.ts';
import { holdTransport, toError } from '../transport/hold-transport.ts';
import type { ChannelEndError, MessageInfo, SendOptions, Transport } from '../transport/transport.ts';

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
  readonly #logger: Logger;
  readonly #requests: RequestTable;
  readonly #inbound: InboundCalls;
  readonly #answers: Answers;
  readonly #receiver: Receiver;
  #state: 'new' | 'open' | 'closing' | 'closed' = 'new';
  #giveBack: (() => void) | undefined;
  readonly #idleWaiters: (() => void)[] = [];
  #resolveClosed: () => void = () => undefined;
  #closedError: ConnectionClosedError | undefined;

  /**
   * @param transport Unstarted; `start` starts it.
   * @throws {RangeError} A numeric option is no number, or less than 0.
   */
  constructor(transport: Transport, options: ConnectionOptions = {}) {
    checkAmounts("the connection's options", options, LEAST);
    this.#transport = transport;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger ?? silentLogger;
    this.#requests = new RequestTable({
      send: (request, pending) => this.#send(request, pending),
      sendCancelled: (params) => this.#sendAndReport(toNotification('notifications/cancelled', params)),
      onEmpty: () => this.#checkIdle(),
      onError: (error) => this.#report(error),
      timeoutMs: options.requestTimeoutMs,
      maxTimeoutMs: options.maxRequestTimeoutMs,
      clock: this.#clock,
    });
    const maxInFlight = options.maxInFlight ?? 10_000;
    const host = this.#makeHost();
    this.#answers = new Answers(host, 2 * maxInFlight);
    this.#inbound = new InboundCalls(options, maxInFlight, host);
    this.#receiver = new Receiver(options, { requests: this.#requests, inbound: this.#inbound, answers: this.#answers }, host);
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  /** The transport that this connection speaks through. */
  get transport(): Transport {
    return this.#transport;
  }

  /**
   * Lets the time limits of every request that was sent from here stand still, for as long as this side itself answers what the peer asks meanwhile.
   * Neither `timeoutMs` nor `maxTimeoutMs` goes on; each request gets exactly the time that it lost, one that is sent meanwhile too: up to ten times
   * the connection's `maxRequestTimeoutMs` (600,000 if that is longer) in all, however many pauses it meets.
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

  /** How many bytes the requests being served count as, where the transport tells; see `maxInFlightBytes`. */
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
      onMessage: (message, info) => this.#receive(message, info),
      onError: (error) => this.#onTransportError(error),
      onClose: () => this.#finish(),
      onThrown: (error) => this.#report(error),
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
   * @throws {TimeoutError} No answer came in time; the peer has been told to stop.
   * @throws {ConnectionClosedError} The connection closed first.
   * @throws `options.signal`'s reason, once it aborts; the peer has been told to stop.
   */
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject> {
    const refusal = this.#findSendRefusal();
    return refusal ? Promise.reject(refusal) : this.#requests.request(method, params, options);
  }

  /**
   * Like `request`, but resolves with the response as it came, an error too, under this connection's id. For gateways.
   *
   * @throws {TimeoutError} {ConnectionClosedError} As `request` does; never a `RemoteError`.
   */
  requestRaw(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonRpcResponse> {
    const refusal = this.#findSendRefusal();
    return refusal ? Promise.reject(refusal) : this.#requests.requestRaw(method, params, options);
  }

  /**
   * Sends a notification. Resolves once the transport has taken it. A rejection that nobody listens to harms nothing.
   *
   * @throws {ConnectionClosedError} The connection is closed.
   */
  notify(method: string, params?: JsonObject, options?: SendOptions): Promise<void> {
    const refusal = this.#findSendRefusal();
    const sent = refusal ? Promise.reject(refusal) : this.#send(toNotification(method, params), options);
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

  #findSendRefusal(): Error | undefined {
    if (this.#state === 'open') return undefined;
    return this.#state === 'new' ? new NotConnectedError('This connection is not started yet: call start() first') : this.#toClosedError();
  }

  #toClosedError(): ConnectionClosedError {
    return (this.#closedError ??= new ConnectionClosedError());
  }

  #sendAndReport(message: JsonRpcMessage): void {
    const sent = this.#send(message, undefined);
    if (sent !== resolvedPromise) sent.then(undefined, (error: unknown) => this.#reportFailedSend(error));
  }

  #send(message: JsonRpcMessage, options: SendOptions | undefined): Promise<void> {
    try {
      const sent: Promise<void> | undefined = this.#transport.send(message, options);
      return sent ?? resolvedPromise;
    } catch (error) {
      return Promise.reject(toError(error));
    }
  }

  #reportFailedSend(error: unknown): void {
    if (this.#state === 'open') this.#report(toError(error));
  }

  // ---- in

  #receive(value: unknown, info: MessageInfo | undefined): void {
    if (this.#state !== 'open') return;
    try {
      this.#receiver.receive(value, info);
    } catch (error) {
      this.#report(toError(error));
    }
  }

  #onTransportError(error: Error): void {
    this.#report(error);
    if ((error as ChannelEndError).endsChannel === true) {
      this.#closedError = new ConnectionClosedError(`The connection is closed: ${error.message}`, { cause: error });
    } else if (isUnparsable(error)) {
      const { excess = 'the text is not valid JSON', head } = error as Partial<ParseError>;
      this.#receiver.refuseUnread(error, `Parse error: ${excess}`, PARSE_ERROR, head);
    } else if (isMortiseError(error) && error.code === 'ERR_MESSAGE_TOO_LARGE') {
      this.#receiver.refuseUnread(error, error.message, INVALID_REQUEST, (error as MessageTooLargeError).head);
    }
    if (isMortiseError(error) && error.code === 'ERR_CONNECTION_LOST') this.#settleAll(error);
  }

  // ---- what the parts need of it

  #makeHost(): InboundHost & AnswersHost & ReceiverHost {
    const connection = this;
    return {
      notify: (method, params, options) => this.notify(method, params, options),
      request: (method, params, options) => this.request(method, params, options),
      send: (message) => this.#send(message, undefined),
      answer: (response, batch) => this.#answers.give(response, batch),
      attempt: (fn) => this.#attempt(fn),
      report: (error) => this.#report(error),
      reportFailedSend: (error) => this.#reportFailedSend(error),
      onCallEnded: () => this.#checkIdle(),
      onTaken: () => this.#checkIdle(),
      close: () => this.close(),
      get isOpen(): boolean {
        return connection.#state === 'open';
      },
      get waitingAnswers(): number {
        return connection.#answers.waiting;
      },
      get keptBytes(): number {
        return connection.#answers.keptBytes;
      },
    };
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
    return this.#inbound.running === 0 && this.#requests.size === 0 && this.#answers.waiting === 0;
  }

  #checkIdle(): void {
    if (this.#idleWaiters.length > 0 && this.#isIdle()) this.#releaseIdleWaiters();
  }

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

  #report(error: Error): void {
    try {
      const told: unknown = this.#options.onError ? this.#options.onError(error) : this.#logger.log('warning', error.message);
      if (told instanceof Promise) told.catch(() => undefined);
    } catch {
      // Whoever is told of errors has failed: there is nobody left to tell.
    }
  }
}

const LEAST = { maxInFlight: 0, maxInFlightBytes: 0, maxBatch: 0, requestTimeoutMs: 0, maxRequestTimeoutMs: 0 } satisfies {
  readonly [Name in keyof ConnectionOptions]?: number;
};

function toNotification(method: string, params: JsonObject | undefined): JsonRpcNotification {
  return params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params };
}

function isUnparsable(error: unknown): boolean {
  return error instanceof SyntaxError || (isMortiseError(error) && error.code === 'ERR_PARSE');
}
