/**
 * HTTP+SSE of the oldest revision: one stream from the server, whose first event names where to post. The stream is the channel, and
 * its end is the session's.
 *
 * @deprecated since 2025-03-26: use Streamable HTTP wherever the server offers it.
 * @see 2024-11-05 basic/transports#http-with-sse
 */

import {
  AlreadyStartedError,
  type ClockTimer,
  ConnectionClosedError,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonValue,
  NotConnectedError,
  type ParseError,
  SessionLostError,
  TimeoutError,
  type Transport,
} from '@mortise/jsonrpc-core';
import { classifyMessage, serializeMessage } from '@mortise/jsonrpc-core/messages';
import type { MessageInfo, SendOptions, WaitingCaller } from '@mortise/jsonrpc-core/transport';
import { SseEndpointError } from '../../errors.ts';
import type { SseEvent } from '../../sse/decode-events.ts';
import { type HttpFailure, readFailure, toHttpError } from '../http-failure.ts';
import type { HttpCall } from '../http-sender.ts';
import { SSE_TYPE } from '../media-type.ts';
import { type MessageListener, MessageReader } from '../message-reader.ts';
import { POST_HEADERS } from '../post-headers.ts';
import { reportTo } from '../../report-to.ts';
import { describe, type Sending, type Wire } from '../wire.ts';
import type { LegacySettings } from './legacy-settings.ts';
import { toMessageInfo } from './message-info.ts';
import { Notice, type NoticeTerms } from './notice.ts';
import { PausableTimer, pauseBoth } from './pausable-timer.ts';
import { SendLane } from './send-lane.ts';

