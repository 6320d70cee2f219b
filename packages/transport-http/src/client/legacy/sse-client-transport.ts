/**
 * The client side of HTTP+SSE, the transport of the oldest revision: one event stream from the server, whose first event names the URL to
 * post to. The session ends with the stream.
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

/** How long to wait for the `endpoint` event, the first one of an HTTP+SSE stream. */
const ENDPOINT_TIMEOUT_MS = 10_000;

export class SseChannel extends PostingChannel {
  #endpoint: string | undefined;
  #sending: Sending | undefined;
  #reader: MessageReader | undefined;
  /** The functions that settle the promise of `start`; undefined once the `endpoint` event has arrived. */
  #opening: { resolve(): void; reject(error: Error): void } | undefined;

  /** Whether the `endpoint` event has arrived, so that messages can be sent. */
  get isOpen(): boolean {
    return this.#endpoint !== undefined;
  }

  /**
   * Opens the event stream and waits for the `endpoint` event.
   *
   * @param caller The caller whose timeout pauses while the authorizer works.
   * @throws {ExchangeHttpError} There is no event stream at this URL.
   * @throws {InvalidResponseError} The first event is not `endpoint`, or names a URL of another origin.
   * @throws {TimeoutError} The event does not arrive within 10 seconds.
   */
  async start(caller?: WaitingCaller): Promise<void> {
    if (this.isClosing) throw new ConnectionClosedError();
    if (this.#sending !== undefined) throw new UsageError('ERR_ALREADY_STARTED');
    const call: HttpCall = { method: 'GET', url: this.wire.url, headers: { ...this.wire.headers, accept: SSE_TYPE } };
    this.#sending = this.wire.send(call, { caller, timeoutMs: ENDPOINT_TIMEOUT_MS });
    try {
      const answer = await this.#sending.answer;
      if (!isSuccess(answer)) throw (await readFailure(this.wire, call, answer)).error;
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
    const message = `${describe(call)} did not send the "endpoint" event within ${ENDPOINT_TIMEOUT_MS} ms`;
    const expire = (): void => this.#opening?.reject(new TimeoutError(message, ENDPOINT_TIMEOUT_MS));
    const timer = this.wire.clock.schedule(expire, ENDPOINT_TIMEOUT_MS, { keepAlive: true });
    this.#reader = MessageReader.open(answer, this.wire.maxMessageBytes, {
      onValue: (value, text) => (this.isOpen ? this.deliver(value, text) : this.#refuse('a message came before the "endpoint" event')),
      onGarbage: (error) => (this.isOpen ? this.report(error) : this.#refuse('text came before the "endpoint" event')),
      onEvent: (event) => this.#onEvent(event),
      onEnd: (error) => this.#onEnd(error),
    });
    if (this.#reader?.isStream !== true) this.#opening?.reject(toHttpError(call, answer, { hint: 'its body is not an event stream' }));
    await opened.finally(() => timer.cancel());
  }

  #onEvent({ event, data }: SseEvent): void {
    if (event !== 'endpoint' || this.isOpen) return;
    const { url } = this.wire;
    const target = URL.canParse(data, url) ? new URL(data, url) : undefined;
    if (target === undefined) return this.#refuse('the "endpoint" event does not contain a valid URL');
    // Tokens and messages are only for the server's own origin.
    if (target.origin !== new URL(url).origin || target.username !== '' || target.password !== '')
      return this.#refuse(`the "endpoint" event names a URL of another origin (${target.origin})`);
    this.#endpoint = target.href;
    this.#opening?.resolve();
  }

  #onEnd(error: Error | undefined): void {
    if (this.isClosing) return;
    if (!this.isOpen)
      return this.#opening?.reject(new ConnectionClosedError('The HTTP+SSE stream ended before its "endpoint" event', { cause: error }));
    if (error !== undefined) this.report(error);
    void this.close();
  }

  #refuse(why: string): void {
    const message = `The first event of an HTTP+SSE server must name the URL to post to, but ${why}`;
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
 * The client transport for HTTP+SSE: an event stream from the server, and a POST for each message to the URL that the first event names.
 *
 * When the stream ends, the session ends: `onclose` is called, and a client opens a new session by `renew`. `httpTransport` detects by
 * itself whether a server needs HTTP+SSE.
 *
 * @deprecated since 2025-03-26: use Streamable HTTP wherever the server offers it.
 * @see 2024-11-05 basic/transports#http-with-sse
 */
export class SSEClientTransport extends SseChannel {
  /** The key under which a client remembers which era this server supports. Contains no secret. */
  readonly eraKey: string;
  readonly #url: string | URL;
  readonly #options: HttpClientOptions;

  /**
   * @param url The URL of the event stream.
   * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an invalid URL or option value.
   */
  constructor(url: string | URL, options: HttpClientOptions = {}) {
    super(new Wire(url, options));
    this.#url = url;
    this.#options = options;
    this.eraKey = toEraKey(this.wire.url);
  }

  /** Makes a new transport to the same server, not yet started. */
  renew(): SSEClientTransport {
    return new SSEClientTransport(this.#url, this.#options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
