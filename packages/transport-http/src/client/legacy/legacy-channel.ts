/**
 * The legacy era over HTTP as a channel: a POST for each message, an event stream for what the server has to say unasked, and a session
 * that holds them together. A server that refuses `initialize` as one of HTTP+SSE does is spoken to in that way instead.
 *
 * @see 2025-11-25 basic/transports#streamable-http; 2025-11-25 basic/transports#backwards-compatibility
 */

import {
  ConnectionClosedError,
  InvalidResponseError,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonValue,
  type RequestId,
  SessionLostError,
  UsageError,
} from '@mortise/jsonrpc-core';
import { isJsonObject, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import type { SendOptions, WaitingCaller } from '@mortise/jsonrpc-core/transport';
import { findRevision } from '@mortise/protocol';
import { isModernError } from '@mortise/protocol/wire';
import { encodeEventId, LAST_EVENT_ID_HEADER, PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from '../../headers.ts';
import type { ClientSettings } from '../client-options.ts';
import { type HttpFailure, readFailure, toHttpError } from '../http-failure.ts';
import type { HttpAnswer, HttpCall } from '../http-sender.ts';
import { SSE_TYPE } from '../message-reader.ts';
import { POST_HEADERS, type Wire } from '../wire.ts';
import { type Lineage, PostingChannel } from './posting-channel.ts';
import { ReopeningStream } from './reopening-stream.ts';
import { type PostOwner, RequestPost } from './request-post.ts';
import { SseChannel } from './sse-channel.ts';

/** How long what is on its way in a lost session may still take. */
const DRAIN_MS = 1000;
/** How long `close` waits until the server has ended the session. */
const CLOSE_TIMEOUT_MS = 1000;
/** What servers say with 400 when they have been started again and know nothing of a session. */
const ABOUT_SESSION = /session|not initiali[sz]ed/i;

/** A session that was opened before and is gone on with. */
export interface SavedSession {
  readonly sessionId?: string | undefined;
  readonly protocolVersion?: string | undefined;
}

/** `lost`: the server does not know the session; what is on its way may still settle. */
type State = 'new' | 'open' | 'lost' | 'closed';

export class LegacyChannel extends PostingChannel implements PostOwner {
  readonly #posts = new Set<RequestPost>();
  readonly #lineage: Lineage;
  #state: State = 'new';
  #sessionId: string | undefined;
  #version: string | undefined;
  #get: ReopeningStream | undefined;
  /** A stream that could not be opened any more is tried again once the server has been heard of. */
  #wantsGet = false;
  /** The channel of a server that speaks HTTP+SSE alone. */
  #sse: SseChannel | undefined;

  constructor(wire: Wire, settings: ClientSettings, lineage: Lineage, saved: SavedSession = {}) {
    super(wire, settings);
    this.#lineage = lineage;
    this.#sessionId = saved.sessionId;
    this.#version = saved.protocolVersion;
  }

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  /** Begins. Nothing is sent before the first message, but for a session that is gone on with. */
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
  async terminateSession(): Promise<void> {
    if (this.#sessionId === undefined) return;
    const call: HttpCall = { method: 'DELETE', url: this.wire.url, headers: this.#headers() };
    const answer = await this.wire.send(call).answer;
    const { status } = answer;
    // 405: the server does not let clients end sessions. 404: it is over already.
    if (status > 299 && status !== 405 && status !== 404) throw (await readFailure(call, answer, undefined)).error;
    this.wire.discard(answer);
    this.#sessionId = undefined;
    this.#get?.stop();
  }

  // ---- what requests and streams ask and tell

  toPost(message: JsonRpcRequest, text: string): HttpCall {
    if (message.method === 'initialize') this.#forgetSession();
    return this.#toPost(text);
  }

  toGet(lastEventId: string | undefined): HttpCall {
    const headers = { ...this.#headers(), accept: SSE_TYPE };
    return {
      method: 'GET',
      url: this.wire.url,
      headers: lastEventId === undefined ? headers : { ...headers, [LAST_EVENT_ID_HEADER]: encodeEventId(lastEventId) ?? '' },
    };
  }

  onAnswered({ method }: JsonRpcRequest, answer: JsonValue): void {
    if (method === 'initialize') this.#noteVersion(answer);
  }

  onAccepted({ method }: JsonRpcRequest, answer: HttpAnswer): void {
    if (method === 'initialize') {
      this.#sessionId = readSessionId(answer);
      return;
    }
    this.#lineage.isBadRequestSpent = false;
    if (this.#wantsGet) this.#openGet();
  }

  onFailure({ message, caller }: RequestPost, call: HttpCall, failure: HttpFailure): boolean | Promise<boolean> {
    if (message.method === 'initialize') return this.settings.sseFallback && mayBeSse(failure) ? this.#trySse(message, caller) : false;
    if (!this.#isSessionLoss(call, failure)) return false;
    throw this.#lose(failure);
  }

  forget(post: RequestPost): void {
    this.#posts.delete(post);
    this.#endIfDrained();
  }

  // ---- inside

  protected async request(message: JsonRpcRequest, text: string, caller: WaitingCaller | undefined): Promise<void> {
    this.assertOpen();
    const post = new RequestPost(this, { message, text, caller });
    this.#posts.add(post);
    return post.done;
  }

  protected async notify(message: JsonRpcMessage, text: string): Promise<void> {
    this.assertOpen();
    const call = this.#toPost(text);
    try {
      const failure = await this.post(call, { caller: this.lane });
      if (failure !== undefined) throw this.#isSessionLoss(call, failure) ? this.#lose(failure) : failure.error;
      if ('method' in message && message.method === 'notifications/initialized') this.#openGet();
    } finally {
      this.#onNoticed(message);
      this.#endIfDrained();
    }
  }

  /** @returns Whether the server speaks HTTP+SSE, and has been sent the message in that way. */
  async #trySse(message: JsonRpcRequest, caller: WaitingCaller | undefined): Promise<boolean> {
    const sse = new SseChannel(this.wire, this.settings);
    this.#sse = sse;
    sse.onmessage = (received, info) => this.onmessage?.(received, info);
    sse.onerror = (error) => this.report(error);
    try {
      await sse.start(caller);
    } catch {
      // Not that kind of server either: what it said first is what counts.
      return false;
    }
    sse.onclose = () => void this.close();
    await sse.send(message, caller);
    return true;
  }

  /** The server has been told to stop working on a request, so what its answer would come over can be closed. */
  #onNoticed(message: JsonRpcMessage): void {
    if (!('method' in message) || message.method !== 'notifications/cancelled') return;
    const id = message.params?.['requestId'] as RequestId | undefined;
    for (const post of this.#posts) if (post.message.id === id) post.stop();
  }

  #toPost(text: string): HttpCall {
    return { method: 'POST', url: this.wire.url, headers: { ...this.#headers(), ...POST_HEADERS }, body: text };
  }

  #headers(): Record<string, string> {
    const headers: Record<string, string> = { ...this.wire.headers };
    if (this.#sessionId !== undefined) headers[SESSION_ID_HEADER] = this.#sessionId;
    const version = this.#version;
    if (version !== undefined && findRevision(version)?.http.versionHeader !== 'never') headers[PROTOCOL_VERSION_HEADER] = version;
    return headers;
  }

  /** Whoever uses the channel may tell the version, and need not. */
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

  protected assertOpen(): void {
    if (this.isClosing || this.#state === 'closed') throw new ConnectionClosedError();
    if (this.#state === 'lost') throw new SessionLostError();
    if (this.#state === 'new') throw new UsageError('ERR_NOT_CONNECTED');
  }

  // ---- the stream of the session

  #openGet(): void {
    if (!this.settings.getStream || this.#get !== undefined || this.#state !== 'open') return;
    this.#wantsGet = false;
    const get = new ReopeningStream(
      this,
      {
        onValue: (value, text) => this.deliver(value, text),
        onGarbage: (error) => this.report(error),
        onRefused: (call, answer) => void this.#onGetRefused(get, call, answer),
        onOver: (error) => this.#onGetOver(error),
      },
      { needsCursor: false },
    );
    this.#get = get;
    get.open();
  }

  /** A server without such a stream says so in many ways, none of which is an error. One that gave it before has something to say. */
  async #onGetRefused(get: ReopeningStream, call: HttpCall, answer: HttpAnswer): Promise<void> {
    const { status } = answer;
    if (!get.wasGiven && status !== 401 && status !== 403) return this.wire.discard(answer);
    const failure = await readFailure(call, answer, undefined);
    if (this.#state !== 'open' || this.#get !== get) return;
    if (this.#isSessionLoss(call, failure)) this.#lose(failure);
    else if (status < 300) this.report(toHttpError(call, answer, undefined, 'its body is no event stream any more'));
    else this.report(failure.error);
  }

  #onGetOver(error: Error | undefined): void {
    this.#get = undefined;
    this.#wantsGet = true;
    if (error !== undefined) this.report(error);
  }

  // ---- the end

  /**
   * Whether an answer to a request that carried a session's id means that the session is gone: 404 always, and a 400 that speaks of the
   * session, but not a second time before a session has worked.
   *
   * @see 2025-11-25 basic/transports#session-management
   */
  #isSessionLoss(call: HttpCall, { status, text }: HttpFailure): boolean {
    if (call.headers[SESSION_ID_HEADER] === undefined) return false;
    return status === 404 || (status === 400 && !this.#lineage.isBadRequestSpent && ABOUT_SESSION.test(text));
  }

  /** What else is on its way gets its own answer, if that comes soon: most of it will be told the same. */
  #lose({ status, error }: HttpFailure): SessionLostError {
    const lost = new SessionLostError(undefined, { cause: error });
    if (this.#state !== 'open') return lost;
    if (status === 400) this.#lineage.isBadRequestSpent = true;
    this.#state = 'lost';
    this.#get?.stop();
    this.endLater(new SessionLostError(), DRAIN_MS);
    this.#endIfDrained();
    return lost;
  }

  #endIfDrained(): void {
    if (this.#state === 'lost' && this.#posts.size === 0 && !this.isAccepting) this.endLater(new SessionLostError(), 0);
  }

  protected async end(): Promise<void> {
    const wasOpen = this.#state === 'open';
    this.#state = 'closed';
    this.#get?.stop();
    for (const post of this.#posts) post.stop(new ConnectionClosedError());
    await this.#sse?.close();
    if (wasOpen && !this.settings.keepsSession) await this.#terminateSoon();
  }

  /** Whoever closes does not wait long, and need not know whether the server has heard it. */
  async #terminateSoon(): Promise<void> {
    if (this.#sessionId === undefined) return;
    const call: HttpCall = { method: 'DELETE', url: this.wire.url, headers: this.#headers() };
    try {
      this.wire.discard(await this.wire.send(call, { timeoutMs: CLOSE_TIMEOUT_MS }).answer);
    } catch {
      // It will expire at the server by itself.
    }
  }
}

/** Only 400, 404 and 405, and only where the body is not the error of a modern server: an unknown method is one (ledger C-03). */
function mayBeSse({ status, error: { rpcError } }: HttpFailure): boolean {
  if (status !== 400 && status !== 404 && status !== 405) return false;
  return rpcError === undefined || !(isModernError(rpcError.code) || rpcError.code === METHOD_NOT_FOUND);
}

/** @throws {InvalidResponseError} The id has characters that an id must not have. */
function readSessionId(answer: HttpAnswer): string | undefined {
  const id = answer.header(SESSION_ID_HEADER);
  if (id === undefined || /^[\x21-\x7e]{1,4096}$/.test(id)) return id;
  throw new InvalidResponseError('The server gave its session an id that is not visible ASCII, or longer than 4,096 characters');
}