export class SseChannel implements Transport, MessageListener {
  onmessage?: ((message: JsonRpcMessage, info?: MessageInfo) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  readonly #wire: Wire;
  readonly #settings: LegacySettings;
  readonly #lane = new SendLane();
  readonly #notices = new Set<Notice>();
  #opening: Opening | undefined;
  #endpoint: string | undefined;
  #sending: Sending | undefined;
  #reader: MessageReader | undefined;
  #endTimer: ClockTimer | undefined;
  #closing: Promise<void> | undefined;

  constructor(wire: Wire, settings: LegacySettings) {
    this.#wire = wire;
    this.#settings = settings;
  }

  /**
   * Opens the stream and waits until the server has said where to post.
   *
   * @param caller Who waits for it, and for nothing while somebody signs in.
   * @throws {ExchangeHttpError} There is no stream at this address.
   * @throws {SseEndpointError} Its first event is not `endpoint`, or names another origin. {TimeoutError} It does not come.
   */
  start(caller?: WaitingCaller): Promise<void> {
    if (this.#closing !== undefined) return Promise.reject(new ConnectionClosedError());
    if (this.#opening !== undefined) return Promise.reject(new AlreadyStartedError());
    const opening = new Opening(this.#settings, describe({ method: 'GET', url: this.#wire.url }));
    this.#opening = opening;
    this.#open({ pauseTimeout: () => pauseBoth(opening.timer, caller) }).catch((error: unknown) => opening.reject(error));
    return opening.done.catch((error: unknown) => {
      void this.close();
      throw error;
    });
  }

  /**
   * Posts a message. Resolves once the server has accepted it; they are accepted in the order in which they were sent.
   *
   * @throws {SessionLostError} The server does not know the session; the channel ends. {ExchangeHttpError} It refused the message.
   */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    try {
      this.#assertOpen();
      const text = serializeMessage(message);
      const isRequest = classifyMessage(message) === 'request';
      if (!isRequest) return this.#lane.inTurn(() => this.#post(text, { caller: this.#lane }));
      return this.#lane.behind(() => this.#post(text, { id: (message as JsonRpcRequest).id, caller: options }), options);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /** Closes the stream, and with it the session. */
  close(): Promise<void> {
    this.#endTimer?.cancel();
    this.#closing ??= Promise.resolve().then(() => this.#close());
    return this.#closing;
  }

  onValue(value: JsonValue, text: string): void {
    if (this.#closing !== undefined) return;
    if (this.#endpoint === undefined) return this.#refuseStart('a message came before it');
    this.#deliver(value, text);
  }

  onGarbage(error: ParseError): void {
    if (this.#endpoint === undefined) this.#refuseStart('something else came before it');
    else if (this.#closing === undefined) this.#report(error);
  }

  onNamedEvent({ event, data }: SseEvent): void {
    if (event !== 'endpoint' || this.#endpoint !== undefined) return;
    const { url } = this.#wire;
    const target = URL.canParse(data, url) ? new URL(data, url) : undefined;
    if (target === undefined) return this.#refuseStart('what it names is no address');
    // Whatever is sent there, a token perhaps, is meant for this server alone.
    if (target.origin !== new URL(url).origin || target.username !== '' || target.password !== '') {
      return this.#refuseStart(`it names another origin (${target.origin})`);
    }
    this.#endpoint = target.href;
    this.#opening?.resolve();
  }

  onEnd(error?: Error): void {
    if (this.#closing !== undefined) return;
    if (this.#endpoint === undefined)
      this.#opening?.reject(new ConnectionClosedError('The stream ended before its first event', { cause: error }));
    else if (error !== undefined) this.#report(error);
    void this.close();
  }

  // ---- inside

  async #open(caller: WaitingCaller): Promise<void> {
    const call: HttpCall = { method: 'GET', url: this.#wire.url, headers: { ...this.#wire.headers, accept: SSE_TYPE } };
    this.#sending = this.#wire.send(call, caller);
    const answer = await this.#sending.answer;
    const { status } = answer;
    if (status < 200 || status > 299) throw (await readFailure(call, answer, undefined, this.#settings.maxErrorBytes)).error;
    const reader = MessageReader.open(answer, this.#settings.maxMessageBytes, this);
    if (reader?.isStream !== true) throw toHttpError(call, answer, undefined, 'its body is no event stream');
    this.#reader = reader;
  }

  async #post(text: string, of: NoticeTerms): Promise<void> {
    this.#assertOpen();
    const call: HttpCall = { method: 'POST', url: this.#endpoint ?? '', headers: { ...this.#wire.headers, ...POST_HEADERS }, body: text };
    const notice = new Notice(this.#wire, call, this.#settings, of);
    this.#notices.add(notice);
    try {
      const failure = await notice.outcome;
      if (failure !== undefined) this.#onRefused(failure);
    } finally {
      this.#notices.delete(notice);
    }
  }

  #onRefused({ status, error, response }: HttpFailure): void {
    if (status === 404) {
      const lost = new SessionLostError(undefined, { cause: error });
      this.#endLater(lost);
      throw lost;
    }
    if (response === undefined) throw error;
    this.#deliver(response as unknown as JsonValue, '');
  }

  #deliver(value: JsonValue, text: string): void {
    if (this.#closing !== undefined) return;
    try {
      this.onmessage?.(value as unknown as JsonRpcMessage, toMessageInfo(text));
    } catch (error) {
      this.#report(error);
    }
  }

  /** Later, since who waits for what was not carried out must learn that first. */
  #endLater(lost: SessionLostError): void {
    const end = (): void => {
      this.#report(lost);
      void this.close();
    };
    this.#endTimer ??= this.#settings.clock.schedule(end, 0, { keepAlive: true });
  }

  #refuseStart(why: string): void {
    this.#opening?.reject(new SseEndpointError(`The server of HTTP+SSE must name the address to post to in its first event, but ${why}`));
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new ConnectionClosedError();
    if (this.#endpoint === undefined) throw new NotConnectedError();
  }

  async #close(): Promise<void> {
    this.#opening?.reject(new ConnectionClosedError('The transport was closed while it was being opened'));
    this.#sending?.abort(undefined);
    this.#reader?.stop();
    for (const notice of this.#notices) notice.stop();
    this.#wire.lingering.close();
    try {
      this.onclose?.();
    } catch (error) {
      this.#report(error);
    }
  }

  #report(thrown: unknown): void {
    reportTo(this, thrown);
  }
}

/** The wait for the first event. */
class Opening {
  readonly done: Promise<void>;
  readonly timer: PausableTimer;
  #resolve: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor({ clock, endpointTimeoutMs }: LegacySettings, what: string) {
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const expire = (): void =>
      this.reject(new TimeoutError(`${what} did not say where to post within ${endpointTimeoutMs} ms`, endpointTimeoutMs));
    this.timer = new PausableTimer(clock, expire, endpointTimeoutMs);
  }

  resolve(): void {
    this.timer.cancel();
    this.#resolve();
  }

  reject(error: unknown): void {
    this.timer.cancel();
    this.#reject(error);
  }
}
