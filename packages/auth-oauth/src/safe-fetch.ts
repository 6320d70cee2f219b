/**
 * Fetches what peers point at: each URL and each redirect is judged first, bodies and time are bounded, credentials follow no redirect.
 *
 * By spelling alone where `fetch` is the platform's; `checkedFetch` of `/node` also judges the address that a name resolves to.
 */

import { type Clock, isMortiseError, TimeoutError } from '@mortise/jsonrpc-core';
import { abortable, withTimeout } from '@mortise/jsonrpc-core/connection';
import { checkUrl, readBytes, type UrlPolicy } from '@mortise/protocol/edge';
import { AuthNetworkError, AuthTimeoutError, DocumentTooLargeError, RedirectRefusedError, UnsafeUrlError } from './errors.ts';

/** `fetch`, or what takes its place. Redirects are never left to it. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/** How peers' URLs are fetched. */
export interface SafeFetchOptions {
  /** What is allowed beyond https to public hosts. @default nothing */
  readonly urls?: UrlPolicy | undefined;
  /** Makes the requests, one for each redirect. @default the platform's */
  readonly fetch?: FetchLike | undefined;
  /** How long one request may take with its redirects and its body, in milliseconds. @default 10_000 */
  readonly timeoutMs?: number | undefined;
  /** How many bytes a body may have, after decompression. @default 1_048_576 */
  readonly maxBytes?: number | undefined;
  /** How many redirects are followed. @default 3, for requests without credentials */
  readonly maxRedirects?: number | undefined;
  /** Runs the timer of `timeoutMs`. @default the system's */
  readonly clock?: Clock | undefined;
}

/** One request to a peer. */
export interface SafeRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What was answered, read to its end. */
export interface SafeResponse {
  readonly status: number;
  /** Where it came from after redirects. */
  readonly url: string;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Fetches one URL. A POST follows no redirect.
 *
 * @throws {UnsafeUrlError} {RedirectRefusedError} {DocumentTooLargeError} {AuthTimeoutError} {AuthNetworkError}, and the reason of an abort.
 */
export type SafeFetch = (url: string, request?: SafeRequest) => Promise<SafeResponse>;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Makes a `SafeFetch`. */
export function createSafeFetch(options: SafeFetchOptions = {}): SafeFetch {
  const { urls = {}, fetch: fetchLike = platformFetch, timeoutMs = 10_000, maxBytes = 1_048_576, maxRedirects = 3, clock } = options;

  async function follow(first: string, request: SafeRequest, signal: AbortSignal): Promise<SafeResponse> {
    const { method = 'GET', headers = {}, body } = request;
    const init: RequestInit = { method, headers, redirect: 'manual', credentials: 'omit', signal };
    let url = first;
    for (let count = 0; ; count++) {
      assertSafeUrl(url, urls);
      const response = await fetchLike(url, body === undefined ? init : { ...init, body });
      if (response.status > 599) {
        await response.body?.cancel();
        throw new AuthNetworkError(`${nameUrl(url)} answered with ${response.status}, which is no status of HTTP`);
      }
      const next = findRedirect(url, response);
      if (next === undefined)
        return { status: response.status, url, headers: response.headers, text: await readText(url, response, maxBytes) };
      await response.body?.cancel();
      if (method !== 'GET')
        throw new RedirectRefusedError(`POST ${nameUrl(url)} was redirected: requests with credentials follow no redirect`);
      if (count >= maxRedirects) throw new RedirectRefusedError(`GET ${nameUrl(first)} was redirected more than ${maxRedirects} times`);
      url = next;
    }
  }

  return async (url, request = {}) => {
    const limit = withTimeout(timeoutMs, request.signal, clock);
    try {
      limit.signal.throwIfAborted();
      // Not every fetch that a program gives listens to its signal.
      return await abortable(follow(url, request, limit.signal), limit.signal);
    } catch (error) {
      throw toNamedError(error, url, limit.signal);
    } finally {
      limit.dispose();
    }
  };
}

/**
 * Judges a URL that a peer gave.
 *
 * @param what What it is called in the error.
 * @throws {UnsafeUrlError} It must not be used.
 */
export function assertSafeUrl(url: string | URL, policy: UrlPolicy | undefined, what = 'URL'): void {
  const why = checkUrl(url, policy);
  if (why !== undefined) throw new UnsafeUrlError(what === 'URL' ? why : `The ${what} is refused: ${why}`);
}

/** What a URL is called in errors: without the query, which may hold secrets. */
export function nameUrl(url: string | URL): string {
  if (!URL.canParse(String(url))) return 'a URL that cannot be read';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.slice(0, 300);
}

const platformFetch: FetchLike = (url, init) => fetch(url, init);

/** @throws {RedirectRefusedError} A browser hides where it leads, or it leads nowhere. */
function findRedirect(url: string, response: Response): string | undefined {
  if (response.type === 'opaqueredirect') throw new RedirectRefusedError(`${nameUrl(url)} redirects, and this platform hides where to`);
  if (!REDIRECTS.has(response.status)) return undefined;
  const location = response.headers.get('location');
  if (location === null || !URL.canParse(location, url)) throw new RedirectRefusedError(`${nameUrl(url)} redirects to no address`);
  return new URL(location, url).href;
}

async function readText(url: string, response: Response, maxBytes: number): Promise<string> {
  const bytes = await readBytes(response.body, maxBytes);
  if (bytes) return new TextDecoder().decode(bytes);
  throw new DocumentTooLargeError(`${nameUrl(url)} sent more than ${maxBytes} bytes: the rest was not read`);
}

function toNamedError(error: unknown, url: string, signal: AbortSignal): unknown {
  if (signal.aborted) {
    const reason: unknown = signal.reason;
    if (!(reason instanceof TimeoutError)) return reason;
    return new AuthTimeoutError(`${nameUrl(url)} did not answer within ${reason.timeoutMs} ms`, { cause: reason });
  }
  if (isMortiseError(error)) return error;
  return new AuthNetworkError(`${nameUrl(url)} was not answered: ${reasonOf(error)}`, { cause: error });
}

/** The innermost reason: `fetch` hides it as a cause of causes. */
function reasonOf(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < 5 && inner instanceof Error && inner.cause instanceof Error; depth++) inner = inner.cause;
  if (!(inner instanceof Error)) return 'unknown reason';
  const { code } = inner as { readonly code?: unknown };
  return inner.message !== '' ? inner.message : typeof code === 'string' ? code : inner.name;
}
