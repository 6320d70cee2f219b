/**
 * Fetches what peers point at: each URL and each redirect is judged first, bodies and time are bounded, credentials follow no redirect.
 *
 * By spelling alone where `fetch` is the platform's; `checkedFetch` of `/node` also judges the address that a name resolves to.
 */

import { type Clock, isMortiseError, TimeoutError } from '@mortise/jsonrpc-core';
import { abortable, withTimeout } from '@mortise/jsonrpc-core/connection';
import { checkUrl, isLoopbackHost, readBytes, type UrlPolicy } from '@mortise/protocol/edge';
import { AuthError } from './errors.ts';

/** `fetch`, or what takes its place. Redirects are never left to it. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/** How peers' URLs are fetched. */
interface PeerRules {
  /** What is allowed beyond https to public hosts. */
  readonly urls: UrlPolicy;
  /** Makes the requests, one for each redirect. @default the platform's */
  readonly fetch: FetchLike | undefined;
  /** How long one request may take with its redirects and its body. @default 10_000 */
  readonly timeoutMs?: number | undefined;
  /** Runs the timer. @default the system's */
  readonly clock?: Clock | undefined;
  /** How many redirects a GET may follow. @default 3 */
  readonly maxRedirects?: number;
}

/** A request to a peer, as `oauth4webapi` and `jose` make them too. */
interface PeerRequest {
  readonly method?: string;
  readonly headers?: Headers | Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Fetches one URL, and gives its answer once all of it was read. A POST follows no redirect.
 *
 * @throws {AuthError} `ERR_UNSAFE_URL`, `ERR_REDIRECT_REFUSED`, `ERR_DOCUMENT_TOO_LARGE`, `ERR_AUTH_TIMEOUT`, `ERR_AUTH_NETWORK`; and the
 * reason of an abort.
 */
export type SafeFetch = (url: string, request: PeerRequest) => Promise<Response>;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_BYTES = 1_048_576;

/** Makes a `SafeFetch`. */
export function createSafeFetch({
  urls,
  fetch: fetchLike = platformFetch,
  timeoutMs = 10_000,
  clock,
  maxRedirects = 3,
}: PeerRules): SafeFetch {
  async function follow(first: string, { method = 'GET', headers, body }: PeerRequest, signal: AbortSignal): Promise<Response> {
    const init: RequestInit = {
      method,
      headers: Object.fromEntries(new Headers(headers as Record<string, string>)),
      body: body === undefined || body === null ? null : String(body),
      redirect: 'manual',
      credentials: 'omit',
      signal,
    };
    let url = first;
    for (let count = 0; ; count++) {
      assertSafeUrl(url, urls);
      const response = await fetchLike(url, init);
      const next = findRedirect(url, response);
      if (next === undefined) return await readAnswer(url, response);
      await response.body?.cancel();
      if (method !== 'GET')
        throw new AuthError('ERR_REDIRECT_REFUSED', `POST ${nameUrl(url)} was redirected: requests with credentials follow no redirect`);
      if (count >= maxRedirects)
        throw new AuthError('ERR_REDIRECT_REFUSED', `GET ${nameUrl(first)} was redirected more than ${maxRedirects} times`);
      url = next;
    }
  }

  return async (url, request) => {
    const limit = withTimeout(timeoutMs, request.signal, clock);
    try {
      limit.signal.throwIfAborted();
      // Not every fetch that a program gives listens to its signal.
      return await abortable(follow(url, request, limit.signal), limit.signal);
    } catch (error) {
      throw toAuthError(error, url, limit.signal);
    } finally {
      limit.dispose();
    }
  };
}

/** For an issuer that the program named itself: its host may be private; only what crosses a network must be https. */
export function createIssuerFetch(url: string, fetch: FetchLike | undefined): SafeFetch {
  const allowLoopback = URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
  return createSafeFetch({ urls: { allowPrivate: true, allowLoopback }, fetch, timeoutMs: 5_000, maxRedirects: 0 });
}

/**
 * Judges a URL that a peer gave.
 *
 * @param what Its name in the error.
 * @throws {AuthError} `ERR_UNSAFE_URL`: it must not be used.
 */
export function assertSafeUrl(url: string | URL, policy: UrlPolicy, what = ''): void {
  const why = checkUrl(url, policy);
  if (why !== undefined) throw new AuthError('ERR_UNSAFE_URL', what === '' ? why : `The ${what} is refused: ${why}`);
}

/** The JSON object that an answer holds. @returns undefined if it holds something else. */
export async function readObject(answer: Response): Promise<Readonly<Record<string, unknown>> | undefined> {
  const value: unknown = await answer.json().catch(() => undefined);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

/** A URL in errors: without the query, which may hold secrets. */
export function nameUrl(url: string | URL): string {
  if (!URL.canParse(String(url))) return 'a URL that cannot be read';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.slice(0, 300);
}

/** A peer's words in errors: bounded and on one line. */
export function toSafeText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value.replace(/[^\x20-\x7e\u00a0-\ufffd]/g, ' ').slice(0, 300);
}

/** A peer's list in errors, without the members that are not text. */
export function listNames(values: readonly unknown[]): string {
  const names = values.filter((value) => typeof value === 'string');
  return toSafeText(names.join(', '))?.slice(0, 200) ?? 'none';
}

const platformFetch: FetchLike = (url, init) => fetch(url, init);

/** @throws {AuthError} A browser hides where it leads, it leads nowhere, or the status is not one. */
function findRedirect(url: string, { type, status, headers }: Response): string | undefined {
  if (status > 599) throw new AuthError('ERR_AUTH_NETWORK', `${nameUrl(url)} answered with ${status}, which is not a status of HTTP`);
  if (type === 'opaqueredirect') throw new AuthError('ERR_REDIRECT_REFUSED', `${nameUrl(url)} redirects, and this platform hides where to`);
  if (!REDIRECTS.has(status)) return undefined;
  const location = headers.get('location');
  if (location !== null && URL.canParse(location, url)) return new URL(location, url).href;
  throw new AuthError('ERR_REDIRECT_REFUSED', `${nameUrl(url)} redirects without a readable "Location" header`);
}

async function readAnswer(url: string, { status, headers, body }: Response): Promise<Response> {
  const bytes = await readBytes(body, MAX_BYTES);
  if (!bytes) throw new AuthError('ERR_DOCUMENT_TOO_LARGE', `${nameUrl(url)} sent more than ${MAX_BYTES} bytes: the rest was not read`);
  const copy = new Headers(headers);
  // The bytes are decoded, and as many as they are.
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) copy.delete(name);
  return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), { status, headers: copy });
}

function toAuthError(cause: unknown, url: string, signal: AbortSignal): unknown {
  if (signal.aborted) {
    const reason: unknown = signal.reason;
    if (!(reason instanceof TimeoutError)) return reason;
    return new AuthError('ERR_AUTH_TIMEOUT', `${nameUrl(url)} did not answer within ${reason.timeoutMs} ms`, { cause: reason });
  }
  return isMortiseError(cause)
    ? cause
    : new AuthError('ERR_AUTH_NETWORK', `${nameUrl(url)} was not answered: ${reasonOf(cause)}`, { cause });
}

/** The innermost reason: `fetch` hides it as a cause of causes. */
function reasonOf(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < 5 && inner instanceof Error && inner.cause instanceof Error; depth++) inner = inner.cause;
  if (!(inner instanceof Error)) return 'unknown reason';
  const { code } = inner as { readonly code?: unknown };
  return inner.message !== '' ? inner.message : typeof code === 'string' ? code : inner.name;
}
