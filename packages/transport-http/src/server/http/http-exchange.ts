/**
 * One HTTP request and its response, on `node:http` (`NodeExchange`) or `fetch` (`WebExchange`). A modern POST is one JSON-RPC request, so
 * the exchange is also the `Call` that the endpoint gets.
 */

import {
  CancelledError,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  ProtocolError,
  type RequestId,
} from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, serializeMessage, toErrorResponse } from '@mortise/jsonrpc-core/messages';
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

/** The headers that a request may have only once: of a repeated header, a proxy and the server could use different values. */
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
  /** The path and query of the URL, relative to the path at which a framework has mounted the handler. */
  abstract readonly target: string;
  /** The start of the URL's path, which `target` leaves out: where a framework has mounted the handler. Else empty. */
  abstract readonly mountPath: string;
  abstract readonly scheme: 'http' | 'https';
  /** The host and port, from the request target or the header `Host`; undefined if missing or ambiguous. */
  abstract readonly authority: string | undefined;
  abstract readonly remoteAddress: string | undefined;
  /** Whether the request arrived on a loopback socket; undefined if unknown. */
  abstract readonly isLoopback: boolean | undefined;
  /** `Access-Control-Allow-Origin`, if a middleware of the program has set it for the response; undefined if not. */
  abstract readonly givenOrigin: string | undefined;
  /** The body, if a framework has already parsed it. */
  readonly parsedBody: unknown;
  /** The authenticated caller, verified by a framework or by the token verifier. */
  auth: AuthInfo | undefined;
  /** Whether the client accepts JSON and event streams. Set for a POST. */
  accepts: Accepts = BOTH;
  /** The id of the JSON-RPC request in the body, once it is read. Error responses contain it. */
  requestId: RequestId | undefined;
  /** Set for a `subscriptions/listen`. Ends the request with its result; called when the server closes. */
  endListen: (() => void) | undefined;
  /** Set if an `Mcp-Param-*` header differs from the argument in the body: the error to respond with. */
  paramFault: ProtocolError | undefined;
  /** Whether the client closed the connection or cancelled the response before it was complete. */
  hasLeft = false;
  hasAnswered = false;
  #limitKey: string | undefined;
  /** Headers to add to whatever response follows: CORS, the session's id, a challenge. */
  #headers: HeaderList = NONE;
  #stream: ResponseStream | undefined;
  #isFinished = false;

  /** @param given The authenticated caller, in a shape that `toAuthInfo` reads, and the parsed body. */
  constructor(shared: SharedState, { auth, parsedBody }: { readonly auth?: unknown; readonly parsedBody?: unknown }) {
    super();
    this.shared = shared;
    this.auth = auth === undefined ? undefined : toAuthInfo(auth);
    this.parsedBody = parsedBody;
  }

  // ---- the request

  /** Returns the value of the header with a lower-case name. Repeated headers are joined by a comma. */
  abstract header(name: string): string | undefined;

  /** Returns the name of a repeated header that may come only once; undefined if there is none. */
  abstract findDuplicateHeader(): string | undefined;

  /** Passes the request body to the reader, or refuses if a framework has read it. */
  protected abstract feed(reader: BodyReader): void;

  /** Reads the request body as text. Rejects with an `HttpRefusal`: status 413, 408, 503 or 400. */
  readBody(): Promise<string> {
    return new Promise((resolve, reject) => {
      if (Number(this.header('content-length')) > this.shared.settings.maxBodyBytes) throw tooLarge(this.shared);
      this.feed(new BodyReader(this.shared, resolve, reject));
    });
  }

  get principal(): Principal {
    return this.auth?.principal ?? 'anonymous';
  }

  /** The absolute URL of the request, as clients see it. It begins with the option `baseUrl`, if that is set. */
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

  /** The key by which the sessions and streams of this caller are limited. Computed once, so that counting up and down use the same key. */
  get limitKey(): string {
    return (this.#limitKey ??= this.shared.settings.limitKey({ ...this.origin, principal: this.principal }));
  }

  // ---- the HTTP response: call one of `json`, `empty`, `refuse` and `openStream`, once

  /** Sends a complete response. Must do nothing if the client has left. @param closes Whether the connection must close afterwards. */
  protected abstract respond(status: number, headers: HeaderList, body?: string, closes?: boolean): void;

  /** Starts a response whose body is written in pieces. */
  protected abstract startStream(status: number, headers: HeaderList): ByteSink;

  /** Adds headers to whatever response follows. */
  addHeaders(headers: HeaderList): void {
    if (headers.length > 0) this.#headers = [...this.#headers, ...headers];
  }

  /** Responds with a JSON body. */
  json(status: number, text: string): void {
    this.#answer(status, JSON_HEADERS, text);
  }

  /** Responds without a body. */
  empty(status: number, headers: HeaderList = NONE): void {
    this.#answer(status, headers);
  }

  /** Responds with an error status and a JSON-RPC error. @param nullId Whether to send `id: null` if no id could be read. */
  refuse({ status, message, rpcCode, detail }: HttpRefusal, nullId = false): void {
    const text = serializeMessage(toErrorResponse({ code: rpcCode, message }, this.requestId ?? (nullId ? null : undefined)));
    this.#answer(status, [...JSON_HEADERS, ...(detail.headers ?? NONE)], text, detail.closes);
  }

  /** Starts an event stream as the response. @throws {TypeError} A header that the program set is invalid; nothing was sent. */
  openStream(overflow: Overflow): ResponseStream {
    const sink = this.startStream(200, [...SSE_HEADERS, ...this.#takeHeaders()]);
    this.hasAnswered = true;
    this.#stream = new ResponseStream(sink, this.shared, { overflow, isEvents: true });
    if (this.hasLeft) this.#stream.cut();
    return this.#stream;
  }

  /** Called when the client has closed the connection. In the modern era that cancels its request. */
  protected leave(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.#stream?.cut();
    this.cancel(new CancelledError('the client closed the connection'));
  }

  #answer(status: number, headers: HeaderList, body?: string, closes?: boolean): void {
    if (this.hasAnswered) return;
    this.respond(status, this.#headers === NONE ? headers : [...headers, ...this.#takeHeaders()], body, closes);
    this.hasAnswered = true;
  }

  /** Returns the added headers, and forgets them: if one is invalid, the response fails, and the error response is sent without them. */
  #takeHeaders(): HeaderList {
    const headers = this.#headers;
    this.#headers = NONE;
    return headers;
  }

  // ---- `Call` of a modern request

  /** Sends a notification to the client, which turns the response into an event stream. Drops it if the response must be JSON. */
  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    if ('id' in message) {
      const reason = `"${message.method}" cannot be sent: in this revision a server returns an "input_required" result instead`;
      return Promise.reject(new ProtocolError(INTERNAL_ERROR, reason));
    }
    const canStream = this.accepts.sse && (this.endListen !== undefined || !this.shared.settings.jsonOnly);
    if (this.isCancelled || this.#isFinished) return resolvedPromise;
    if (!canStream) {
      if (this.shared.settings.jsonOnly) this.shared.warnOfJsonOnly(message.method);
      return resolvedPromise;
    }
    try {
      return this.#eventStream.write(encodeMessageEvent(serializeMessage(message)));
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /** Sends the JSON-RPC response, as a JSON body or as the last event of the stream. @param status The HTTP status of a JSON body. */
  finish(response: JsonRpcResponse, status: number): void {
    if (this.isCancelled) return;
    this.#isFinished = true;
    const { json } = writeResponse(response);
    if (this.#stream === undefined && this.accepts.json) this.json(status, json);
    else this.#eventStream.end(encodeMessageEvent(json));
  }

  /**
   * Ends the stream of a `subscriptions/listen` because its token has expired. Sends no result, which would mean that the subscription has
   * ended: the client opens the stream again with a new token.
   *
   * @see 2026-07-28 basic/patterns/subscriptions#graceful-closure
   */
  expire(): void {
    if (!this.isCancelled) this.#eventStream.end();
  }

  /** Ends the request because the server has closed: aborts a stream that has started, or responds with status 503. */
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
      if (!this.#isFinished) this.cancel(new CancelledError('the event stream of the response was closed'));
    });
    return stream;
  }
}

/** Makes the error response for a body that a framework has already read. Trying to read it again would wait forever. */
export function takenBody(): HttpRefusal {
  const message = 'The request body was already read: pass the parsed body as "parsedBody"';
  return new HttpRefusal(500, message, { rpcCode: INTERNAL_ERROR });
}

/** A JSON-RPC response together with its JSON text. */
export interface WrittenResponse {
  readonly message: JsonRpcResponse;
  readonly json: string;
}

/** Converts a JSON-RPC response to JSON text. A response that cannot be converted is replaced by an internal error. */
export function writeResponse(response: JsonRpcResponse): WrittenResponse {
  try {
    return { message: response, json: serializeMessage(response) };
  } catch {
    const id = response.id === undefined ? {} : { id: response.id };
    const message: JsonRpcResponse = { jsonrpc: '2.0', ...id, error: { code: INTERNAL_ERROR, message: 'Internal error' } };
    return { message, json: serializeMessage(message) };
  }
}
