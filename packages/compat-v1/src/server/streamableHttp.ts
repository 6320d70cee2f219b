/** `/server/streamableHttp`: the server transport for Streamable HTTP on `node:http` and Express. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NodeRequest, NodeResponse } from '@mortise/transport-http/server';
import type { AuthInfo } from '../types/auth-info.ts';
import { HttpServerTransport, type WebStandardStreamableHTTPServerTransportOptions } from './http-server-transport.ts';
import { incoming } from './incoming.ts';

export type { EventId, EventStore, StreamId } from './http-event-store.ts';
export type StreamableHTTPServerTransportOptions = WebStandardStreamableHTTPServerTransportOptions;

/**
 * Serves one session, or with `sessionIdGenerator: undefined` requests without a session, by `handleRequest(req, res, body)`. Serves
 * clients of every revision that the program's routes let through.
 */
export class StreamableHTTPServerTransport extends HttpServerTransport {
  /**
   * Serves one request.
   *
   * @param parsedBody The body, if a body parser has read it. @default `request.body`
   */
  override handleRequest(
    request: NodeRequest | (IncomingMessage & { auth?: AuthInfo | undefined }),
    response: NodeResponse | ServerResponse,
    parsedBody?: unknown,
  ): Promise<void> {
    const { headers, auth, url } = request as IncomingMessage & { auth?: AuthInfo };
    const { host } = headers;
    const isSecure = (request.socket as { encrypted?: boolean } | null)?.encrypted === true;
    const full = host !== undefined && url !== undefined ? `${isSecure ? 'https' : 'http'}://${host}${url}` : '';
    const requestInfo = { headers, ...(URL.canParse(full) ? { url: new URL(full) } : {}) };
    const serve = async (): Promise<void> => {
      await super.handleRequest(request as NodeRequest, response as NodeResponse, parsedBody);
      this._reportRefusal((response as ServerResponse).statusCode);
    };
    return incoming.run({ requestInfo, ...(auth === undefined ? {} : { authInfo: auth }) }, serve);
  }
}
