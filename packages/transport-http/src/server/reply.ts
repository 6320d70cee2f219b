/** Answers one HTTP request in MCP's ways: one JSON body, nothing but a status, a refusal, or an event stream. */

import { serializeMessage } from '@mortise/jsonrpc-core/messages';
import type { ByteSink, HeaderList, HttpSink, LeaveListener } from './http-request.ts';
import type { HttpRefusal } from './refusal.ts';
import { type Overflow, SseStream, type StreamPulse } from './sse-stream.ts';

const NONE: HeaderList = [];
const JSON_HEADERS: HeaderList = ['Content-Type', 'application/json'];
const SSE_HEADERS: HeaderList = [
  'Content-Type',
  'text/event-stream',
  'Cache-Control',
  'no-cache, no-transform',
  // Proxies such as nginx would keep events back otherwise.
  'X-Accel-Buffering',
  'no',
];

export class Reply implements LeaveListener {
  readonly #sink: HttpSink;
  readonly #pulse: StreamPulse;
  /** Headers of every answer to this request: CORS. */
  #headers: HeaderList;
  #hasAnswered = false;
  #stream: SseStream | undefined;
  #leaver: LeaveListener | undefined;

  constructor(sink: HttpSink, pulse: StreamPulse) {
    this.#sink = sink;
    this.#pulse = pulse;
    this.#headers = NONE;
    sink.leaver = this;
  }

  /** Told by the face. */
  onLeave(): void {
    this.#stream?.closed();
    this.#leaver?.onLeave();
  }

  get hasLeft(): boolean {
    return this.#sink.hasLeft;
  }

  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** Told when the client leaves before its answer is complete; at once if it has. */
  set leaver(leaver: LeaveListener | undefined) {
    this.#leaver = leaver;
    if (this.#sink.hasLeft) leaver?.onLeave();
  }

  /** Adds headers to whatever will be answered. */
  addHeaders(headers: HeaderList): void {
    if (headers.length > 0) this.#headers = this.#headers.length === 0 ? headers : [...this.#headers, ...headers];
  }

  /** Answers with JSON text. */
  json(status: number, text: string): void {
    this.#respond(status, JSON_HEADERS, text);
  }

  /** Answers with a status and no body. */
  empty(status: number, headers: HeaderList = []): void {
    this.#respond(status, headers);
  }

  /** Answers with an error status and a JSON-RPC error; without an id where none could be read. @param nullId Older revisions want `null`. */
  refuse(refusal: HttpRefusal, nullId = false): void {
    const { detail, status, rpcError } = refusal;
    const id = detail.id === undefined ? (nullId ? { id: null } : {}) : { id: detail.id };
    const close = detail.closes === true ? ['Connection', 'close'] : [];
    this.#respond(
      status,
      [...JSON_HEADERS, ...(detail.headers ?? []), ...close],
      serializeMessage({ jsonrpc: '2.0', ...id, error: rpcError }),
    );
  }

  /** Begins an event stream. @throws {TypeError} A header of the program's that HTTP cannot carry: nothing is answered yet. */
  openStream(overflow: Overflow): SseStream {
    const bytes: ByteSink = this.#sink.stream(200, [...SSE_HEADERS, ...this.#takeHeaders()]);
    this.#hasAnswered = true;
    this.#stream = new SseStream(bytes, this.#pulse, overflow);
    if (this.#sink.hasLeft) this.#stream.closed();
    return this.#stream;
  }

  /** @throws {TypeError} As `openStream`. */
  #respond(status: number, headers: HeaderList, body?: string): void {
    if (this.#hasAnswered) return;
    const more = this.#takeHeaders();
    this.#sink.respond(status, more.length === 0 ? headers : [...headers, ...more], body);
    this.#hasAnswered = true;
  }

  /** They are given once: an answer in place of one that they made impossible must do without. */
  #takeHeaders(): HeaderList {
    const headers = this.#headers;
    this.#headers = NONE;
    return headers;
  }
}
