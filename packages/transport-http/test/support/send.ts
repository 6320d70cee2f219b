/** Speaks HTTP as bare as possible, so that tests see what is on the wire. */

import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { SseDecoder, type SseEvent } from '@mortise/transport-http';

export const ACCEPT = 'application/json, text/event-stream';

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

let lastId = 0;

/** An id that no other request has. */
export function newId(): number {
  return ++lastId;
}
