/** Speaks HTTP as bare as possible, so that tests see what is on the wire. Each face of the handler looks the same through it. */

import {
  request as httpRequest,
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { createHttpHandler, type HttpHandler, type HttpHandlerOptions } from '@mortise/transport-http/server';
import type { McpEndpoint } from '@mortise/protocol/contracts';
import { SseDecoder, type SseEvent } from '@mortise/transport-http';

export const MODERN = '2026-07-28';
export const LEGACY = '2025-11-25';
export const ACCEPT = 'application/json, text/event-stream';

export type FaceName = 'node' | 'fetch';
export const FACES: readonly FaceName[] = ['node', 'fetch'];

/** A handler that listens on a free port of loopback, behind one of its faces. */
export interface Serving {
  readonly handler: HttpHandler;
  readonly port: number;
  readonly server: Server;
  close(): Promise<void>;
}

export async function serve(face: FaceName, endpoint: McpEndpoint, options: HttpHandlerOptions = {}): Promise<Serving> {
  const handler = createHttpHandler(endpoint, { path: '/mcp', ...options });
  const server = createServer((request, response) => {
    if (face === 'node') void handler.node(request, response);
    else void throughFetch(handler, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    await handler.close({ drainMs: 0 });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { handler, port: (server.address() as AddressInfo).port, server, close };
}

/** What any adapter from `node:http` to `fetch` does. */
async function throughFetch(handler: HttpHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const left = new AbortController();
  outgoing.on('close', () => left.abort());
  const headers = new Headers();
  for (let at = 0; at < incoming.rawHeaders.length; at += 2)
    headers.append(incoming.rawHeaders[at] ?? '', incoming.rawHeaders[at + 1] ?? '');
  const hasBody = incoming.method === 'POST';
  const body = hasBody ? toStream(incoming) : undefined;
  const init = {
    method: incoming.method ?? 'GET',
    headers,
    signal: left.signal,
    ...(body === undefined ? {} : { body, duplex: 'half' as const }),
  };
  const request = new Request(`http://${incoming.headers.host ?? 'localhost'}${incoming.url ?? '/'}`, init);
  const response = await handler.fetch(request, { remoteAddress: incoming.socket.remoteAddress, isLoopback: true });
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  const reader = response.body?.getReader();
  outgoing.on('close', () => void reader?.cancel().catch(() => undefined));
  try {
    for (let piece = await reader?.read(); piece !== undefined && !piece.done; piece = await reader?.read()) {
      if (!outgoing.write(piece.value) && !outgoing.destroyed) await drained(outgoing);
    }
    outgoing.end();
  } catch {
    outgoing.destroy();
  }
}

function toStream(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let isOpen = true;
  return new ReadableStream({
    start(controller) {
      incoming.on('data', (chunk: Uint8Array) => isOpen && controller.enqueue(new Uint8Array(chunk)));
      incoming.on('end', () => isOpen && controller.close());
      incoming.on('error', (error) => isOpen && controller.error(error));
    },
    cancel() {
      isOpen = false;
    },
  });
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done);
      outgoing.off('close', done);
      resolve();
    };
    outgoing.on('drain', done);
    outgoing.on('close', done);
  });
}

