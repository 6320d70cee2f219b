/**
 * One HTTP request and its response, on `node:http` (`NodeExchange`) or `fetch` (`WebExchange`). A modern POST is one call, so the exchange
 * is also the `Call` that the endpoint gets.
 */

import {
  CancelledError,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  ProtocolError,
  type RequestId,
} from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, serializeMessage } from '@mortise/jsonrpc-core/messages';
import { Cancellation, resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, Call, CallOrigin, Principal } from '@mortise/protocol/contracts';
import { type Accepts, BOTH, JSON_TYPE, METHOD_HEADER, PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER, SSE_TYPE } from '../../headers.ts';
import { encodeMessageEvent } from '../../sse/encode-event.ts';
import type { SharedState } from './shared-state.ts';
import { toAuthInfo } from './authorize.ts';
import { type HeaderList, HttpRefusal, serverClosing } from './refusal.ts';
import { BodyReader, tooLarge } from './read-body.ts';
import { type ByteSink, type Overflow, ResponseStream } from './response-stream.ts';

const NONE: HeaderList = [];
const JSON_HEADERS: HeaderList = ['Content-Type', JSON_TYPE];
const SSE_HEADERS: HeaderList = [
  'Content-Type',
  SSE_TYPE,
  'Cache-Control',
  'no-cache, no-transform',
  // Proxies such as nginx would otherwise buffer events.
  'X-Accel-Buffering',
  'no',
];

/** Headers with a single value. If one is repeated, two readers could use different values. */
export const SINGLE_HEADERS: readonly string[] = [
  'host',
  'origin',
  'authorization',
  'content-encoding',
  'last-event-id',
  SESSION_ID_HEADER,
  PROTOCOL_VERSION_HEADER,
  METHOD_HEADER,
];

export abstract class HttpExchange extends Cancellation implements Call {
  readonly shared: SharedState;
  abstract readonly method: string;
  /** Path and query, without the path that a framework has mounted the handler on. */
  abstract readonly target: string;
  /** The part of the URL path before `target`. */
  abstract readonly mountPath: string;
  abstract readonly scheme: 'http' | 'https';
  /** The host and port of the request's target or `Host`; undefined if missing or ambiguous. */
  abstract readonly authority: string | undefined;
  abstract readonly remoteAddress: string | undefined;
  /** Whether the request arrived on a loopback socket; undefined if unknown. */
  abstract readonly isLoopback: boolean | undefined;
  /** The body, if a framework has already parsed it. */
  readonly parsedBody: unknown;
  /** The caller, verified by a framework or by the token verifier. */
  auth: AuthInfo | undefined;
  /** The media types of the response that the client accepts. Set for a POST. */
  accepts: Accepts = BOTH;
  /** The id of the JSON-RPC request in the body, once read. Refusals contain it. */
  requestId: RequestId | undefined;
  /** Set for a `subscriptions/listen`: ends the request with its result when the server closes. */
  endListen: (() => void) | undefined;
  /** An `Mcp-Param-*` header that differs from the body. */
  paramFault: ProtocolError | undefined;
  /** Whether the client closed the connection or cancelled the response before it was complete. */
  hasLeft = false;
  hasAnswered = false;
  #limitKey: string | undefined;
  /** Headers for any response: CORS, the session's id, a challenge. */
  #headers: HeaderList = NONE;
  #stream: ResponseStream | undefined;
  #isFinished = false;

  /** @param given The caller, in a shape that `toAuthInfo` reads, and the parsed body. */
  constructor(shared: SharedState, { auth, parsedBody }: { readonly auth?: unknown; readonly parsedBody?: unknown }) {
    super();
    this.shared = shared;
    this.auth = auth === undefined ? undefined : toAuthInfo(auth);
    this.parsedBody = parsedBody;
  }

  // ---- the request

  /** The value of a header by lower-case name. Repeated headers are joined by a comma. */
  abstract header(name: string): string | undefined;

  /** The name of a header that is repeated but must not be; undefined if there is none. */
  abstract findDuplicateHeader(): string | undefined;

  /** Starts to read the body, or refuses if a framework has read it. @param length The `Content-Length`; NaN if missing. */
  protected abstract feed(reader: BodyReader, length: number): void;

  /** Reads the body as text. Rejects with an `HttpRefusal`: 413, 408, 503 or 400. */
  readBody(): Promise<string> {
    const length = Number(this.header('content-length') ?? Number.NaN);
    return new Promise((resolve, reject) => {
      if (length > this.shared.settings.maxBodyBytes) throw tooLarge(this.shared);
      this.feed(new BodyReader(this.shared, resolve, reject), length);
    });
  }

  get principal(): Principal {
    return this.auth?.principal ?? 'anonymous';
  }

