/** `/client/sse`: the client transport for HTTP+SSE, the transport of 2024-11-05. */

import { ExchangeHttpError } from '@mortise/jsonrpc-core';
import { SSEClientTransport as OwnTransport } from '@mortise/transport-http/client';
import { UnauthorizedError } from './auth/provider.ts';
import { type HttpOptions, ProviderAuthorizer, toHttpOptions } from './http-client-options.ts';

/** The stream could not be opened. `code` is the HTTP status. */
export class SseError extends Error {
  readonly code: number | undefined;
  /** The failure that the error stands for. */
  readonly event: unknown;

  constructor(code: number | undefined, message: string | undefined, event?: unknown) {
    super(`SSE error: ${message}`);
    this.code = code;
    this.event = event;
  }
}

export interface SSEClientTransportOptions extends HttpOptions {
  /** Only its `fetch` has an effect: the function that opens the stream. */
  eventSourceInit?: { fetch?: HttpOptions['fetch'] } | undefined;
}

/**
 * The client transport for HTTP+SSE.
 *
 * @deprecated since 2025-03-26: use `StreamableHTTPClientTransport` wherever the server offers it.
 */
export class SSEClientTransport extends OwnTransport {
  readonly #authorizer: ProviderAuthorizer | undefined;

  constructor(url: URL, options: SSEClientTransportOptions = {}) {
    const { authProvider, eventSourceInit } = options;
    const authorizer = authProvider === undefined ? undefined : new ProviderAuthorizer(authProvider, url, options);
    const openStream = eventSourceInit?.fetch;
    const send = options.fetch ?? fetch;
    const split: HttpOptions['fetch'] = (to, init) => (init?.method === 'GET' && openStream ? openStream : send)(to, init);
    super(url, toHttpOptions(openStream === undefined ? options : { ...options, fetch: split }, authorizer));
    this.#authorizer = authorizer;
  }

  /** Opens the stream. @throws {SseError} The server refused. {UnauthorizedError} The user must sign in. */
  override async start(...given: Parameters<OwnTransport['start']>): Promise<void> {
    try {
      await super.start(...given);
    } catch (error) {
      throw error instanceof ExchangeHttpError ? new SseError(error.status, error.message, error) : error;
    }
  }

  setProtocolVersion(_version: string): void {
    // HTTP+SSE sends no version in its headers.
  }

  /** Exchanges the code with which the user came back from the authorization server. @throws {UnauthorizedError} It failed. */
  async finishAuth(authorizationCode: string): Promise<void> {
    if (this.#authorizer === undefined) throw new UnauthorizedError('No auth provider');
    await this.#authorizer.finish(authorizationCode);
  }
}
