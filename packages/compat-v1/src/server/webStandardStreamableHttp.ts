/** `/server/webStandardStreamableHttp`: the server transport for Streamable HTTP on web `Request` and `Response`. */

import type { AuthInfo as OwnAuthInfo } from '@mortise/protocol/contracts';
import { isLoopbackHost } from '@mortise/protocol/edge';
import type { AuthInfo } from '../types/auth-info.ts';
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

/** The transport without its way in from `node:http`, whose name the web's way in takes. */
const WebTransport = HttpServerTransport as new (
  options?: WebStandardStreamableHTTPServerTransportOptions,
) => Omit<HttpServerTransport, 'handleRequest'>;

/** Serves one session, or requests without a session, by `handleRequest(request)`, on any platform with web `Request` and `Response`. */
export class WebStandardStreamableHTTPServerTransport extends WebTransport {
  /** Responds to one request. */
  handleRequest(request: Request, { parsedBody, authInfo }: HandleRequestOptions = {}): Promise<Response> {
    const url = new URL(request.url);
    const requestInfo = { headers: Object.fromEntries(request.headers), url };
    // The platform does not tell the socket's address: a public host name stands for a public server.
    const info = { isLoopback: isLoopbackHost(url.hostname), auth: authInfo as unknown as OwnAuthInfo | undefined, parsedBody };
    return incoming.run({ requestInfo, ...(authInfo === undefined ? {} : { authInfo }) }, async () => {
      const response = await this.handleFetch(request, info);
      this._reportRefusal(response.status);
      return response;
    });
  }
}
