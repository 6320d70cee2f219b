/**
 * One HTTP request and its response, of `node:http` (`NodeExchange`) or of `fetch` (`WebExchange`). The rest of the
 * server knows only this. A modern POST is one call, so the exchange is also what its endpoint is given as `Call`.
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
import { type Accepts, BOTH, METHOD_HEADER, PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from '../../headers.ts';
import { encodeMessageEvent } from '../../sse/encode-event.ts';
import type { HandlerState } from './handler-state.ts';
import { toAuthInfo } from './authorize.ts';
import { type HeaderList, HttpRefusal, serverClosing } from './refusal.ts';
import { BodyReader, tooLarge } from './read-body.ts';
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

/** Headers that mean one thing and hold no comma: a second line could make two readers disagree. */
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
  readonly handler: HandlerState;
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
  accepts: Accepts = BOTH;
  /** The id of the JSON-RPC request in the body, once it is known: refusals name it. */
  requestId: RequestId | undefined;
  /** Set for a `subscriptions/listen`: ends it with its result, because the server closes. */
  endListen: (() => void) | undefined;
  /** An `Mcp-Param-*` header that differs from the body. */
  paramFault: ProtocolError | undefined;
  /** Whether the client closed the connection, or gave the answer up, before it was complete. */
  hasLeft = false;
  hasAnswered = false;
  #limitKey: string | undefined;
  /** Headers of whatever is answered: CORS, the session's id, a challenge. */
  #headers: HeaderList = NONE;
  #stream: ResponseStream | undefined;
  #isFinished = false;

  /** @param given What the program around it knows: the caller, in a shape that `toAuthInfo` reads, and the parsed body. */
  constructor(handler: HandlerState, { auth, parsedBody }: { readonly auth?: unknown; readonly parsedBody?: unknown }) {
    super();
    this.handler = handler;
    this.auth = auth === undefined ? undefined : toAuthInfo(auth);
    this.parsedBody = parsedBody;
  }

  // ---- the request

  /** The value of a header by its lower-case name; several lines joined by a comma. */
  abstract header(name: string): string | undefined;

  /** Names a header that may come once and came more often; undefined where all is well. */
  abstract findDuplicateHeader(): string | undefined;

  /** Begins to read the body, or refuses one that a framework has read. @param length Its `Content-Length`; NaN without one. */
  protected abstract feed(reader: BodyReader, length: number): void;

  /** Reads the body as text. Rejects with an `HttpRefusal`: 413, 408, 503 or 400. */
  readBody(): Promise<string> {
    const length = Number(this.header('content-length') ?? Number.NaN);
    return new Promise((resolve, reject) => {
      if (length > this.handler.settings.maxBodyBytes) throw tooLarge(this.handler);
      this.feed(new BodyReader(this.handler, resolve, reject), length);
    });
  }

  get principal(): Principal {
    return this.auth?.principal ?? 'anonymous';
  }

  /** The absolute URL that was asked for, as clients know it. */
  get url(): string {
    const { baseUrl } = this.handler.settings;
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
    return (this.#limitKey ??= this.handler.settings.limitKey({ ...this.origin, principal: this.principal }));
  }

  // ---- the answer: one of `json`, `empty`, `refuse` and `openStream`, once

  /** Sends the whole answer at once. Must do nothing once the client has left. @param closes The connection can not be used again. */
  protected abstract respond(status: number, headers: HeaderList, body?: string, closes?: boolean): void;

  /** Begins an answer of unknown length. */
  protected abstract startStream(status: number, headers: HeaderList): ByteSink;

  /** Adds headers to whatever will be answered. */
  addHeaders(headers: HeaderList): void {
    if (headers.length > 0) this.#headers = [...this.#headers, ...headers];
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
  refuse({ status, message, rpcCode, detail }: HttpRefusal, nullId = false): void {
    const id = this.requestId ?? (nullId ? null : undefined);
    const error = { code: rpcCode, message };
    const text = serializeMessage({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), error });
    this.#answer(status, [...JSON_HEADERS, ...(detail.headers ?? NONE)], text, detail.closes);
  }

  /** Begins an event stream. @throws {TypeError} A header of the program's that HTTP cannot carry: nothing is answered yet. */
  openStream(overflow: Overflow): ResponseStream {
    const sink = this.startStream(200, [...SSE_HEADERS, ...this.#takeHeaders()]);
    this.hasAnswered = true;
    this.#stream = new ResponseStream(sink, this.handler, { overflow, isEvents: true });
    if (this.hasLeft) this.#stream.closed();
    return this.#stream;
  }

  /** Called when the client is gone. In the modern era that cancels its call. */
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

  /** Each header is given once: where an invalid header made the answer fail, the refusal that replaces it goes without. */
  #takeHeaders(): HeaderList {
    const headers = this.#headers;
    this.#headers = NONE;
    return headers;
  }

  // ---- the call of a modern request

  /** Sends a notification, which makes the answer an event stream. Dropped where the answer must be JSON. */
  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    if ('id' in message) {
      const reason = `"${message.method}" cannot be sent: in this revision a server asks through its result`;
      return Promise.reject(new ProtocolError(INTERNAL_ERROR, reason));
    }
    const canStream = this.accepts.sse && (this.endListen !== undefined || !this.handler.settings.jsonOnly);
    if (this.isCancelled || this.#isFinished || !canStream) return resolvedPromise;
    try {
      return this.#eventStream.write(encodeMessageEvent(serializeMessage(message)));
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /** Sends the answer: as JSON, or as the end of the stream. @param status For an answer that nothing preceded. */
  finish(response: JsonRpcResponse, status: number): void {
    if (this.isCancelled) return;
    this.#isFinished = true;
    const { json } = writeResponse(response);
    if (this.#stream === undefined && this.accepts.json) this.json(status, json);
    else this.#eventStream.end(encodeMessageEvent(json));
  }

  /**
   * Ends the stream of a listen without a result, which would say that there is nothing to come back for: the client is to open it again
   * with a fresh token.
   *
   * @see 2026-07-28 basic/patterns/subscriptions#graceful-closure
   */
  expire(): void {
    if (!this.isCancelled) this.#eventStream.end();
  }

  /** The server has closed: a stream is cut, a client that was sent nothing yet is asked to come back. */
  cut(reason: Error): void {
    this.cancel(reason);
    if (this.#stream === undefined) this.refuse(serverClosing());
    else this.#stream.cut();
  }

  get #eventStream(): ResponseStream {
    if (this.#stream !== undefined) return this.#stream;
    // A listen has no sender that could wait for a slow reader: its stream is cut instead.
    const stream = this.openStream(this.endListen === undefined ? 'wait' : 'cut');
    // At once, and not with the next event of the socket: a handler that only ever sends would never let that come.
    stream.onClose(() => {
      if (!this.#isFinished) this.cancel(new CancelledError('the stream was closed'));
    });
    return stream;
  }
}

/** A framework in front has read the body: reading it again would wait forever. */
export function takenBody(): HttpRefusal {
  const message = 'The body has been read already: the program in front must pass what it held as "parsedBody"';
  return new HttpRefusal(500, message, { rpcCode: INTERNAL_ERROR });
}

/** A response beside its text. */
export interface WrittenResponse {
  readonly message: JsonRpcResponse;
  readonly json: string;
}

/** Writes a response as JSON, whatever is in it: one that JSON cannot carry is answered as an internal error, never with silence. */
export function writeResponse(response: JsonRpcResponse): WrittenResponse {
  try {
    return { message: response, json: serializeMessage(response) };
  } catch {
    const id = response.id === undefined ? {} : { id: response.id };
    const message: JsonRpcResponse = { jsonrpc: '2.0', ...id, error: { code: INTERNAL_ERROR, message: 'Internal error' } };
    return { message, json: serializeMessage(message) };
  }
}
