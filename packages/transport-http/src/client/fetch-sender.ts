/** `fetch` as an `HttpSender`. */

import { RedirectError } from '../errors.ts';
import type { BodySink, HttpAnswer, HttpCall, HttpSender } from './http-sender.ts';

/** `fetch`, or what takes its place. */
export type FetchLike = (url: string, init?: RequestInit) => Promise<Response>;

/**
 * Makes requests by `fetch`.
 *
 * Each has an `AbortController` of its own: a signal that lives long would gather a listener for every request that it was handed to.
 *
 * @param init More for every request, such as `credentials`. Its method, body and redirect mode are of no effect.
 */
export function createFetchSender(fetchLike: FetchLike = platformFetch, init: RequestInit = {}): HttpSender {
  const { headers: _headers, signal: always, ...rest } = init;
  return async ({ method, url, headers, body, signal }) => {
    const controller = new AbortController();
    const follows = new Follow(controller, signal, always ?? undefined);
    try {
      const own: RequestInit = { ...rest, method, headers, redirect: 'manual', signal: controller.signal };
      if (body !== undefined) own.body = body;
      const response = await fetchLike(url, own);
      if (response.type === 'opaqueredirect') throw new RedirectError('The server redirects, to where this platform does not say: use the address it leads to');
      if (response.redirected && !isSameOrigin(url, response.url)) {
        throw new RedirectError(`The fetch that was given follows redirects to another origin (${originOf(response.url)}): honour "redirect: 'manual'"`);
      }
      return new FetchAnswer(response, controller, follows);
    } catch (error) {
      follows.release();
      controller.abort();
      throw signal?.aborted === true ? signal.reason : error;
    }
  };
}

/** Looked up at each call, so that a `fetch` which is put in its place later counts. */
const platformFetch: FetchLike = (url, init) => fetch(url, init);

/** Aborts a controller when one of two signals aborts, until it is released. */
class Follow {
  readonly #controller: AbortController;
  readonly #signals: readonly AbortSignal[];

  constructor(controller: AbortController, ...signals: readonly (AbortSignal | undefined)[]) {
    this.#controller = controller;
    this.#signals = signals.filter((signal) => signal !== undefined);
    for (const signal of this.#signals) {
      if (signal.aborted) controller.abort(signal.reason);
      else signal.addEventListener('abort', this);
    }
  }

  handleEvent(event: Event): void {
    this.#controller.abort((event.target as AbortSignal).reason);
  }

  release(): void {
    for (const signal of this.#signals) signal.removeEventListener('abort', this);
  }
}

class FetchAnswer implements HttpAnswer {
  readonly status: number;
  readonly #response: Response;
  readonly #controller: AbortController;
  readonly #follows: Follow;
  #isOver = false;

  constructor(response: Response, controller: AbortController, follows: Follow) {
    this.status = response.status;
    this.#response = response;
    this.#controller = controller;
    this.#follows = follows;
  }

  header(name: string): string | undefined {
    return this.#response.headers.get(name) ?? undefined;
  }

  read(sink: BodySink): void {
    void this.#pump(sink);
  }

  abort(): void {
    if (this.#isOver) return;
    this.#finish();
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
    this.#finish();
    sink.onEnd(error);
  }

  #finish(): void {
    this.#isOver = true;
    this.#follows.release();
  }
}

function isSameOrigin(url: string, other: string): boolean {
  return originOf(url) === originOf(other);
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'null';
}
