/** `node:http` as an `HttpSender`: keep-alive connections, no `Request`, no `Response`, no streams of the web. */

import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ConnectionClosedError } from '@mortise/jsonrpc-core';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { HttpOptionError } from '../errors.ts';
import type { BodySink, HttpAnswer, HttpCall, HttpFlight, HttpSender } from '../client/http-sender.ts';

/** How connections are made and kept. */
export interface NodeHttpSenderOptions {
  /**
   * For the protocol of the server's address: proxies, certificates and sockets are its options.
   *
   * @default one that keeps connections for reuse, shared by all senders without one of their own
   */
  readonly agent?: HttpAgent | HttpsAgent | undefined;
}

/** Shorter than Node's own servers keep a connection, so that a request does not meet one that is being closed. */
const KEEP_ALIVE_MS = 4000;

/**
 * Sends a client's requests by `node:http`: `httpTransport(url, { sender: nodeHttpSender() })`. Takes about a sixth of the CPU of `fetch`.
 *
 * Idle connections do not keep a process alive.
 *
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an option of the wrong kind, or an unknown one.
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

/** Closes idle connections before the server does: by a timer of the socket, where the agent's own option would set one for each request. */
function closeIdleSockets<Agent extends HttpAgent>(agent: Agent): Agent {
  const keep = agent.keepSocketAlive.bind(agent) as (socket: Duplex) => boolean | undefined;
  agent.keepSocketAlive = (socket) => {
    const isKept = keep(socket) !== false;
    if (socket instanceof Socket && socket.timeout !== KEEP_ALIVE_MS) socket.setTimeout(KEEP_ALIVE_MS);
    return isKept;
  };
  return agent;
}

/** Where requests to one URL go. Taken apart once: nearly all of a transport's requests have the same URL. */
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
      // A request that was destroyed before it had an answer, or one whose answer was an upgrade.
      request.on('close', () => {
        if (!isAnswered) reject(new ConnectionClosedError('The connection was closed before the answer'));
      });
      request.end(body);
    });
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#request?.destroy();
  }

  /** The connection may serve another request from now on. */
  finish(): void {
    this.#isOver = true;
  }
}

/** Names and values in turn, which Node writes as they are: nothing is looked up or added. */
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
      this.#error = new Error(`The answer is compressed (${encoding}) although that was not asked for`);
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
    else sink.onEnd(this.#error ?? new Error('The connection was closed in the middle of the answer'));
  }
}
