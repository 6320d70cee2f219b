/**
 * Fetches URLs that a server names: checks each URL and each redirect first, limits body size and time, and never redirects credentials.
 *
 * With the platform's `fetch` it checks only the text of a URL. `checkedFetch` of `/node` also checks the resolved address.
 */

import { type Clock, isMortiseError, TimeoutError } from '@mortise/jsonrpc-core';
import { abortable, withTimeout } from '@mortise/jsonrpc-core/connection';
import { checkUrl, isLoopbackHost, readBytes, type UrlPolicy } from '@mortise/protocol/edge';
import { AuthError } from './errors.ts';

/** A `fetch` function. It is called with `redirect: 'manual'`. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/** The options of `createSafeFetch`. */
interface PeerRules {
  /** Which URLs are allowed besides https URLs of public hosts. */
  readonly urls: UrlPolicy;
  /** Sends each request; called again for each redirect. @default globalThis.fetch */
  readonly fetch: FetchLike | undefined;
  /** The time limit of one request, including redirects and body, in milliseconds. @default 10_000 */
  readonly timeoutMs?: number | undefined;
  /** The clock for `timeoutMs`. @default the system clock */
  readonly clock?: Clock | undefined;
  /** How many redirects of one GET request are followed. @default 3 */
  readonly maxRedirects?: number;
}

/** The settings of one request of a `SafeFetch`, in the form that `oauth4webapi` and `jose` use too. */
interface PeerRequest {
  readonly method?: string;
  readonly headers?: Headers | Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Fetches one URL, and resolves once the whole body was read. Does not follow redirects of a POST.
 *
 * @throws {AuthError} `ERR_UNSAFE_URL`, `ERR_REDIRECT_REFUSED`, `ERR_DOCUMENT_TOO_LARGE`, `ERR_AUTH_TIMEOUT`, `ERR_AUTH_NETWORK`.
 * If the signal aborts, rejects with its reason.
 */
export type SafeFetch = (url: string, request: PeerRequest) => Promise<Response>;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_BYTES = 1_048_576;

/** Creates a `fetch` that checks each URL and redirect against `urls`, and limits the time and size of a response. */
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
        throw new AuthError(
          'ERR_REDIRECT_REFUSED',
          `POST ${nameUrl(url)} was redirected: requests with credentials must not be redirected`,
        );
      if (count >= maxRedirects)
        throw new AuthError('ERR_REDIRECT_REFUSED', `GET ${nameUrl(first)} was redirected more than ${maxRedirects} times`);
      url = next;
    }
  }

  return async (url, request) => {
    const limit = withTimeout(timeoutMs, request.signal, clock);
    try {
      limit.signal.throwIfAborted();
      // A `fetch` function of the program may ignore its signal.
      return await abortable(follow(url, request, limit.signal), limit.signal);
    } catch (error) {
      throw toAuthError(error, url, limit.signal);
    } finally {
      limit.dispose();
    }
  };
}

/** Creates a `SafeFetch` for an issuer that the program's options name: private hosts are allowed, http only on this machine. */
export function createIssuerFetch(url: string, fetch: FetchLike | undefined): SafeFetch {
  const allowLoopback = URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
  return createSafeFetch({ urls: { allowPrivate: true, allowLoopback }, fetch, timeoutMs: 5_000, maxRedirects: 0 });
}

/**
 * Checks whether a URL that a server names may be used.
 *
 * @param what The name of the URL in the error message.
 * @throws {AuthError} `ERR_UNSAFE_URL`: the policy does not allow the URL.
 */
export function assertSafeUrl(url: string | URL, policy: UrlPolicy, what = ''): void {
  const why = checkUrl(url, policy);
  if (why !== undefined) throw new AuthError('ERR_UNSAFE_URL', what === '' ? why : `The ${what} is refused: ${why}`);
}

/** Percent-encodes the characters of a URL that a shell would interpret, for programs that open it with `exec`. */
export function escapeShell(url: string | URL): URL {
  const escape = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return new URL(new URL(url).href.replace(/[$()|^'`]/g, escape));
}

/** Reads a response body as a JSON object. @returns undefined if it is anything else. */
export async function readObject(answer: Response): Promise<Readonly<Record<string, unknown>> | undefined> {
  const value: unknown = await answer.json().catch(() => undefined);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

/** Formats a URL for error messages, without the query, which may contain secrets. */
export function nameUrl(url: string | URL): string {
  if (!URL.canParse(String(url))) return 'an invalid URL';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.slice(0, 300);
}

/** Makes a text from another server safe for error messages: limited length, one line. */
export function toSafeText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value.replace(/[^\x20-\x7e\u00a0-\ufffd]/g, ' ').slice(0, 300);
}

/** Formats a list from another server for error messages. Items that are not strings are left out. */
export function listNames(values: readonly unknown[]): string {
  const names = values.filter((value) => typeof value === 'string');
  return toSafeText(names.join(', '))?.slice(0, 200) ?? 'none';
}

const platformFetch: FetchLike = (url, init) => fetch(url, init);

/** Gives the target of a redirect. @throws {AuthError} It is missing, invalid or hidden by a browser; or the status is no HTTP status. */
function findRedirect(url: string, { type, status, headers }: Response): string | undefined {
  if (status > 599) throw new AuthError('ERR_AUTH_NETWORK', `${nameUrl(url)} sent the status ${status}, which is not an HTTP status`);
  if (type === 'opaqueredirect')
    throw new AuthError('ERR_REDIRECT_REFUSED', `${nameUrl(url)} redirects, but this platform hides the target, so it cannot be checked`);
  if (!REDIRECTS.has(status)) return undefined;
  const location = headers.get('location');
  if (location !== null && URL.canParse(location, url)) return new URL(location, url).href;
  throw new AuthError('ERR_REDIRECT_REFUSED', `${nameUrl(url)} redirects without a valid "Location" header`);
}

async function readAnswer(url: string, { status, headers, body }: Response): Promise<Response> {
  const bytes = await readBytes(body, MAX_BYTES);
  if (!bytes)
    throw new AuthError('ERR_DOCUMENT_TOO_LARGE', `${nameUrl(url)} sent more than ${MAX_BYTES} bytes, the limit for one response`);
  const copy = new Headers(headers);
  // These headers describe the encoded body; `bytes` is decoded.
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) copy.delete(name);
  return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), { status, headers: copy });
}

function toAuthError(cause: unknown, url: string, signal: AbortSignal): unknown {
  if (signal.aborted) {
    const reason: unknown = signal.reason;
    if (!(reason instanceof TimeoutError)) return reason;
    return new AuthError('ERR_AUTH_TIMEOUT', `${nameUrl(url)} did not respond within ${reason.timeoutMs} ms`, { cause: reason });
  }
  return isMortiseError(cause)
    ? cause
    : new AuthError('ERR_AUTH_NETWORK', `The request to ${nameUrl(url)} failed: ${reasonOf(cause)}`, { cause });
}

/** Gives the message of the innermost cause, because the outer errors of `fetch` say little. */
function reasonOf(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < 5 && inner instanceof Error && inner.cause instanceof Error; depth++) inner = inner.cause;
  if (!(inner instanceof Error)) return 'unknown reason';
  const { code } = inner as { readonly code?: unknown };
  return inner.message !== '' ? inner.message : typeof code === 'string' ? code : inner.name;
}
