/**
 * The legacy era over HTTP as a channel: a POST for each message, an event stream for what belongs to no request, and the session that
 * holds them together. A server that refuses `initialize` as one of HTTP+SSE does is spoken to in that way instead.
 *
 * @see 2025-11-25 basic/transports#streamable-http; 2025-11-25 basic/transports#backwards-compatibility
 */

import {
  UsageError,
  ConnectionClosedError,
  InvalidResponseError,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonValue,
  SessionLostError,
} from '@mortise/jsonrpc-core';
import { isJsonObject, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import type { SendOptions, WaitingCaller } from '@mortise/jsonrpc-core/transport';
import { findRevision } from '@mortise/protocol';
import { isModernError } from '@mortise/protocol/wire';
import { encodeEventId, LAST_EVENT_ID_HEADER, PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER, SSE_TYPE } from '../../headers.ts';
import type { StreamableHTTPClientTransportOptions } from '../client-options.ts';
import { type HttpFailure, isSuccess, readFailure, toHttpError } from '../http-failure.ts';
import type { HttpAnswer, HttpCall } from '../http-sender.ts';
import { POST_HEADERS, type Wire } from '../wire.ts';
import { EventStream } from './event-stream.ts';
import { LegacyExchange, type LegacyExchangeOwner } from './legacy-exchange.ts';
import { PostingChannel } from './posting-channel.ts';
import { SseChannel } from './sse-client-transport.ts';

/** How long requests in a lost session may still take. */
const DRAIN_MS = 1000;
/** How long `close` waits until the server has ended the session. */
const CLOSE_TIMEOUT_MS = 1000;
/** What servers say with 400 when they have been started again and do not know the session. */
const ABOUT_SESSION = /session|not initiali[sz]ed/i;

/** `lost`: the server does not know the session; requests in flight may still settle. */
type State = 'new' | 'open' | 'lost' | 'closed';

export class LegacyChannel extends PostingChannel {
  readonly #options: StreamableHTTPClientTransportOptions;
  readonly #owner: LegacyExchangeOwner;
  readonly #exchanges = new Set<LegacyExchange>();
  #state: State = 'new';
  #sessionId: string | undefined;
  #version: string | undefined;
  /** The stream of what belongs to no request. */
  #get: EventStream | undefined;
  /** A stream that was given up is opened again when the server next answers. */
  #wantsGet = false;
  /** The channel of a server that speaks HTTP+SSE alone. */
  #sse: SseChannel | undefined;

  constructor(wire: Wire, options: StreamableHTTPClientTransportOptions) {
    super(wire);
    this.#options = options;
    this.#sessionId = options.sessionId;
    this.#version = options.protocolVersion;
    this.#owner = {
      wire,
      maxRetries: options.reconnectionOptions?.maxRetries,
      toGet: (lastEventId) => this.#toGet(lastEventId),
      onHead: (request, answer) => this.#onHead(request, answer),
      deliver: (value, text) => this.deliver(value, text),
      report: (error) => this.report(error),
    };
  }

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  /** Begins. Nothing is sent before the first message, unless a session is resumed. */
  start(): Promise<void> {
    if (this.isClosing) return Promise.reject(new ConnectionClosedError());
    if (this.#state !== 'new') return Promise.reject(new UsageError('ERR_ALREADY_STARTED'));
    this.#state = 'open';
    if (this.#sessionId !== undefined) this.#openGet();
    return Promise.resolve();
  }

  /** Sends a message. That of a request settles when its answer has been delivered or cannot come any more. @throws As `PostingChannel`. */
  override send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    return this.#sse?.isOpen === true ? this.#sse.send(message, options) : super.send(message, options);
  }

  /**
   * Ends the session at the server, which may refuse that.
   *
   * @throws {ExchangeHttpError} The server failed at it.
   */
  async terminateSession(timeoutMs?: number): Promise<void> {
    if (this.#sessionId === undefined) return;
    const call: HttpCall = { method: 'DELETE', url: this.wire.url, headers: this.#headers() };
    const answer = await this.wire.send(call, { timeoutMs }).answer;
    this.wire.discard(answer);
    // 405: the server does not let clients end sessions. 404: it is over already.
    if (!isSuccess(answer) && answer.status !== 405 && answer.status !== 404) throw toHttpError(call, answer);
    this.#sessionId = undefined;
    this.#get?.stop();
  }

  // ---- messages

  protected async request(message: JsonRpcRequest, text: string, caller: WaitingCaller | undefined): Promise<void> {
    this.assertOpen();
    if (message.method === 'initialize') this.#forgetSession();
    const call = this.#toPost(text);
    const exchange = new LegacyExchange(this.#owner, message, call, caller);
    this.#exchanges.add(exchange);
    try {
      const { value, text: read = '', failure } = await exchange.reply;
      if (failure !== undefined) return await this.#onFailure(message, call, failure, caller);
      if (value === undefined) return;
      if (message.method === 'initialize') this.#noteVersion(value);
      const revision = findRevision(this.#version);
      // The connection above would not take it for the response, and the request would time out.
      if (Array.isArray(value) && revision?.rules.batching === false)
        throw new InvalidResponseError(`The response to "${message.method}" came in an array, which ${revision.version} does not have`);
      this.deliver(value, read);
    } finally {
      this.#exchanges.delete(exchange);
      this.#endIfDrained();
    }
  }

  protected async notify(message: JsonRpcMessage, text: string): Promise<void> {
    this.assertOpen();
    const call = this.#toPost(text);
    try {
      const failure = await this.post(call);
      if (failure !== undefined) throw this.#isSessionLoss(call, failure) ? this.#lose(failure) : failure.error;
      if ('method' in message && message.method === 'notifications/initialized') this.#openGet();
    } finally {
      this.#cancelNamed(message);
      this.#endIfDrained();
    }
  }

  /** The server has been asked to stop working on a request, so the stream of its answer can be closed. */
  #cancelNamed(message: JsonRpcMessage): void {
    if (!('method' in message) || message.method !== 'notifications/cancelled') return;
    for (const exchange of this.#exchanges) if (exchange.request.id === message.params?.['requestId']) exchange.cancel();
  }

  /** @throws Why the request was refused, unless the server has answered it or was sent it in another way. */
  async #onFailure(message: JsonRpcRequest, call: HttpCall, failure: HttpFailure, caller: WaitingCaller | undefined): Promise<void> {
    if (message.method === 'initialize') {
      if (mayBeSse(failure) && (await this.#trySse(message, caller))) return;
    } else if (this.#isSessionLoss(call, failure)) throw this.#lose(failure);
    if (failure.response === undefined) throw failure.error;
    this.deliver(failure.response as unknown as JsonValue, '');
  }

  /** @returns Whether the server speaks HTTP+SSE, and has been sent the message in that way. */
  async #trySse(message: JsonRpcRequest, caller: WaitingCaller | undefined): Promise<boolean> {
    const sse = new SseChannel(this.wire);
    this.#sse = sse;
    sse.onmessage = (received, info) => this.onmessage?.(received, info);
    sse.onerror = (error) => this.report(error);
    try {
      await sse.start(caller);
    } catch {
      // Not that kind of server either: its first refusal counts.
      return false;
    }
    sse.onclose = () => void this.close();
    await sse.send(message, caller);
    return true;
  }

  protected assertOpen(): void {
    if (this.isClosing || this.#state === 'closed') throw new ConnectionClosedError();
    if (this.#state === 'lost') throw new SessionLostError();
    if (this.#state === 'new') throw new UsageError('ERR_NOT_CONNECTED');
  }

  // ---- the session

  #toPost(text: string): HttpCall {
    return { method: 'POST', url: this.wire.url, headers: { ...this.#headers(), ...POST_HEADERS }, body: text };
  }

  #toGet(lastEventId: string | undefined): HttpCall {
    const headers = { ...this.#headers(), accept: SSE_TYPE };
    if (lastEventId !== undefined) Object.assign(headers, { [LAST_EVENT_ID_HEADER]: encodeEventId(lastEventId) });
    return { method: 'GET', url: this.wire.url, headers };
  }

  #headers(): Record<string, string> {
    const headers: Record<string, string> = { ...this.wire.headers };
    if (this.#sessionId !== undefined) headers[SESSION_ID_HEADER] = this.#sessionId;
    const version = this.#version;
    if (version !== undefined && findRevision(version)?.http.versionHeader !== 'never') headers[PROTOCOL_VERSION_HEADER] = version;
    return headers;
  }

  #onHead({ method }: JsonRpcRequest, answer: HttpAnswer): void {
    if (method === 'initialize') this.#sessionId = readSessionId(answer);
    else if (this.#wantsGet) this.#openGet();
  }

  /** For programs that use this as a plain transport and do not call `setProtocolVersion`. */
  #noteVersion(answer: JsonValue): void {
    const result = isJsonObject(answer) ? answer['result'] : undefined;
    const version = isJsonObject(result) ? result['protocolVersion'] : undefined;
    if (typeof version === 'string') this.#version = version;
  }

  #forgetSession(): void {
    this.#sessionId = undefined;
    this.#version = undefined;
    this.#get?.stop();
    this.#get = undefined;
  }

  #openGet(): void {
    if (this.#get !== undefined || this.#state !== 'open') return;
    this.#wantsGet = false;
    const listener = {
      onValue: (value: JsonValue, text: string): void => this.deliver(value, text),
      onGarbage: (error: Error): void => this.report(error),
      onRefused: (call: HttpCall, answer: HttpAnswer): void => void this.#onGetRefused(get, call, answer),
      onOver: (error: Error | undefined): void => {
        this.#get = undefined;
        this.#wantsGet = true;
        if (error !== undefined) this.report(error);
      },
    };
    const get = new EventStream(this.#owner, listener, { needsCursor: false });
    this.#get = get;
    get.open();
  }

  /** Servers without such a stream refuse it in many ways, none of which is an error, unless they gave it before. */
  async #onGetRefused(get: EventStream, call: HttpCall, answer: HttpAnswer): Promise<void> {
    if (!get.wasGiven && answer.status !== 401 && answer.status !== 403) return this.wire.discard(answer);
    const failure = await readFailure(call, answer);
    if (this.#state !== 'open' || this.#get !== get) return;
    if (this.#isSessionLoss(call, failure)) this.#lose(failure);
    else this.report(failure.error);
  }

  /**
   * Whether a response to a request that carried a session's id means that the session is gone: 404 always, 400 if it speaks of the session.
   *
   * @see 2025-11-25 basic/transports#session-management
   */
  #isSessionLoss(call: HttpCall, { text, error: { status } }: HttpFailure): boolean {
    if (call.headers[SESSION_ID_HEADER] === undefined) return false;
    return status === 404 || (status === 400 && ABOUT_SESSION.test(text));
  }

  /** Requests in flight get their own answers, if those come soon: most are 404 too, and can then be repeated. */
  #lose({ error }: HttpFailure): SessionLostError {
    const lost = new SessionLostError(undefined, { cause: error });
    if (this.#state !== 'open') return lost;
    this.#state = 'lost';
    this.#get?.stop();
    this.endLater(new SessionLostError(), DRAIN_MS);
    this.#endIfDrained();
    return lost;
  }

  #endIfDrained(): void {
    if (this.#state === 'lost' && this.#exchanges.size === 0 && !this.isAccepting) this.endLater(new SessionLostError(), 0);
  }

  protected async end(): Promise<void> {
    const wasOpen = this.#state === 'open';
    this.#state = 'closed';
    this.#get?.stop();
    for (const exchange of this.#exchanges) exchange.fail(new ConnectionClosedError());
    await this.#sse?.close();
    // A session that cannot be ended now expires at the server by itself.
    if (wasOpen && this.#options.keepsSession !== true) await this.terminateSession(CLOSE_TIMEOUT_MS).catch(() => undefined);
  }
}

/** Only 400, 404 and 405, and only where the body is not the error of a modern server: an unknown method is one (ledger C-03). */
function mayBeSse({ error: { status, rpcError } }: HttpFailure): boolean {
  if (status !== 400 && status !== 404 && status !== 405) return false;
  return rpcError === undefined || !(isModernError(rpcError.code) || rpcError.code === METHOD_NOT_FOUND);
}

/** @throws {InvalidResponseError} The id has characters that an id must not have. */
function readSessionId(answer: HttpAnswer): string | undefined {
  const id = answer.header(SESSION_ID_HEADER);
  if (id === undefined || /^[\x21-\x7e]{1,4096}$/.test(id)) return id;
  throw new InvalidResponseError('The server gave its session an id that is not visible ASCII, or longer than 4,096 characters');
}
