/**
 * HTTP+SSE of the oldest revision: one stream from the server, whose first event names where to post. The stream is the channel, and
 * its end is the session's.
 *
 * @deprecated since 2025-03-26: use Streamable HTTP wherever the server offers it.
 * @see 2024-11-05 basic/transports#http-with-sse
 */

import {
  ConnectionClosedError,
  InvalidResponseError,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonValue,
  type ParseError,
  SessionLostError,
  TimeoutError,
  UsageError,
} from '@mortise/jsonrpc-core';
import type { WaitingCaller } from '@mortise/jsonrpc-core/transport';
import type { SseEvent } from '../../sse/decode-events.ts';
import { readFailure, toHttpError } from '../http-failure.ts';
import type { HttpCall } from '../http-sender.ts';
import { type MessageListener, MessageReader, SSE_TYPE } from '../message-reader.ts';
import { describe, POST_HEADERS, type Sending } from '../wire.ts';
import { PostingChannel, type PostTerms } from './posting-channel.ts';

/** How long a server may take to say where to post. */
const ENDPOINT_TIMEOUT_MS = 10_000;

export class SseChannel extends PostingChannel implements MessageListener {
  #endpoint: string | undefined;
  #sending: Sending | undefined;
  #reader: MessageReader | undefined;
  /** Settles the wait for the first event. */
  #opened: Deferred | undefined;

  /** Whether the server has said where to post. */
  get isOpen(): boolean {
    return this.#endpoint !== undefined;
  }

  /**
   * Opens the stream and waits until the server has said where to post.
   *
   * @param caller Who waits for it, and for nothing while somebody signs in.
   * @throws {ExchangeHttpError} There is no stream at this address.
   * @throws {InvalidResponseError} Its first event is not `endpoint`, or names another origin. {TimeoutError} It does not come.
   */
  async start(caller?: WaitingCaller): Promise<void> {
    if (this.isClosing) throw new ConnectionClosedError();
    if (this.#sending !== undefined) throw new UsageError('ERR_ALREADY_STARTED');
    const opened = createPromise();
    this.#opened = opened;
    try {
      await Promise.all([opened.promise, this.#open(caller)]);
    } catch (error) {
      void this.close();
      throw error;
    }
  }

  onValue(value: JsonValue, text: string): void {
    if (this.#endpoint === undefined) this.#refuseStart('a message came before it');
    else this.deliver(value, text);
  }

  onGarbage(error: ParseError): void {
    if (this.#endpoint === undefined) this.#refuseStart('something else came before it');
    else if (!this.isClosing) this.report(error);
  }

  onNamedEvent({ event, data }: SseEvent): void {
    if (event !== 'endpoint' || this.#endpoint !== undefined) return;
    const { url } = this.wire;
    const target = URL.canParse(data, url) ? new URL(data, url) : undefined;
    if (target === undefined) return this.#refuseStart('what it names is no address');
    // Whatever is sent there, a token perhaps, is meant for this server alone.
    if (target.origin !== new URL(url).origin || target.username !== '' || target.password !== '')
      return this.#refuseStart(`it names another origin (${target.origin})`);
    this.#endpoint = target.href;
    this.#opened?.resolve();
  }

  onEnd(error?: Error): void {
    if (this.isClosing) return;
    if (this.#endpoint === undefined)
      this.#opened?.reject(new ConnectionClosedError('The stream ended before its first event', { cause: error }));
    else if (error !== undefined) this.report(error);
    void this.close();
  }

  async #open(caller: WaitingCaller | undefined): Promise<void> {
    const call: HttpCall = { method: 'GET', url: this.wire.url, headers: { ...this.wire.headers, accept: SSE_TYPE } };
    const late = (): Error =>
      new TimeoutError(`${describe(call)} did not say where to post within ${ENDPOINT_TIMEOUT_MS} ms`, ENDPOINT_TIMEOUT_MS);
    this.#sending = this.wire.send(call, { caller, timeoutMs: ENDPOINT_TIMEOUT_MS });
    const answer = await this.#sending.answer;
    const { status } = answer;
    if (status < 200 || status > 299) throw (await readFailure(call, answer, undefined)).error;
    const timer = this.settings.clock.schedule(() => this.#opened?.reject(late()), ENDPOINT_TIMEOUT_MS, { keepAlive: true });
    this.#opened?.promise.then(timer.cancel.bind(timer), timer.cancel.bind(timer));
    const reader = MessageReader.open(answer, this.settings.maxMessageBytes, this);
    if (reader?.isStream !== true) throw toHttpError(call, answer, undefined, 'its body is no event stream');
    this.#reader = reader;
  }

  protected notify(_message: JsonRpcMessage, text: string): Promise<void> {
    return this.#post(text, { caller: this.lane });
  }

  protected request({ id }: JsonRpcRequest, text: string, caller: WaitingCaller | undefined): Promise<void> {
    return this.#post(text, { id, caller });
  }

  async #post(text: string, terms: PostTerms): Promise<void> {
    this.assertOpen();
    const call: HttpCall = { method: 'POST', url: this.#endpoint ?? '', headers: { ...this.wire.headers, ...POST_HEADERS }, body: text };
    const failure = await this.post(call, terms);
    if (failure === undefined) return;
    const { status, error, response } = failure;
    if (status === 404) {
      const lost = new SessionLostError(undefined, { cause: error });
      this.endLater(lost, 0);
      throw lost;
    }
    if (response === undefined) throw error;
    this.deliver(response as unknown as JsonValue, '');
  }

  #refuseStart(why: string): void {
    this.#opened?.reject(
      new InvalidResponseError(`The server of HTTP+SSE must name the address to post to in its first event, but ${why}`),
    );
  }

  protected assertOpen(): void {
    if (this.isClosing) throw new ConnectionClosedError();
    if (this.#endpoint === undefined) throw new UsageError('ERR_NOT_CONNECTED');
  }

  protected end(): void {
    this.#opened?.reject(new ConnectionClosedError('The transport was closed while it was being opened'));
    this.#sending?.abort(new ConnectionClosedError());
    this.#reader?.stop();
  }
}

interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

function createPromise(): Deferred {
  let resolve = (): void => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  // Rejected perhaps before anybody listens.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
