/**
 * `HttpSender`, the interface for sending a client's HTTP requests, and its implementation with `fetch`. `nodeHttpSender()` of
 * `@mortise/transport-http/node` is another one. The interface is smaller than `fetch` because MCP needs less.
 */

import { toError } from '@mortise/jsonrpc-core/transport';
import { HttpClientError } from '../errors.ts';

/** One HTTP request of a client. */
export interface HttpCall {
  readonly method: 'POST' | 'GET' | 'DELETE';
  /** The absolute URL of the request, without user name and fragment. */
  readonly url: string;
  /** The request headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** Receives the body of an HTTP response, chunk by chunk. */
export interface BodySink {
  /** Called with each chunk of the body. Must not throw. The sender must not change the bytes afterwards. */
  onChunk(chunk: Uint8Array): void;
  /** Called once at the end of the body. @param error Set if the body is incomplete. */
  onEnd(error?: Error): void;
}

/** An HTTP response whose status and headers have arrived. Call `read` once to get the body, or `abort` to discard it. */
export interface HttpAnswer {
  readonly status: number;
  /** Returns the value of the header with a lower-case name; undefined if the header is missing. */
  header(name: string): string | undefined;
  /** Starts to read the body and passes it to the sink. */
  read(sink: BodySink): void;
  /** Discards the rest of the body and closes its connection. Safe to call at any time, and repeatedly. */
  abort(): void;
}

/** An HTTP request that was sent and can be aborted. */
export interface HttpFlight {
  readonly answer: Promise<HttpAnswer>;
  /** Aborts the request at any stage. Safe to call repeatedly. */
  abort(): void;
}

/**
 * Sends a client's HTTP requests. Must not throw.
 *
 * H1  `answer` resolves when the response headers have arrived, for every status. Redirects are not followed: 3xx is a response too.
 * H2  `answer` rejects if no response headers arrive, and soon after `abort`.
 * H3  `onEnd` is called once, without an error only if the body is complete. After `onEnd` or `abort`, the sink is not called.
 * H4  The sink gets decoded content: a `Content-Encoding` is decoded or refused.
 * H5  A header with a line break in its value is refused.
 */
export type HttpSender = (call: HttpCall) => HttpFlight;

/** `fetch`, or a function of the same shape. */
export type FetchLike = (url: string, init?: RequestInit) => Promise<Response>;

/**
 * Makes an `HttpSender` that uses `fetch`.
 *
 * Each request has its own `AbortController`, because a signal shared by all requests would accumulate listeners.
 *
 * @param init More options for every request, such as `credentials`. Its method, headers, body, signal and redirect mode are ignored.
 */
export function createFetchSender(fetchLike: FetchLike = platformFetch, init: RequestInit = {}): HttpSender {
  return (call) => {
    const controller = new AbortController();
    return { answer: sendByFetch(call, fetchLike, init, controller), abort: () => controller.abort() };
  };
}

/** Calls the global `fetch`. Looks it up at each call, because a program may replace it later. */
const platformFetch: FetchLike = (url, init) => fetch(url, init);

async function sendByFetch(call: HttpCall, fetchLike: FetchLike, init: RequestInit, controller: AbortController): Promise<HttpAnswer> {
  const { method, url, headers, body } = call;
  const { signal } = controller;
  const response = await fetchLike(url, { ...init, method, headers, redirect: 'manual', signal, ...(body !== undefined && { body }) });
  const fault = findRedirect(url, response);
  if (fault === undefined) return new FetchAnswer(response, controller);
  controller.abort();
  throw new HttpClientError('ERR_HTTP_REDIRECT', fault);
}

class FetchAnswer implements HttpAnswer {
  readonly status: number;
  readonly #response: Response;
  readonly #controller: AbortController;
  #isOver = false;

  constructor(response: Response, controller: AbortController) {
    this.status = response.status;
    this.#response = response;
    this.#controller = controller;
  }

  header(name: string): string | undefined {
    return this.#response.headers.get(name) ?? undefined;
  }

  read(sink: BodySink): void {
    void this.#pump(sink);
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller.abort();
  }

  async #pump(sink: BodySink): Promise<void> {
    try {
      const reader = this.#response.body?.getReader();
      for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
        if (this.#isOver) return;
        sink.onChunk(piece.value);
      }
      this.#end(sink);
    } catch (error) {
      this.#end(sink, toError(error));
    }
  }

  #end(sink: BodySink, error?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    sink.onEnd(error);
  }
}

/**
 * Returns the error message if a redirect's target is hidden, as in browsers, or if the program's `fetch` followed it to another origin.
 */
function findRedirect(url: string, response: Response): string | undefined {
  if (response.type === 'opaqueredirect') return 'The server redirects, and this platform hides the target: use the target URL directly';
  if (!response.redirected || originOf(url) === originOf(response.url)) return undefined;
  return `The given fetch followed a redirect to another origin (${originOf(response.url)}): it must honour "redirect: 'manual'"`;
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'null';
}
