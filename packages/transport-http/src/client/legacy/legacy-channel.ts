/**
 * A client connection of the legacy era over HTTP: a POST for each message, a GET stream for messages that belong to no request, and the
 * session. If the server refuses `initialize` as HTTP+SSE servers do, HTTP+SSE is used instead.
 *
 * @see 2025-11-25 basic/transports#streamable-http; 2025-11-25 basic/transports#backwards-compatibility
 */

import {
  UsageError,
  ConnectionClosedError,
  ExchangeHttpError,
  InvalidResponseError,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonValue,
  SessionLostError,
} from '@mortise/jsonrpc-core';
import { isJsonObject, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import { type SendOptions, toError, type WaitingCaller } from '@mortise/jsonrpc-core/transport';
import { findRevision } from '@mortise/protocol';
import { isModernError } from '@mortise/protocol/wire';
import { encodeEventId, LAST_EVENT_ID_HEADER, PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER, SSE_TYPE } from '../../headers.ts';
import type { StreamableHTTPClientTransportOptions } from '../client-options.ts';
import { type HttpFailure, isSuccess, readFailure, toHttpError } from '../http-failure.ts';
import type { HttpAnswer, HttpCall } from '../http-sender.ts';
import { POST_HEADERS, type Wire } from '../wire.ts';
import { EventStream } from './event-stream.ts';
import { LegacyExchange, type LegacyExchangeOwner } from './legacy-exchange.ts';
import { cancelledBy, PostingChannel } from './posting-channel.ts';
import { SseChannel } from './sse-client-transport.ts';

/** After the server has lost the session: how long the channel waits for the responses to requests in flight before it closes. */
const DRAIN_MS = 1000;
/** How long `close` waits for the server to end the session. */
const CLOSE_TIMEOUT_MS = 1000;
/** How often an answer is posted again that the server could not take, and the first pause. Each later pause is twice as long: 31 seconds in all. */
const ANSWER_TRIES = 5;
const ANSWER_PAUSE_MS = 1000;
/** Matches the error text of servers that have restarted, lost the session and respond with status 400 instead of 404. */
const ABOUT_SESSION = /session|not initiali[sz]ed/i;

/** The state of a channel. `lost`: the server has lost the session, but requests in flight may still get their responses. */
type State = 'new' | 'open' | 'lost' | 'closed';

export class LegacyChannel extends PostingChannel {
  readonly #options: StreamableHTTPClientTransportOptions;
  readonly #owner: LegacyExchangeOwner;
  readonly #exchanges = new Set<LegacyExchange>();
  #state: State = 'new';
  #sessionId: string | undefined;
  #version: string | undefined;
  /** The GET stream, on which the server sends messages that belong to no request. */
  #get: EventStream | undefined;
  /** Whether the GET stream was given up and should be opened again at the server's next response. */
  #wantsGet = false;
  /** Set if the server supports only HTTP+SSE: the channel that all messages then use. */
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

  /** Starts the channel. Sends nothing before the first message, unless the options name a session to resume. */
  start(): Promise<void> {
    if (this.isClosing) return Promise.reject(new ConnectionClosedError());
    if (this.#state !== 'new') return Promise.reject(new UsageError('ERR_ALREADY_STARTED'));
    this.#state = 'open';
    if (this.#sessionId !== undefined) this.#openGet();
    return Promise.resolve();
  }

  /** Sends a message. For a request, settles when its response is delivered or can no longer arrive. @throws As `PostingChannel.send`. */
  override send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    return this.#sse?.isOpen === true ? this.#sse.send(message, options) : super.send(message, options);
  }

  /**
   * Asks the server to end the session. A server may refuse to let clients end sessions, which is not an error.
   *
   * @throws {ExchangeHttpError} The server failed to end the session.
   */
  async terminateSession(timeoutMs?: number): Promise<void> {
    if (this.#sessionId === undefined) return;
    const call: HttpCall = { method: 'DELETE', url: this.wire.url, headers: this.#headers() };
    const answer = await this.wire.send(call, { timeoutMs }).answer;
    this.wire.discard(answer);
    // 405: the server does not let clients end sessions. 404: the session has ended already.
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
      // The connection above would ignore the batch, and the request would time out.
      if (Array.isArray(value) && revision?.rules.batching === false)
        throw new InvalidResponseError(
          `The response to "${message.method}" is in a batch, but protocol version ${revision.version} has no batches`,
        );
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
      await this.#postWhole(call);
      if ('method' in message && message.method === 'notifications/initialized') this.#openGet();
    } catch (error) {
      if ('method' in message || this.#state !== 'open' || !mayPass(error)) throw error;
      this.#answerLater(call, 1);
    } finally {
      this.#cancelNamed(message);
      this.#endIfDrained();
    }
  }

  /** Posts a message for which no response comes. @throws The error, if the server refused it. */
  async #postWhole(call: HttpCall): Promise<void> {
    const failure = await this.post(call);
    if (failure !== undefined) throw this.#isSessionLoss(call, failure) ? this.#lose(failure) : failure.error;
  }

  /** Posts an answer to the server again after a pause, because a call waits for it there. Reports the error of the last try. */
  #answerLater(call: HttpCall, tries: number): void {
    const post = async (): Promise<void> => {
      if (this.#state !== 'open') return;
      try {
        await this.#postWhole(call);
      } catch (error) {
        if (tries < ANSWER_TRIES && mayPass(error)) this.#answerLater(call, tries + 1);
        else this.report(toError(error));
      }
    };
    this.wire.clock.schedule(() => void post(), ANSWER_PAUSE_MS * 2 ** (tries - 1));
  }

  /** If the message is `notifications/cancelled`: closes the stream of the request that it names. */
  #cancelNamed(message: JsonRpcMessage): void {
    const cancelled = cancelledBy(message);
    for (const exchange of this.#exchanges) if (exchange.request.id === cancelled) exchange.cancel();
  }

  /** Handles a refused request. @throws The error, unless the body has the JSON-RPC response or the request was sent again by HTTP+SSE. */
  async #onFailure(message: JsonRpcRequest, call: HttpCall, failure: HttpFailure, caller: WaitingCaller | undefined): Promise<void> {
    if (message.method === 'initialize') {
      if (mayBeSse(failure) && (await this.#trySse(message, caller))) return;
    } else if (this.#isSessionLoss(call, failure)) throw this.#lose(failure);
    if (failure.response === undefined) throw failure.error;
    this.deliver(failure.response as unknown as JsonValue, '');
  }

  /** Tries to send the request by HTTP+SSE. @returns true if the server supports HTTP+SSE and the request was sent. */
  async #trySse(message: JsonRpcRequest, caller: WaitingCaller | undefined): Promise<boolean> {
    const sse = new SseChannel(this.wire);
    this.#sse = sse;
    sse.onmessage = (received, info) => this.onmessage?.(received, info);
    sse.onerror = (error) => this.report(error);
    try {
      await sse.start(caller);
    } catch {
      // Not an HTTP+SSE server either, so the error of the first attempt is used.
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

  /** Reads the protocol version from the response to `initialize`, for programs that do not call `setProtocolVersion`. */
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

  /** Handles a refused GET stream. It is an error only if the server has opened the stream before. */
  async #onGetRefused(get: EventStream, call: HttpCall, answer: HttpAnswer): Promise<void> {
    if (!get.wasGiven && answer.status !== 401 && answer.status !== 403) return this.wire.discard(answer);
    const failure = await readFailure(this.wire, call, answer);
    if (this.#state !== 'open' || this.#get !== get) return;
    if (this.#isSessionLoss(call, failure)) this.#lose(failure);
    else this.report(failure.error);
  }

  /**
   * Whether an error status means that the server has lost the session: for a request with a session id, always for 404, and for 400 if the
   * error mentions the session.
   *
   * @see 2025-11-25 basic/transports#session-management
   */
  #isSessionLoss(call: HttpCall, { text, error: { status } }: HttpFailure): boolean {
    if (call.headers[SESSION_ID_HEADER] === undefined) return false;
    return status === 404 || (status === 400 && ABOUT_SESSION.test(text));
  }

  /** Marks the session as lost. Other requests in flight may still get responses, mostly 404, after which a client can repeat them. */
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
    // If this fails, the session expires at the server.
    if (wasOpen && this.#options.keepsSession !== true) await this.terminateSession(CLOSE_TIMEOUT_MS).catch(() => undefined);
  }
}

/** Whether the server may take the same message later: it could not be reached, or has an error of its own. */
function mayPass(error: unknown): boolean {
  return error instanceof ExchangeHttpError ? error.status >= 500 : !(error instanceof SessionLostError);
}

/** Whether the server may support only HTTP+SSE: status 400, 404 or 405, without an error that only modern servers send (ledger C-03). */
function mayBeSse({ error: { status, rpcError } }: HttpFailure): boolean {
  if (status !== 400 && status !== 404 && status !== 405) return false;
  return rpcError === undefined || !(isModernError(rpcError.code) || rpcError.code === METHOD_NOT_FOUND);
}

/** Reads the session id from the response headers. @throws {InvalidResponseError} The id has invalid characters or is too long. */
function readSessionId(answer: HttpAnswer): string | undefined {
  const id = answer.header(SESSION_ID_HEADER);
  if (id === undefined || /^[\x21-\x7e]{1,4096}$/.test(id)) return id;
  throw new InvalidResponseError('The server sent an invalid session id: it must be visible ASCII of at most 4,096 characters');
}
