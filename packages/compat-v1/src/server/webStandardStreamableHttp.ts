/** `/server/webStandardStreamableHttp`: the server transport for Streamable HTTP on web `Request` and `Response`. */

import type { Connectable, ServerConnection } from '@mortise/jsonrpc-core';
import type { AuthInfo as OwnAuthInfo, McpEndpoint } from '@mortise/protocol/contracts';
import { isLoopbackHost } from '@mortise/protocol/edge';
import type { AuthInfo } from '../types/auth-info.ts';
import type { JSONRPCMessage, RequestId } from '../types.ts';
import { HttpServerTransport, type WebStandardStreamableHTTPServerTransportOptions } from './http-server-transport.ts';
import { incoming } from './incoming.ts';

export type { EventId, EventStore, StreamId } from './http-event-store.ts';
export type { WebStandardStreamableHTTPServerTransportOptions } from './http-server-transport.ts';

/** What a framework knows about a request. */
export interface HandleRequestOptions {
  /** The body, if the framework has read it. */
  parsedBody?: unknown;
  /** The caller, if the framework has verified it. */
  authInfo?: AuthInfo | undefined;
}

/** Serves one session, or requests without a session, by `handleRequest(request)`, on any platform with web `Request` and `Response`. */
export class WebStandardStreamableHTTPServerTransport {
  readonly #own: HttpServerTransport;

  constructor(options: WebStandardStreamableHTTPServerTransportOptions = {}) {
    this.#own = new HttpServerTransport(options);
  }

  get sessionId(): string | undefined {
    return this.#own.sessionId;
  }

  get onmessage(): HttpServerTransport['onmessage'] {
    return this.#own.onmessage;
  }

  set onmessage(handler: HttpServerTransport['onmessage']) {
    this.#own.onmessage = handler;
  }

  get onerror(): ((error: Error) => void) | undefined {
    return this.#own.onerror;
  }

  set onerror(handler: ((error: Error) => void) | undefined) {
    this.#own.onerror = handler;
  }

  get onclose(): (() => void) | undefined {
    return this.#own.onclose;
  }

  set onclose(handler: (() => void) | undefined) {
    this.#own.onclose = handler;
  }

  /** Connects the transport to a server. Called by `server.connect`. */
  attach(endpoint: McpEndpoint & Connectable): Promise<ServerConnection> {
    return this.#own.attach(endpoint);
  }

  start(): Promise<void> {
    return this.#own.start();
  }

  send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId | undefined }): Promise<void> {
    return this.#own.send(message as Parameters<HttpServerTransport['send']>[0], options);
  }

  close(): Promise<void> {
    return this.#own.close();
  }

  /** Closes the stream of a request, so that the client polls for the rest. */
  closeSSEStream(requestId: RequestId): void {
    this.#own.closeSSEStream(requestId);
  }

  /** Responds to one request. */
  handleRequest(request: Request, { parsedBody, authInfo }: HandleRequestOptions = {}): Promise<Response> {
    const url = new URL(request.url);
    const requestInfo = { headers: Object.fromEntries(request.headers), url };
    // The platform does not tell the socket's address: a public host name stands for a public server.
    const info = { isLoopback: isLoopbackHost(url.hostname), auth: authInfo as unknown as OwnAuthInfo | undefined, parsedBody };
    return incoming.run({ requestInfo, ...(authInfo === undefined ? {} : { authInfo }) }, () => this.#own.handleFetch(request, info));
  }
}
