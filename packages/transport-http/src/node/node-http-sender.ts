/** An `HttpSender` that uses `node:http`: keep-alive connections, without web `Request`, `Response` or streams. */

import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ConnectionClosedError } from '@mortise/jsonrpc-core';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { HttpOptionError } from '../errors.ts';
import type { BodySink, HttpAnswer, HttpCall, HttpFlight, HttpSender } from '../client/http-sender.ts';

/** The options of `nodeHttpSender`. */
export interface NodeHttpSenderOptions {
  /**
   * The Node agent, which sets proxies, certificates and sockets. Must be for the protocol of the server's URL, http or https.
   *
   * @default a keep-alive agent, shared by all senders that have no agent of their own
   */
  readonly agent?: HttpAgent | HttpsAgent | undefined;
}

/** How long an idle connection is kept. Node's servers keep it longer, so no request uses a connection that the server is closing. */
const KEEP_ALIVE_MS = 4000;

/**
 * Makes an `HttpSender` that uses `node:http`: `httpTransport(url, { sender: nodeHttpSender() })`. It takes a sixth of the CPU time of
 * `fetch`.
 *
 * Idle connections do not keep the process alive.
 */
export function nodeHttpSender(options: NodeHttpSenderOptions = {}): HttpSender {
  checkOptions('options of nodeHttpSender', options, { agent: 'object' }, HttpOptionError);
  const { agent } = options;
  return (call) => new NodeFlight(call, agent);
}

let httpAgent: HttpAgent | undefined;
let httpsAgent: HttpsAgent | undefined;

function sharedAgent(isSecure: boolean): HttpAgent {
  const options = { keepAlive: true, scheduling: 'lifo' } as const;
  if (isSecure) return (httpsAgent ??= closeIdleSockets(new HttpsAgent(options)));
  return (httpAgent ??= closeIdleSockets(new HttpAgent(options)));
}

/** Makes an agent close idle connections before the server does. The agent's own option would set a timer for each request. */
function closeIdleSockets<Agent extends HttpAgent>(agent: Agent): Agent {
  const keep = agent.keepSocketAlive.bind(agent) as (socket: Duplex) => boolean | undefined;
  agent.keepSocketAlive = (socket) => {
    const isKept = keep(socket) !== false;
    if (socket instanceof Socket && socket.timeout !== KEEP_ALIVE_MS) socket.setTimeout(KEEP_ALIVE_MS);
    return isKept;
  };
  return agent;
}

/** The parsed URL of a request. Cached, because nearly all requests of a transport have the same URL. */
interface Target {
  readonly url: string;
  readonly isSecure: boolean;
  readonly hostname: string;
  readonly port: string;
  readonly path: string;
  readonly host: string;
}

let lastTarget: Target | undefined;

function toTarget(url: string): Target {
  if (lastTarget?.url === url) return lastTarget;
  const { protocol, hostname, port, pathname, search, host } = new URL(url);
  lastTarget = { url, isSecure: protocol === 'https:', hostname: hostname.replace(/^\[|\]$/g, ''), port, path: pathname + search, host };
  return lastTarget;
}

class NodeFlight implements HttpFlight {
  readonly answer: Promise<HttpAnswer>;
  #request: ClientRequest | undefined;
  #isOver = false;

  constructor(call: HttpCall, agent: HttpAgent | undefined) {
    this.answer = new Promise((resolve, reject) => {
      const { method, url, headers, body } = call;
      const { isSecure, hostname, port, path, host } = toTarget(url);
      const request = (isSecure ? httpsRequest : httpRequest)({
        method,
        hostname,
        port,
        path,
        headers: toHeaderList(host, headers, body),
        agent: agent ?? sharedAgent(isSecure),
      });
      this.#request = request;
      let isAnswered = false;
      request.on('response', (message) => {
        isAnswered = true;
        resolve(new NodeAnswer(this, message));
      });
      request.on('error', reject);
      // The request was destroyed before its response, or the response was an upgrade.
      request.on('close', () => {
        if (!isAnswered) reject(new ConnectionClosedError('The connection was closed before the response arrived'));
      });
      request.end(body);
    });
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#request?.destroy();
  }

  /** Called when the response is complete: frees the connection for another request. */
  finish(): void {
    this.#isOver = true;
  }
}

/** Returns the headers as a list of alternating names and values, which Node writes unchanged. */
function toHeaderList(host: string, headers: Readonly<Record<string, string>>, body: string | undefined): string[] {
  const list = ['host', host, 'connection', 'keep-alive'];
  for (const name in headers) list.push(name, headers[name] ?? '');
  if (body !== undefined) list.push('content-length', String(Buffer.byteLength(body)));
  return list;
}

class NodeAnswer implements HttpAnswer {
  readonly status: number;
  readonly #flight: NodeFlight;
  readonly #message: IncomingMessage;
  #sink: BodySink | undefined;
  #error: Error | undefined;

  constructor(flight: NodeFlight, message: IncomingMessage) {
    this.status = message.statusCode ?? 0;
    this.#flight = flight;
    this.#message = message;
    message.on('error', (error) => {
      this.#error = error;
      this.#end();
    });
  }

  header(name: string): string | undefined {
    const { rawHeaders } = this.#message;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      if (rawHeaders[at]?.toLowerCase() === name) return rawHeaders[at + 1];
    }
    return undefined;
  }

  read(sink: BodySink): void {
    this.#sink = sink;
    const encoding = this.header('content-encoding');
    if (encoding !== undefined && encoding !== 'identity')
      this.#error = new Error(`The response is compressed (${encoding}), which the request did not allow`);
    const message = this.#message;
    if (this.#error !== undefined) {
      queueMicrotask(() => this.#end());
      this.#flight.abort();
      return;
    }
    message.on('data', (chunk: Uint8Array) => this.#sink?.onChunk(chunk));
    message.on('end', () => this.#end());
  }

  abort(): void {
    this.#sink = undefined;
    this.#flight.abort();
  }

  #end(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    if (this.#message.complete) this.#flight.finish();
    if (sink === undefined) return;
    if (this.#message.complete && this.#error === undefined) sink.onEnd();
    else sink.onEnd(this.#error ?? new Error('The connection was closed in the middle of the response'));
  }
}
