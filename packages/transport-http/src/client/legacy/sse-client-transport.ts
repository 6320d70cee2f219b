/**
 * HTTP+SSE of the oldest revision: one stream from the server, whose first event names the address to post to. The stream is the channel,
 * and its end is the session's.
 *
 * @deprecated since 2025-03-26, with HTTP+SSE: use Streamable HTTP wherever the server offers it.
 * @see 2024-11-05 basic/transports#http-with-sse
 */

import {
  UsageError,
  ConnectionClosedError,
  InvalidResponseError,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonValue,
  type RequestId,
  SessionLostError,
  TimeoutError,
} from '@mortise/jsonrpc-core';
import type { WaitingCaller } from '@mortise/jsonrpc-core/transport';
import { SSE_TYPE } from '../../headers.ts';
import type { SseEvent } from '../../sse/decode-events.ts';
import type { HttpClientOptions } from '../client-options.ts';
import { describe, isSuccess, readFailure, toHttpError } from '../http-failure.ts';
import type { HttpAnswer, HttpCall } from '../http-sender.ts';
import { MessageReader } from '../message-reader.ts';
import { POST_HEADERS, type Sending, toEraKey, Wire } from '../wire.ts';
import { PostingChannel } from './posting-channel.ts';

/** How long a server may take to say where to post. */
const ENDPOINT_TIMEOUT_MS = 10_000;

export class SseChannel extends PostingChannel {
  #endpoint: string | undefined;
  #sending: Sending | undefined;
  #reader: MessageReader | undefined;
  /** Settles the wait for the first event. */
  #opening: { resolve(): void; reject(error: Error): void } | undefined;

  /** Whether the server has said where to post. */
  get isOpen(): boolean {
    return this.#endpoint !== undefined;
  }

  /**
   * Opens the stream and waits until the server has said where to post.
   *
   * @param caller Whose time limit stands still while the authorizer is at work.
   * @throws {ExchangeHttpError} There is no stream at this address.
   * @throws {InvalidResponseError} Its first event is not `endpoint`, or names another origin.
   * @throws {TimeoutError} It does not come within 10 seconds.
   */
  async start(caller?: WaitingCaller): Promise<void> {
    if (this.isClosing) throw new ConnectionClosedError();
    if (this.#sending !== undefined) throw new UsageError('ERR_ALREADY_STARTED');
    const call: HttpCall = { method: 'GET', url: this.wire.url, headers: { ...this.wire.headers, accept: SSE_TYPE } };
    this.#sending = this.wire.send(call, { caller, timeoutMs: ENDPOINT_TIMEOUT_MS });
    try {
      const answer = await this.#sending.answer;
      if (!isSuccess(answer)) throw (await readFailure(call, answer)).error;
      await this.#open(call, answer);
    } catch (error) {
      void this.close();
      throw error;
    }
  }

  async #open(call: HttpCall, answer: HttpAnswer): Promise<void> {
    const opened = new Promise<void>((resolve, reject) => {
      this.#opening = { resolve, reject };
    });
    const message = `${describe(call)} did not say where to post within ${ENDPOINT_TIMEOUT_MS} ms`;
    const expire = (): void => this.#opening?.reject(new TimeoutError(message, ENDPOINT_TIMEOUT_MS));
    const timer = this.wire.clock.schedule(expire, ENDPOINT_TIMEOUT_MS, { keepAlive: true });
    this.#reader = MessageReader.open(answer, this.wire.maxMessageBytes, {
      onValue: (value, text) => (this.isOpen ? this.deliver(value, text) : this.#refuse('a message came before it')),
      onGarbage: (error) => (this.isOpen ? this.report(error) : this.#refuse('something else came before it')),
      onEvent: (event) => this.#onEvent(event),
      onEnd: (error) => this.#onEnd(error),
    });
    if (this.#reader?.isStream !== true) this.#opening?.reject(toHttpError(call, answer, { hint: 'its body is no event stream' }));
    await opened.finally(() => timer.cancel());
  }

  #onEvent({ event, data }: SseEvent): void {
    if (event !== 'endpoint' || this.isOpen) return;
    const { url } = this.wire;
    const target = URL.canParse(data, url) ? new URL(data, url) : undefined;
    if (target === undefined) return this.#refuse('what it names is no address');
    // Whatever is sent there, a token perhaps, is meant for this server alone.
    if (target.origin !== new URL(url).origin || target.username !== '' || target.password !== '')
      return this.#refuse(`it names another origin (${target.origin})`);
    this.#endpoint = target.href;
    this.#opening?.resolve();
  }

  #onEnd(error: Error | undefined): void {
    if (this.isClosing) return;
    if (!this.isOpen) return this.#opening?.reject(new ConnectionClosedError('The stream ended before its first event', { cause: error }));
    if (error !== undefined) this.report(error);
    void this.close();
  }

  #refuse(why: string): void {
    const message = `The server of HTTP+SSE must name the address to post to in its first event, but ${why}`;
    this.#opening?.reject(new InvalidResponseError(message));
  }

  protected notify(_message: JsonRpcMessage, text: string): Promise<void> {
    return this.#post(text);
  }

  protected request({ id }: JsonRpcRequest, text: string, caller: WaitingCaller | undefined): Promise<void> {
    return this.#post(text, { id, caller });
  }

  async #post(text: string, request?: { readonly id: RequestId; readonly caller: WaitingCaller | undefined }): Promise<void> {
    this.assertOpen();
    const call: HttpCall = { method: 'POST', url: this.#endpoint ?? '', headers: { ...this.wire.headers, ...POST_HEADERS }, body: text };
    const failure = await this.post(call, request);
    if (failure === undefined) return;
    const { error, response } = failure;
    if (error.status === 404) {
      const lost = new SessionLostError(undefined, { cause: error });
      this.endLater(lost, 0);
      throw lost;
    }
    if (response === undefined) throw error;
    this.deliver(response as unknown as JsonValue, '');
  }

  protected assertOpen(): void {
    if (this.isClosing) throw new ConnectionClosedError();
    if (!this.isOpen) throw new UsageError('ERR_NOT_CONNECTED');
  }

  protected end(): void {
    this.#opening?.reject(new ConnectionClosedError('The transport was closed while it was being opened'));
    this.#sending?.abort(new ConnectionClosedError());
    this.#reader?.stop();
  }
}

/**
 * A client's side of HTTP+SSE: a stream from the server, and a POST for each message to the address that its first event names.
 *
 * The end of the stream is the end of the session: `onclose` is called, and a client opens another one by `renew`. `httpTransport` finds
 * out by itself whether a server needs it.
 *
 * @deprecated since 2025-03-26: use Streamable HTTP wherever the server offers it.
 * @see 2024-11-05 basic/transports#http-with-sse
 */
export class SSEClientTransport extends SseChannel {
  /** Names the server for programs that remember things about it; holds no secret. */
  readonly eraKey: string;
  readonly #url: string | URL;
  readonly #options: HttpClientOptions;

  /**
   * @param url The address of the stream.
   * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an invalid address or option value.
   */
  constructor(url: string | URL, options: HttpClientOptions = {}) {
    super(new Wire(url, options));
    this.#url = url;
    this.#options = options;
    this.eraKey = toEraKey(this.wire.url);
  }

  /** Makes another, unstarted transport to the same server. */
  renew(): SSEClientTransport {
    return new SSEClientTransport(this.#url, this.#options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
