/** `SSEClientTransport`: the class that MCP's TypeScript users know, for servers that speak nothing newer than HTTP+SSE. */

import type { JsonRpcMessage, Transport } from '@mortise/jsonrpc-core';
import type { MessageInfo, SendOptions } from '@mortise/jsonrpc-core/transport';
import { type HttpClientOptions, toSettings, toWire } from './client-options.ts';
import { SseChannel } from './legacy/sse-channel.ts';
import { toEraKey } from './wire.ts';

/**
 * A client's side of HTTP+SSE: a stream from the server, and a POST for each message to the address that its first event names.
 *
 * The end of the stream is the end of the session: `onclose` is called, and a client opens another one if it was given a factory, or
 * this class, which is one by `renew`. `httpTransport` finds out by itself whether a server needs it.
 *
 * @deprecated since 2025-03-26: use Streamable HTTP wherever the server offers it.
 * @see 2024-11-05 basic/transports#http-with-sse
 */
export class SSEClientTransport implements Transport {
  /** Names the server for whoever remembers things about it; holds no secret. */
  readonly eraKey: string;
  readonly #url: string | URL;
  readonly #options: HttpClientOptions;
  readonly #channel: SseChannel;

  /**
   * @param url The address of the stream.
   * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an address that is not one of http or https, or an option that cannot hold.
   */
  constructor(url: string | URL, options: HttpClientOptions = {}) {
    const wire = toWire(url, options);
    this.#url = url;
    this.#options = options;
    this.eraKey = toEraKey(wire.url);
    this.#channel = new SseChannel(wire, toSettings(options));
  }

  get onmessage(): ((message: JsonRpcMessage, info?: MessageInfo) => void) | undefined {
    return this.#channel.onmessage;
  }

  set onmessage(listener: ((message: JsonRpcMessage, info?: MessageInfo) => void) | undefined) {
    this.#channel.onmessage = listener;
  }

  get onerror(): ((error: Error) => void) | undefined {
    return this.#channel.onerror;
  }

  set onerror(listener: ((error: Error) => void) | undefined) {
    this.#channel.onerror = listener;
  }

  get onclose(): (() => void) | undefined {
    return this.#channel.onclose;
  }

  set onclose(listener: (() => void) | undefined) {
    this.#channel.onclose = listener;
  }

  /** Makes another, unstarted transport to the same server. */
  renew(): SSEClientTransport {
    return new SSEClientTransport(this.#url, this.#options);
  }

  /**
   * Opens the stream and waits until the server has said where to post.
   *
   * @throws {ExchangeHttpError} There is no stream at this address.
   * @throws {InvalidResponseError} Its first event is not `endpoint`, or names another origin.
   * @throws {TimeoutError} It does not come within 10 seconds.
   */
  start(): Promise<void> {
    return this.#channel.start();
  }

  /** Posts a message. Resolves once the server has accepted it. @throws {SessionLostError} {ExchangeHttpError} It has not. */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    return this.#channel.send(message, options);
  }

  /** Closes the stream, and with it the session. */
  close(): Promise<void> {
    return this.#channel.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