/** An answer whose head has come. */
export class Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly message: IncomingMessage;
  readonly request: ClientRequest;
  readonly #decoder: SseDecoder = new SseDecoder();
  readonly #events: SseEvent[] = [];
  #raw = '';
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(message: IncomingMessage, request: ClientRequest) {
    this.status = message.statusCode ?? 0;
    this.headers = message.headers;
    this.message = message;
    this.request = request;
    const isStream = this.isStream;
    message.on('data', (chunk: Buffer) => {
      this.#raw += chunk.toString();
      if (isStream) this.#events.push(...this.#decoder.push(chunk));
      this.#wake?.();
    });
    const end = (): void => {
      this.#ended = true;
      this.#wake?.();
    };
    message.on('end', end);
    message.on('close', end);
    message.on('error', end);
  }

  get isStream(): boolean {
    return this.headers['content-type'] === 'text/event-stream';
  }

  /** Everything that has come, as text. */
  get raw(): string {
    return this.#raw;
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  /** The whole body. */
  async text(): Promise<string> {
    while (!this.#ended) await this.#more();
    return this.#raw;
  }

  async json(): Promise<JsonObject> {
    return JSON.parse(await this.text()) as JsonObject;
  }

  /** The next event; undefined when the stream has ended. */
  async event(): Promise<SseEvent | undefined> {
    while (this.#events.length === 0 && !this.#ended) await this.#more();
    return this.#events.shift();
  }

  /** The next event that carries a message. */
  async nextMessage(): Promise<JsonObject | undefined> {
    for (let event = await this.event(); event !== undefined; event = await this.event()) {
      if (event.data !== '') return JSON.parse(event.data) as JsonObject;
    }
    return undefined;
  }

  /** Every event until the end. */
  async events(): Promise<readonly SseEvent[]> {
    const all: SseEvent[] = [];
    for (let event = await this.event(); event !== undefined; event = await this.event()) all.push(event);
    return all;
  }

  /** The answer to a request, from a body or the end of a stream. */
  async response(): Promise<JsonObject> {
    if (!this.isStream) return this.json();
    for (let message = await this.nextMessage(); message !== undefined; message = await this.nextMessage()) {
      if (message['method'] === undefined) return message;
    }
    throw new Error('The stream ended without an answer');
  }

  /** Breaks the connection. */
  leave(): void {
    this.request.destroy();
    this.message.destroy();
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }
}

export interface Send {
  readonly method?: string;
  readonly path?: string;
  /** A list of pairs may repeat a name. */
  readonly headers?: Readonly<Record<string, string>> | readonly string[];
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

/** Sends one request as it is. */
export function send(port: number, { method = 'POST', path = '/mcp', headers = {}, body, signal }: Send = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const list = Array.isArray(headers) ? (headers as string[]) : { ...(headers as Record<string, string>) };
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      method,
      path,
      headers: list,
      agent: false,
      ...(signal === undefined ? {} : { signal }),
    });
    request.on('response', (message) => resolve(new Answer(message, request)));
    request.on('error', reject);
    request.end(body);
  });
}

/** Posts a message, with the headers that every client sends. */
export function post(port: number, message: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  return send(port, { headers: { 'content-type': 'application/json', accept: ACCEPT, ...headers }, body });
}

let nextId = 1;

/** A modern request with everything that it must have. */
export function modernRequest(method: string, params: JsonObject = {}, id: string | number = nextId++): JsonObject {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientCapabilities': {} };
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ..._meta, ...(params['_meta'] as JsonObject | undefined) } } };
}

/** The headers that mirror a modern request. */
export function modernHeaders(request: JsonObject): Record<string, string> {
  const params = (request['params'] ?? {}) as JsonObject;
  const name = params['name'] ?? params['uri'];
  return {
    'mcp-protocol-version': MODERN,
    'mcp-method': String(request['method']),
    ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
  };
}

/** Makes a modern call. */
export function modern(
  port: number,
  method: string,
  params: JsonObject = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const request = modernRequest(method, params);
  return post(port, request, { ...modernHeaders(request), ...headers });
}

export function modernTool(
  port: number,
  name: string,
  args: JsonObject = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return modern(port, 'tools/call', { name, arguments: args }, headers);
}

export function initializeRequest(version: string = LEGACY, id: string | number = nextId++): JsonObject {
  return {
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };
}

/** A legacy client that has done its handshake. */
export class LegacyClient {
  readonly port: number;
  readonly sessionId: string;
  readonly version: string;

  private constructor(port: number, sessionId: string, version: string) {
    this.port = port;
    this.sessionId = sessionId;
    this.version = version;
  }

  static async open(port: number, version: string = LEGACY, headers: Readonly<Record<string, string>> = {}): Promise<LegacyClient> {
    const answer = await post(port, initializeRequest(version), headers);
    const body = await answer.response();
    const sessionId = answer.headers['mcp-session-id'];
    if (typeof sessionId !== 'string') throw new Error(`No session: ${answer.status} ${JSON.stringify(body)}`);
    const client = new LegacyClient(port, sessionId, version);
    const accepted = await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
    if (accepted.status !== 202) throw new Error(`initialized: ${accepted.status}`);
    return client;
  }

  get headers(): Record<string, string> {
    return { 'mcp-session-id': this.sessionId, ...(this.version >= '2025-06-18' ? { 'mcp-protocol-version': this.version } : {}) };
  }

  post(message: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return post(this.port, message, { ...this.headers, ...headers });
  }

  tool(name: string, args: JsonObject = {}, id: string | number = nextId++): Promise<Answer> {
    return this.post({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
  }

  get(headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return send(this.port, { method: 'GET', headers: { accept: 'text/event-stream', ...this.headers, ...headers } });
  }

  delete(headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return send(this.port, { method: 'DELETE', headers: { ...this.headers, ...headers } });
  }
}
