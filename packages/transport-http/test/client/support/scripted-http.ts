/** An HTTP server that does exactly what a test of the client wants: each request waits until the test answers it. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { encodeEvent, type SseEventFields } from '@mortise/transport-http';

/** One request, and the means to answer it. */
export class Visit {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Resolves when the client has closed the connection before the answer was complete, or the answer is complete. */
  readonly over: Promise<void>;
  readonly response: ServerResponse;
  readonly #socket: Socket;

  constructor(request: IncomingMessage, response: ServerResponse, body: string) {
    this.method = request.method ?? '';
    this.path = request.url ?? '';
    this.headers = request.headers;
    this.body = body;
    this.response = response;
    this.#socket = request.socket;
    this.over = new Promise((resolve) => response.on('close', resolve));
  }

  /** The body as JSON. */
  get message(): JsonObject {
    return JSON.parse(this.body) as JsonObject;
  }

  get id(): JsonObject[string] {
    return this.message['id'];
  }

  /** Whether the client left before the answer was complete. */
  get wasLeft(): boolean {
    return this.response.destroyed && !this.response.writableFinished;
  }

  /** Answers with anything. */
  reply(status: number, headers: Readonly<Record<string, string>> = {}, body = ''): void {
    this.response.writeHead(status, { 'content-length': String(Buffer.byteLength(body)), ...headers });
    this.response.end(body);
  }

  json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): void {
    this.reply(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(value));
  }

  /** Answers the request with a result. */
  result(result: JsonObject, headers: Readonly<Record<string, string>> = {}): void {
    this.json({ jsonrpc: '2.0', id: this.id, result }, 200, headers);
  }

  /** Answers the request with an error. */
  error(code: number, status = 200, data?: JsonObject): void {
    this.json({ jsonrpc: '2.0', id: this.id, error: { code, message: `error ${code}`, ...(data && { data }) } }, status);
  }

  accept(): void {
    this.reply(202);
  }

  /** Begins an event stream. */
  stream(headers: Readonly<Record<string, string>> = {}): EventStream {
    this.response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    this.response.flushHeaders();
    return new EventStream(this);
  }

  /** Breaks the connection. */
  break(): void {
    this.#socket.destroy();
  }
}

/** An event stream as a server writes it. */
export class EventStream {
  readonly visit: Visit;

  constructor(visit: Visit) {
    this.visit = visit;
  }

  write(text: string): this {
    this.visit.response.write(text);
    return this;
  }

  event(fields: SseEventFields): this {
    return this.write(encodeEvent(fields));
  }

  send(message: unknown, id?: string): this {
    return this.event({ event: 'message', data: JSON.stringify(message), ...(id !== undefined && { id }) });
  }

  /** Sends the answer to the request. */
  result(result: JsonObject, id?: string): this {
    return this.send({ jsonrpc: '2.0', id: this.visit.id, result }, id);
  }

  end(): void {
    this.visit.response.end();
  }
}

type Handler = (visit: Visit) => void;

export class ScriptedHttp {
  readonly visits: Visit[] = [];
  readonly server: Server;
  readonly #waiting: ((visit: Visit) => void)[] = [];
  readonly #unseen: Visit[] = [];
  readonly #handlers: Handler[] = [];
  #isRefusing = false;

  private constructor(server: Server) {
    this.server = server;
  }

  static async listen(): Promise<ScriptedHttp> {
    const server = createServer();
    const scripted = new ScriptedHttp(server);
    server.on('request', (request, response) => scripted.#receive(request, response));
    server.on('connection', (socket) => {
      if (scripted.#isRefusing) socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return scripted;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  /** The next request that no handler takes. */
  next(): Promise<Visit> {
    const visit = this.#unseen.shift();
    if (visit !== undefined) return Promise.resolve(visit);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** How many requests no test has taken yet. */
  get unseen(): number {
    return this.#unseen.length;
  }

  /** Answers requests of one kind from now on. The newest handler counts. */
  on(matches: string | ((visit: Visit) => boolean), handler: Handler): this {
    this.#handlers.unshift((visit) => {
      const isMatch = typeof matches === 'string' ? matchesName(visit, matches) : matches(visit);
      if (isMatch) handler(visit);
      else throw new NoMatch();
    });
    return this;
  }

  /** Takes no connection for a while. */
  refuse(isRefusing: boolean): void {
    this.#isRefusing = isRefusing;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => this.#dispatch(new Visit(request, response, Buffer.concat(chunks).toString())));
    request.on('error', () => undefined);
  }

  #dispatch(visit: Visit): void {
    this.visits.push(visit);
    for (const handler of this.#handlers) {
      try {
        return handler(visit);
      } catch (error) {
        if (!(error instanceof NoMatch)) throw error;
      }
    }
    const waiting = this.#waiting.shift();
    if (waiting) waiting(visit);
    else this.#unseen.push(visit);
  }
}

class NoMatch extends Error {}

/** By the method of HTTP (`GET`) or of the message (`tools/call`). */
function matchesName(visit: Visit, name: string): boolean {
  if (visit.method === name) return true;
  if (visit.method !== 'POST' || visit.body === '') return false;
  return (JSON.parse(visit.body) as { readonly method?: unknown }).method === name;
}
