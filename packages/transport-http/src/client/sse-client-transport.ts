/** `SSEClientTransport`: the class that MCP's TypeScript users know, for servers that speak nothing newer than HTTP+SSE. */

import { type HttpClientOptions, toWire } from './client-options.ts';
import { SseChannel } from './legacy/sse-channel.ts';
import { toEraKey } from './wire.ts';

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
    super(toWire(url, options));
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
