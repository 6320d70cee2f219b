/** `/server/sse`: the server transport for HTTP+SSE, the transport of 2024-11-05. */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createHostGuard, type HostGuard, isLoopbackHost } from '@mortise/protocol/edge';
import type { AuthInfo } from '../types/auth-info.ts';
import { JSONRPCMessageSchema } from '../types.ts';
import type { JSONRPCMessage, MessageExtraInfo } from '../types.ts';
import type { Transport } from '../shared/transport.ts';
import { incoming } from './incoming.ts';

const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** A client that leaves this much unread has stopped reading: the stream ends. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

export interface SSEServerTransportOptions {
  allowedHosts?: string[] | undefined;
  allowedOrigins?: string[] | undefined;
  /** Has no effect: `Host` and `Origin` are always checked. */
  enableDnsRebindingProtection?: boolean | undefined;
}

/**
 * One HTTP+SSE connection: `new SSEServerTransport('/messages', res)` in the route of the stream, `handlePostMessage` in that of messages.
 *
 * @deprecated since 2025-03-26: use `StreamableHTTPServerTransport`.
 */
export class SSEServerTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  readonly #path: string;
  readonly #stream: ServerResponse;
  readonly #id = randomUUID();
  readonly #guard: HostGuard;
  #state: 'new' | 'open' | 'closed' = 'new';

  /**
   * @param endpoint The path, or URL, to which the client posts its messages.
   * @param res The response of the GET that opens the stream.
   */
  constructor(endpoint: string, res: ServerResponse, options: SSEServerTransportOptions = {}) {
    this.#path = endpoint;
    this.#stream = res;
    const { allowedHosts, allowedOrigins } = options;
    this.#guard = createHostGuard({ allowedHosts, allowedOrigins });
  }

  /** The id in the URL to which the client posts. */
  get sessionId(): string {
    return this.#id;
  }

  /** Opens the stream. `server.connect` calls it. */
  async start(): Promise<void> {
    if (this.#state !== 'new')
      throw new Error('SSEServerTransport already started! If using Server class, note that connect() calls start() automatically.');
    const refusal = this.#check(this.#stream.req, this.#stream);
    if (refusal !== undefined) {
      this.#stream.writeHead(403).end(refusal);
      throw new Error(refusal);
    }
    this.#state = 'open';
    this.#stream.on('close', () => this.#end());
    this.#stream.on('error', (error) => this.onerror?.(error));
    this.#stream.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
      Connection: 'keep-alive',
    });
    const url = new URL(this.#path, 'http://localhost');
    url.searchParams.set('sessionId', this.#id);
    this.#stream.write(`event: endpoint\ndata: ${url.pathname}${url.search}${url.hash}\n\n`);
  }

  /**
   * Handles one posted message.
   *
   * @param parsedBody The body, if a body parser has read it.
   * @throws {Error} The stream is not open.
   */
  async handlePostMessage(
    req: IncomingMessage & { auth?: AuthInfo | undefined },
    res: ServerResponse,
    parsedBody?: unknown,
  ): Promise<void> {
    if (this.#state !== 'open') {
      res.writeHead(500).end('SSE connection not established');
      throw new Error('SSE connection not established');
    }
    const refusal = this.#check(req, res);
    if (refusal !== undefined) {
      this.onerror?.(new Error(refusal));
      res.writeHead(403).end(refusal);
      return;
    }
    try {
      const message = parsedBody ?? (await readBody(req));
      await this.handleMessage(message, {
        requestInfo: { headers: req.headers },
        ...(req.auth === undefined ? {} : { authInfo: req.auth }),
      });
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      res.writeHead(400).end('Invalid message');
      return;
    }
    res.writeHead(202).end('Accepted');
  }

  /** Delivers a message of the client, however it arrived. @throws {Error} It is not a JSON-RPC message. */
  async handleMessage(message: unknown, extra?: MessageExtraInfo): Promise<void> {
    const parsed = JSONRPCMessageSchema.parse(typeof message === 'string' ? JSON.parse(message) : message);
    incoming.run(extra ?? {}, () => this.onmessage?.(parsed, extra));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#state !== 'open') throw new Error('Not connected');
    this.#stream.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    if (this.#stream.writableLength > MAX_UNREAD_BYTES) this.#stream.destroy();
  }

  async close(): Promise<void> {
    if (this.#state === 'open') this.#stream.end();
    this.#end();
  }

  #end(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.onclose?.();
  }

  /** Checks `Host` and `Origin`. A page that a CORS middleware has allowed may call. */
  #check(request: IncomingMessage, response: ServerResponse): string | undefined {
    const { host, origin } = request.headers;
    const given = response.getHeader('access-control-allow-origin');
    const address = request.socket?.localAddress?.replace('::ffff:', '');
    const isLoopbackSocket = address === undefined || isLoopbackHost(address.includes(':') ? `[${address}]` : address);
    return this.#guard({ host, origin: given === '*' || given === origin ? undefined : origin, isLoopbackSocket });
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new Error(`Unsupported content-type: ${type}`);
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.byteLength;
    if (bytes > MAX_BODY_BYTES) throw new Error(`The message is longer than ${MAX_BODY_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
