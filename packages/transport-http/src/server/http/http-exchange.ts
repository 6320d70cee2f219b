/**
 * One HTTP request and its answer, whichever face it came in by: `node:http` (`NodeExchange`) or `fetch` (`WebExchange`). Everything behind
 * the faces knows only this.
 */

import { CancelledError } from '@mortise/jsonrpc-core';
import { serializeMessage } from '@mortise/jsonrpc-core/messages';
import type { Cancellation } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, CallOrigin, Principal } from '@mortise/protocol/contracts';
import type { HttpHost } from '../http-host.ts';
import { type HeaderList, type HttpRefusal, takenBody, tooLarge } from '../refusal.ts';
import type { Accepts } from './media-types.ts';
import { BodyReader } from './read-body.ts';
import { type ByteSink, type Overflow, ResponseStream } from './response-stream.ts';

const NONE: HeaderList = [];
const JSON_HEADERS: HeaderList = ['Content-Type', 'application/json'];
const SSE_HEADERS: HeaderList = [
  'Content-Type',
  'text/event-stream',
  'Cache-Control',
  'no-cache, no-transform',
  // Proxies such as nginx would hold events back otherwise.
  'X-Accel-Buffering',
  'no',
];

export abstract class HttpExchange {
  readonly host: HttpHost;
  abstract readonly method: string;
  /** Path and query, below the path that a framework has mounted the handler on. */
  abstract readonly target: string;
  /** What stands before `target` in the URL. */
  abstract readonly mountPath: string;
  abstract readonly scheme: 'http' | 'https';
  /** The host and port that the request names, in its target or its `Host`; undefined where it names none or two. */
  abstract readonly authority: string | undefined;
  abstract readonly remoteAddress: string | undefined;
  /** Whether the request came in on a loopback socket; undefined where the platform does not say. */
  abstract readonly isLoopback: boolean | undefined;
  /** The body, where a framework in front has parsed it already. */
  readonly parsedBody: unknown;
  /** Who calls: what a framework in front has verified, or the token verifier here. */
  auth: AuthInfo | undefined;
  /** Which answers the client takes; read of a POST. */
  accepts: Accepts = { json: true, sse: true };
  #limitKey: string | undefined;
  /** Headers of whatever is answered: CORS, the session's id, a challenge. */
  #headers: HeaderList = NONE;
  #hasAnswered = false;
  #hasLeft = false;
  #stream: ResponseStream | undefined;
  #cancelled: Cancellation | undefined;

  constructor(host: HttpHost, auth: AuthInfo | undefined, parsedBody: unknown) {
    this.host = host;
    this.auth = auth;
    this.parsedBody = parsedBody;
  }

  // ---- the request

  /** The value of a header by its lower-case name; several lines joined by a comma. */
  abstract header(name: string): string | undefined;

  /** Names a header that may come once and came more often; undefined where all is well. */
  abstract findDuplicateHeader(): string | undefined;

  /** Whether somebody in front has read the body already. */
  protected abstract readonly isBodyTaken: boolean;

  /** Begins to read the body. @param length What the request says of it; undefined where it does not. */
  protected abstract feed(reader: BodyReader, length: number | undefined): void;

  /** Reads the body as text. @throws {HttpRefusal} 413, 408, 503 or 400. */
  readBody(): Promise<string> {
    const { maxBodyBytes } = this.host.settings;
    const declared = this.header('content-length');
    const length = declared === undefined ? undefined : Number(declared);
    if (length !== undefined && length > maxBodyBytes) return Promise.reject(tooLarge(maxBodyBytes).closing());
    if (this.isBodyTaken) return Promise.reject(takenBody());
    const reader = new BodyReader(this.host);
    this.feed(reader, length);
    return reader.text;
  }

  get principal(): Principal {
    return this.auth?.principal ?? 'anonymous';
  }

  /** The absolute URL that was asked for, as clients know it. */
  get url(): string {
    const { baseUrl } = this.host.settings;
    const base = baseUrl === undefined ? `${this.scheme}://${this.authority ?? 'localhost'}` : baseUrl.replace(/\/$/, '');
    return base + this.mountPath + this.target;
  }

  get origin(): CallOrigin {
    const { method, remoteAddress } = this;
    const toUrl = (): string => this.url;
    return {
      method,
      get url() {
        return toUrl();
      },
      header: (name) => this.header(name.toLowerCase()),
      ...(remoteAddress === undefined ? {} : { remoteAddress }),
    };
  }

  /** What sessions and streams are counted by. Asked for once, so that the same key is counted in and out. */
  get limitKey(): string {
    return (this.#limitKey ??= this.host.settings.limitKey({ ...this.origin, principal: this.principal }));
  }

  // ---- the answer: one of `json`, `empty`, `refuse` and `openStream`, once

  /** Sends the whole answer at once. Must do nothing once the client has left. */
  protected abstract respond(status: number, headers: HeaderList, body?: string): void;

  /** Whether a refusal can end the connection, which is then of no further use. */
  protected abstract readonly canClose: boolean;

  /** Begins an answer of unknown length. */
  protected abstract startStream(status: number, headers: HeaderList): ByteSink;

  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** Whether the client has closed the connection, or given the answer up, before it was complete. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Adds headers to whatever will be answered. */
  addHeaders(headers: HeaderList): void {
    if (headers.length > 0) this.#headers = this.#headers.length === 0 ? headers : [...this.#headers, ...headers];
  }

  /** Answers with JSON text. */
  json(status: number, text: string): void {
    this.#answer(status, JSON_HEADERS, text);
  }

  /** Answers with a status and no body. */
  empty(status: number, headers: HeaderList = NONE): void {
    this.#answer(status, headers);
  }

  /** Answers with an error status and a JSON-RPC error. @param nullId Older revisions want `null` where no id could be read. */
  refuse({ status, detail, rpcError }: HttpRefusal, nullId = false): void {
    const id = detail.id === undefined ? (nullId ? { id: null } : {}) : { id: detail.id };
    const headers = [
      ...JSON_HEADERS,
      ...(detail.headers ?? NONE),
      ...(detail.closes === true && this.canClose ? ['Connection', 'close'] : NONE),
    ];
    this.#answer(status, headers, serializeMessage({ jsonrpc: '2.0', ...id, error: rpcError }));
  }

  /** Begins an event stream. @throws {TypeError} A header of the program's that HTTP cannot carry: nothing is answered yet. */
  openStream(overflow: Overflow): ResponseStream {
    const sink = this.startStream(200, [...SSE_HEADERS, ...this.#takeHeaders()]);
    this.#hasAnswered = true;
    this.#stream = new ResponseStream(sink, this.host, { overflow, isEvents: true });
    if (this.#hasLeft) this.#stream.closed();
    return this.#stream;
  }

  /** Cancels work when the client leaves, at once if it has. Of several, the last one counts. */
  cancelOnLeave(work: Cancellation | undefined): void {
    this.#cancelled = work;
    if (this.#hasLeft) work?.cancel(new CancelledError('the client closed the connection'));
  }

  /** Called by the faces. */
  protected leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#stream?.closed();
    this.cancelOnLeave(this.#cancelled);
  }

  #answer(status: number, headers: HeaderList, body?: string): void {
    if (this.#hasAnswered) return;
    const more = this.#takeHeaders();
    this.respond(status, more.length === 0 ? headers : [...headers, ...more], body);
    this.#hasAnswered = true;
  }

  /** They are given once: the refusal in place of an answer that they made impossible must do without. */
  #takeHeaders(): HeaderList {
    const headers = this.#headers;
    this.#headers = NONE;
    return headers;
  }
}
