/** `fetch` as an `HttpSender`. */

import { RedirectError } from '../errors.ts';
import type { BodySink, HttpAnswer, HttpCall, HttpFlight, HttpSender } from './http-sender.ts';

/** `fetch`, or what takes its place. */
export type FetchLike = (url: string, init?: RequestInit) => Promise<Response>;

/**
 * Sends requests by `fetch`.
 *
 * Each has an `AbortController` of its own: a signal that lives long would gather a listener for every request that it was handed to.
 *
 * @param init More for every request, such as `credentials`. Its method, headers, body, signal and redirect mode have no effect.
 */
export function createFetchSender(fetchLike: FetchLike = platformFetch, init: RequestInit = {}): HttpSender {
  return (call) => new FetchFlight(call, fetchLike, init);
}

/** Looked up at each call, so that a `fetch` which is put in its place later counts. */
const platformFetch: FetchLike = (url, init) => fetch(url, init);

class FetchFlight implements HttpFlight {
  readonly answer: Promise<HttpAnswer>;
  readonly #controller = new AbortController();

  constructor(call: HttpCall, fetchLike: FetchLike, init: RequestInit) {
    this.answer = this.#fetch(call, fetchLike, init);
  }

  abort(): void {
    this.#controller.abort();
  }

  async #fetch({ method, url, headers, body }: HttpCall, fetchLike: FetchLike, init: RequestInit): Promise<HttpAnswer> {
    const { signal } = this.#controller;
    const response = await fetchLike(url, { ...init, method, headers, redirect: 'manual', signal, ...(body !== undefined && { body }) });
    try {
      assertNotRedirected(url, response);
    } catch (error) {
      this.abort();
      throw error;
    }
    return new FetchAnswer(response, this.#controller);
  }
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
      this.#end(sink, error instanceof Error ? error : new Error('The body could not be read', { cause: error }));
    }
  }

  #end(sink: BodySink, error?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    sink.onEnd(error);
  }
}

/** A browser does not say where a redirect leads; a `fetch` of one's own may follow it although it was told not to. */
function assertNotRedirected(url: string, response: Response): void {
  if (response.type === 'opaqueredirect') {
    throw new RedirectError('The server redirects, to where this platform does not say: use the address that it leads to');
  }
  if (!response.redirected || originOf(url) === originOf(response.url)) return;
  throw new RedirectError(
    `The given fetch followed a redirect to another origin (${originOf(response.url)}): it must honour "redirect: 'manual'"`,
  );
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'null';
}
