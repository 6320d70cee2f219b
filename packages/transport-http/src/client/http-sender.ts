/**
 * How a client's HTTP requests are sent: by `fetch`, by `nodeHttpSender()` of `/node` for a sixth of the CPU, or by anything else that keeps
 * the promises below. The interface is smaller than `fetch` because MCP needs less.
 */

import { toError } from '@mortise/jsonrpc-core/transport';
import { HttpClientError } from '../errors.ts';

/** One request. */
export interface HttpCall {
  readonly method: 'POST' | 'GET' | 'DELETE';
  /** Absolute, without user name and fragment. */
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** Takes a body, piece by piece. */
export interface BodySink {
  /** Must not throw. The bytes belong to the sink from now on. */
  onChunk(chunk: Uint8Array): void;
  /** The body is over: complete, or with what went wrong. */
  onEnd(error?: Error): void;
}

/** A response whose head has come. Its body is read once, or aborted. */
export interface HttpAnswer {
  readonly status: number;
  /** The value of a header by lower-case name; undefined where there is none. */
  header(name: string): string | undefined;
  /** Begins to read the body. */
  read(sink: BodySink): void;
  /** Drops the rest of the body and closes its connection. Safe to call at any time and again. */
  abort(): void;
}

/** A request in flight. */
export interface HttpFlight {
  readonly answer: Promise<HttpAnswer>;
  /** Ends it, at whatever stage. Safe to call at any time and again. */
  abort(): void;
}

/**
 * Sends requests. Must not throw.
 *
 * H1  `answer` resolves once the head has come, whatever its status. Redirects are not followed: 3xx is an answer like others.
 * H2  `answer` rejects where no head came, and soon after `abort`.
 * H3  `onEnd` is called once, without an error only if the body is complete; after it, and after `abort`, the sink is not called.
 * H4  What is read is the content: a `Content-Encoding` is undone or refused.
 * H5  A header with a line break in its value is refused.
 */
export type HttpSender = (call: HttpCall) => HttpFlight;

/** `fetch`, or a function of the same shape. */
export type FetchLike = (url: string, init?: RequestInit) => Promise<Response>;

/**
 * Sends requests by `fetch`.
 *
 * Each has an `AbortController` of its own: a shared signal would collect a listener for every request.
 *
 * @param init More for every request, such as `credentials`. Its method, headers, body, signal and redirect mode have no effect.
 */
export function createFetchSender(fetchLike: FetchLike = platformFetch, init: RequestInit = {}): HttpSender {
  return (call) => {
    const controller = new AbortController();
    return { answer: sendByFetch(call, fetchLike, init, controller), abort: () => controller.abort() };
  };
}

/** Looked up at each call, so that a `fetch` which a program patches later is used. */
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

/** Browsers do not say where a redirect leads; a program's own `fetch` may follow one although it was told not to. */
function findRedirect(url: string, response: Response): string | undefined {
  if (response.type === 'opaqueredirect')
    return 'The server redirects, and this platform does not say where to: use the address that it leads to';
  if (!response.redirected || originOf(url) === originOf(response.url)) return undefined;
  return `The given fetch followed a redirect to another origin (${originOf(response.url)}): it must honour "redirect: 'manual'"`;
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'null';
}