  /** The absolute URL of the request, as clients see it. */
  get url(): string {
    const { baseUrl } = this.shared.settings;
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

  /** The key for limits of sessions and streams. Computed once, so that both count changes use the same key. */
  get limitKey(): string {
    return (this.#limitKey ??= this.shared.settings.limitKey({ ...this.origin, principal: this.principal }));
  }

  // ---- the HTTP response: call one of `json`, `empty`, `refuse` and `openStream`, once

  /** Sends the whole response. Must do nothing if the client has left. @param closes The connection cannot be used again. */
  protected abstract respond(status: number, headers: HeaderList, body?: string, closes?: boolean): void;

  /** Starts a response of unknown length. */
  protected abstract startStream(status: number, headers: HeaderList): ByteSink;

  /** Adds headers to the response. */
  addHeaders(headers: HeaderList): void {
    if (headers.length > 0) this.#headers = [...this.#headers, ...headers];
  }

  /** Responds with JSON text. */
  json(status: number, text: string): void {
    this.#answer(status, JSON_HEADERS, text);
  }

  /** Responds without a body. */
  empty(status: number, headers: HeaderList = NONE): void {
    this.#answer(status, headers);
  }

  /** Responds with an error status and a JSON-RPC error. @param nullId Older revisions need `id: null` if no id could be read. */
  refuse({ status, message, rpcCode, detail }: HttpRefusal, nullId = false): void {
    const id = this.requestId ?? (nullId ? null : undefined);
    const error = { code: rpcCode, message };
    const text = serializeMessage({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), error });
    this.#answer(status, [...JSON_HEADERS, ...(detail.headers ?? NONE)], text, detail.closes);
  }

  /** Starts an event stream. @throws {TypeError} A header of the program is invalid; nothing was sent. */
  openStream(overflow: Overflow): ResponseStream {
    const sink = this.startStream(200, [...SSE_HEADERS, ...this.#takeHeaders()]);
    this.hasAnswered = true;
    this.#stream = new ResponseStream(sink, this.shared, { overflow, isEvents: true });
    if (this.hasLeft) this.#stream.closed();
    return this.#stream;
  }

  /** Called when the client has left. In the modern era that cancels its request. */
  protected leave(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.#stream?.closed();
    this.cancel(new CancelledError('the client closed the connection'));
  }

  #answer(status: number, headers: HeaderList, body?: string, closes?: boolean): void {
    if (this.hasAnswered) return;
    this.respond(status, this.#headers === NONE ? headers : [...headers, ...this.#takeHeaders()], body, closes);
    this.hasAnswered = true;
  }

  /** Returns the added headers once. If an invalid one made the response fail, the refusal is sent without them. */
  #takeHeaders(): HeaderList {
    const headers = this.#headers;
    this.#headers = NONE;
    return headers;
  }

  // ---- `Call` of a modern request

  /** Sends a notification, which makes the response an event stream. Drops it if the response must be JSON. */
  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    if ('id' in message) {
      const reason = `"${message.method}" cannot be sent: in this revision a server asks through its result`;
      return Promise.reject(new ProtocolError(INTERNAL_ERROR, reason));
    }
    const canStream = this.accepts.sse && (this.endListen !== undefined || !this.shared.settings.jsonOnly);
    if (this.isCancelled || this.#isFinished || !canStream) return resolvedPromise;
    try {
      return this.#eventStream.write(encodeMessageEvent(serializeMessage(message)));
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /** Sends the response: as JSON, or as the last event of the stream. @param status The HTTP status, if no stream has started. */
  finish(response: JsonRpcResponse, status: number): void {
    if (this.isCancelled) return;
    this.#isFinished = true;
    const { json } = writeResponse(response);
    if (this.#stream === undefined && this.accepts.json) this.json(status, json);
    else this.#eventStream.end(encodeMessageEvent(json));
  }

  /**
   * Ends the stream of a `subscriptions/listen` without a result, so that the client opens it again with a new token. A result would mean
   * that the subscription has ended.
   *
   * @see 2026-07-28 basic/patterns/subscriptions#graceful-closure
   */
  expire(): void {
    if (!this.isCancelled) this.#eventStream.end();
  }

  /** Ends the request because the server has closed: aborts a started stream, or responds with 503. */
  cut(reason: Error): void {
    this.cancel(reason);
    if (this.#stream === undefined) this.refuse(serverClosing());
    else this.#stream.cut();
  }

  get #eventStream(): ResponseStream {
    if (this.#stream !== undefined) return this.#stream;
    // The senders of listen events cannot wait for a slow reader, so the stream is aborted instead.
    const stream = this.openStream(this.endListen === undefined ? 'wait' : 'cut');
    // Cancels here, not at the next socket event, which a handler that sends without pause would prevent.
    stream.onClose(() => {
      if (!this.#isFinished) this.cancel(new CancelledError('the stream was closed'));
    });
    return stream;
  }
}

/** The refusal for a body that a framework has already read: reading it again would wait forever. */
export function takenBody(): HttpRefusal {
  const message = 'The request body was already read: pass the parsed body as "parsedBody"';
  return new HttpRefusal(500, message, { rpcCode: INTERNAL_ERROR });
}

/** A response and its JSON text. */
export interface WrittenResponse {
  readonly message: JsonRpcResponse;
  readonly json: string;
}

/** Converts a response to JSON. A response that cannot be converted is replaced by an internal error. */
export function writeResponse(response: JsonRpcResponse): WrittenResponse {
  try {
    return { message: response, json: serializeMessage(response) };
  } catch {
    const id = response.id === undefined ? {} : { id: response.id };
    const message: JsonRpcResponse = { jsonrpc: '2.0', ...id, error: { code: INTERNAL_ERROR, message: 'Internal error' } };
    return { message, json: serializeMessage(message) };
  }
}
