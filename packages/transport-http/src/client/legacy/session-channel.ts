/**
 * Streamable HTTP of the legacy era as a channel: a POST for each message, an event stream for what the server has to say unasked, and
 * a session that holds them together.
 *
 * @see 2025-11-25 basic/transports#streamable-http
 */

import {
  AlreadyStartedError,
  type ClockTimer,
  ConnectionClosedError,
  InvalidResponseError,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonValue,
  NotConnectedError,
  type RequestId,
  SessionLostError,
  type Transport,
} from '@mortise/jsonrpc-core';
import { classifyMessage, isJsonObject, serializeMessage } from '@mortise/jsonrpc-core/messages';
import type { MessageInfo, SendOptions, WaitingCaller } from '@mortise/jsonrpc-core/transport';
import { findRevision } from '@mortise/protocol';
import { encodeEventId, LAST_EVENT_ID_HEADER, PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from '../../headers.ts';
import { type HttpFailure, readFailure, toHttpError } from '../http-failure.ts';
import type { HttpAnswer, HttpCall } from '../http-sender.ts';
import { SSE_TYPE } from '../media-type.ts';
import { POST_HEADERS } from '../post-headers.ts';
import { reportTo } from '../../report-to.ts';
import type { Wire } from '../wire.ts';
import type { LegacySettings } from './legacy-settings.ts';
import { toMessageInfo } from './message-info.ts';
import { Notice } from './notice.ts';
import { ReopeningStream } from './reopening-stream.ts';
import { type Outgoing, type PostOwner, RequestPost } from './request-post.ts';
import { SendLane } from './send-lane.ts';
import { DRAIN_MS, isSessionLoss } from './session-loss.ts';

/** A session that was opened before and is gone on with. */
export interface SavedSession {
  readonly sessionId?: string | undefined;
  readonly protocolVersion?: string | undefined;
}

/** Tried when `initialize` is refused. @returns Whether the message has been sent in another way. */
export type InitializeFallback = (message: JsonRpcRequest, failure: HttpFailure, caller: WaitingCaller | undefined) => Promise<boolean>;

/** `lost`: the server does not know the session; what is on its way may still settle. */
type State = 'new' | 'open' | 'lost' | 'closed';

export class SessionChannel implements Transport, PostOwner {
  onmessage?: ((message: JsonRpcMessage, info?: MessageInfo) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  /** Set by who knows another way to a server that refuses `initialize`. */
  fallback: InitializeFallback | undefined;
  readonly wire: Wire;
  readonly settings: LegacySettings;
  readonly #lane = new SendLane();
  readonly #posts = new Set<RequestPost>();
  readonly #notices = new Set<Notice>();
  #state: State = 'new';
  #sessionId: string | undefined;
  #version: string | undefined;
  #get: ReopeningStream | undefined;
  /** A stream that could not be opened any more is tried again once the server has been heard of. */
  #wantsGet = false;
  #drainTimer: ClockTimer | undefined;
  #closing: Promise<void> | undefined;

  constructor(wire: Wire, settings: LegacySettings, saved: SavedSession = {}) {
    this.wire = wire;
    this.settings = settings;
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
    if (this.#closing !== undefined) return Promise.reject(new ConnectionClosedError());
    if (this.#state !== 'new') return Promise.reject(new AlreadyStartedError());
    this.#state = 'open';
    if (this.#sessionId !== undefined) this.#openGet();
    return Promise.resolve();
  }

  /**
   * Sends a message. That of a request settles when its answer has been delivered or cannot come any more, that of others once the
   * server has accepted them; these are accepted in the order in which they were sent.
   *
   * @throws {SessionLostError} The server does not know the session; the message was not carried out, and the channel ends.
   * @throws {ExchangeHttpError} The server refused it. {ConnectionClosedError} Its answer broke off.
   */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    try {
      this.#assertOpen();
      const text = serializeMessage(message);
      if (classifyMessage(message) !== 'request') return this.#lane.inTurn(() => this.#notify(message, text));
      return this.#lane.behind(() => this.#request({ message: message as JsonRpcRequest, text, caller: options }), options);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /** Ends the session at the server, and everything here. */
  close(): Promise<void> {
    this.#drainTimer?.cancel();
    // Later, so that a callback that closes again finds the promise that is already there.
    this.#closing ??= Promise.resolve().then(() => this.#close(this.#state));
    return this.#closing;
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
    if (status > 299 && status !== 405 && status !== 404)
      throw (await readFailure(call, answer, undefined, this.settings.maxErrorBytes)).error;
    this.wire.lingering.discard(answer);
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

  deliver(value: JsonValue, text: string, answered?: JsonRpcRequest): void {
    if (this.#closing !== undefined) return;
    if (answered?.method === 'initialize') this.#noteVersion(value);
    try {
      // T5: a JSON value that is no message is for the reader above to judge, and so is a batch.
      this.onmessage?.(value as unknown as JsonRpcMessage, toMessageInfo(text));
    } catch (error) {
      this.report(error);
    }
  }

  report(thrown: unknown): void {
    reportTo(this, thrown);
  }

  onAccepted({ method }: JsonRpcRequest, answer: HttpAnswer): void {
    if (method === 'initialize') {
      this.#sessionId = readSessionId(answer);
      return;
    }
    this.settings.lineage.isBadRequestSpent = false;
    if (this.#wantsGet) this.#openGet();
  }

  onFailure({ message, caller }: RequestPost, call: HttpCall, failure: HttpFailure): boolean | Promise<boolean> {
    if (message.method === 'initialize') return this.fallback?.(message, failure, caller) ?? false;
    if (!this.#isSessionLoss(call, failure)) return false;
    throw this.#lose(failure);
  }

  forget(post: RequestPost): void {
    this.#posts.delete(post);
    this.#endIfDrained();
  }

  // ---- inside

  async #request(outgoing: Outgoing): Promise<void> {
    this.#assertOpen();
    const post = new RequestPost(this, outgoing);
    this.#posts.add(post);
    return post.done;
  }

  async #notify(message: JsonRpcMessage, text: string): Promise<void> {
    this.#assertOpen();
    const call = this.#toPost(text);
    const notice = new Notice(this.wire, call, this.settings, { caller: this.#lane });
    this.#notices.add(notice);
    try {
      const failure = await notice.outcome;
      if (failure !== undefined) throw this.#isSessionLoss(call, failure) ? this.#lose(failure) : failure.error;
      if ('method' in message && message.method === 'notifications/initialized') this.#openGet();
    } finally {
      this.#notices.delete(notice);
      this.#onNoticed(message);
      this.#endIfDrained();
    }
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

  #assertOpen(): void {
    if (this.#closing !== undefined || this.#state === 'closed') throw new ConnectionClosedError();
    if (this.#state === 'lost') throw new SessionLostError();
    if (this.#state === 'new') throw new NotConnectedError();
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
    if (!get.wasGiven && status !== 401 && status !== 403) return this.wire.lingering.discard(answer);
    const failure = await readFailure(call, answer, undefined, this.settings.maxErrorBytes);
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

  #isSessionLoss(call: HttpCall, failure: HttpFailure): boolean {
    return call.headers[SESSION_ID_HEADER] !== undefined && isSessionLoss(failure, this.settings.lineage);
  }

  /** What else is on its way gets its own answer, if that comes soon: most of it will be told the same. */
  #lose({ status, error }: HttpFailure): SessionLostError {
    const lost = new SessionLostError(undefined, { cause: error });
    if (this.#state !== 'open') return lost;
    if (status === 400) this.settings.lineage.isBadRequestSpent = true;
    this.#state = 'lost';
    this.#get?.stop();
    this.#endLater(DRAIN_MS);
    this.#endIfDrained();
    return lost;
  }

  #endIfDrained(): void {
    if (this.#state === 'lost' && this.#posts.size + this.#notices.size === 0) this.#endLater(0);
  }

  /** Later, since who waits for what was not carried out must learn that first: the end would tell them less. */
  #endLater(delayMs: number): void {
    this.#drainTimer?.cancel();
    const end = (): void => {
      this.report(new SessionLostError());
      void this.close();
    };
    this.#drainTimer = this.settings.clock.schedule(end, delayMs, { keepAlive: true });
  }

  async #close(from: State): Promise<void> {
    this.#state = 'closed';
    this.#get?.stop();
    for (const notice of this.#notices) notice.stop();
    for (const post of this.#posts) post.stop(new ConnectionClosedError());
    if (from === 'open' && !this.settings.keepsSession) await this.#terminateSoon();
    this.wire.lingering.close();
    try {
      this.onclose?.();
    } catch (error) {
      this.report(error);
    }
  }

  /** Whoever closes does not wait long, and need not know whether the server has heard it. */
  async #terminateSoon(): Promise<void> {
    if (this.#sessionId === undefined) return;
    const call: HttpCall = { method: 'DELETE', url: this.wire.url, headers: this.#headers() };
    const sending = this.wire.send(call);
    const timer = this.settings.clock.schedule(() => sending.abort(undefined), this.settings.closeTimeoutMs, { keepAlive: true });
    try {
      this.wire.lingering.discard(await sending.answer);
    } catch {
      // It will expire at the server by itself.
    }
    timer.cancel();
  }
}

/** @throws {InvalidResponseError} The id has characters that an id must not have. */
function readSessionId(answer: HttpAnswer): string | undefined {
  const id = answer.header(SESSION_ID_HEADER);
  if (id === undefined || /^[\x21-\x7e]{1,4096}$/.test(id)) return id;
  throw new InvalidResponseError('The server gave its session an id that is not visible ASCII, or longer than 4,096 characters');
}
