/** `@mortise/auth-proxy/node`: serves the proxy on `node:http`. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { checkOptions } from '@mortise/jsonrpc-core/transport';

/** The options of `toNodeListener`. */
export interface NodeListenerOptions {
  /** The origin of this server as clients know it: `https://mcp.example.com`. The `Host` header is not used. */
  readonly origin: string;
}

/** Handles one request of `node:http`. Never rejects. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Converts a fetch-style handler to a listener for `node:http`, Express and the like. It buffers each response before sending, so it is
 * not for streams.
 */
export function toNodeListener(handler: (request: Request) => Promise<Response>, options: NodeListenerOptions): NodeListener {
  checkOptions('toNodeListener', options, { origin: 'string' });
  const { origin } = options;
  return async (incoming, outgoing) => {
    try {
      const response = await handler(toRequest(incoming, origin));
      const body = Buffer.from(await response.arrayBuffer());
      for (const [name, value] of response.headers) if (name !== 'set-cookie') outgoing.setHeader(name, value);
      const cookies = response.headers.getSetCookie();
      if (cookies.length > 0) outgoing.setHeader('Set-Cookie', cookies);
      // The rest of an unread body would be parsed as the next request.
      if (!incoming.complete) outgoing.setHeader('Connection', 'close');
      outgoing.writeHead(response.status).end(body);
    } catch {
      if (!outgoing.headersSent) outgoing.writeHead(400);
      outgoing.end();
    }
  };
}

function toRequest(incoming: IncomingMessage, origin: string): Request {
  const { method = 'GET', url = '/', rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  // The request target may be an absolute URL of any origin; only its path is used.
  const target = new URL(origin + (url.startsWith('/') ? url : new URL(url).pathname));
  const hasBody = method !== 'GET' && method !== 'HEAD';
  if (!hasBody) return new Request(target, { method, headers });
  return new Request(target, {
    method,
    headers,
    body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>,
    duplex: 'half',
  } as RequestInit);
}
