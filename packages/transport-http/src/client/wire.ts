/** Sends a client's HTTP requests: adds authorization, follows redirects within the origin, and makes descriptive errors. */

import { type Clock, type ClockTimer, TimeoutError } from '@mortise/jsonrpc-core';
import { systemClock, type WaitingCaller } from '@mortise/jsonrpc-core/transport';
import type { Authorizer } from '@mortise/protocol/contracts';
import { HttpClientError, HttpOptionError } from '../errors.ts';
import { ACCEPT_BOTH, JSON_TYPE } from '../headers.ts';
import { checkClientOptions, type StreamableHTTPClientTransportOptions } from './client-options.ts';
import { describe, toNetworkError } from './http-failure.ts';
import { createFetchSender, type HttpAnswer, type HttpCall, type HttpFlight, type HttpSender } from './http-sender.ts';
import { toLowerCaseNames, toSentHeaders } from './request-headers.ts';

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const MAX_CHALLENGES = 3;
/** How long an HTTP body that is not needed, or only for an error message, may take to end. If it ends in time, its connection can be reused. */
const LEFTOVER_MS = 2000;
const MAX_LEFTOVER_BYTES = 64 * 1024;

/** How long the server may take to accept a notification or a response, in milliseconds. */
export const ACCEPT_TIMEOUT_MS = 30_000;

/** The headers of every POST. @see 2026-07-28 basic/transports/streamable-http#sending-messages */
export const POST_HEADERS: Readonly<Record<string, string>> = {
  accept: ACCEPT_BOTH,
  'content-type': JSON_TYPE,
};

/** Optional terms for sending one HTTP request. */
export interface SendTerms {
  /** The caller whose timeout pauses while the authorizer works. */
  readonly caller?: WaitingCaller | undefined;
  /** How long the server may take to respond, in milliseconds. Time that the authorizer takes does not count. @default no limit */
  readonly timeoutMs?: number | undefined;
}

export class Wire {
  readonly url: string;
  /** Headers that the program adds to every request, by lower-case name. Headers that the client sets itself take precedence. */
  readonly headers: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
  readonly clock: Clock;
  readonly sender: HttpSender;
  readonly authorizer: Authorizer | undefined;
  /** The bodies that are being read to their end, each with the function that aborts it. */
  readonly #leftovers = new Map<HttpAnswer, () => void>();
  #authorization: string | undefined;
  #authContext: string | undefined;

  /** @throws {HttpOptionError} `ERR_HTTP_OPTION`: the URL is invalid, or an option is unknown or has an invalid value. */
  constructor(url: string | URL, options: StreamableHTTPClientTransportOptions) {
    checkClientOptions(options);
    const { headers = {}, requestInit = {}, fetch } = options;
    // One signal for all requests would abort them all and collect their listeners. To end all requests, close the transport.
    const { headers: initHeaders, signal: _signal, body: _body, method: _method, ...init } = requestInit;
    this.url = toHref(url);
    this.headers = { ...toSentHeaders(new Headers(initHeaders)), ...toSentHeaders(headers) };
    this.sender = options.sender ?? createFetchSender(fetch, init);
    this.authorizer = options.authorizer;
    this.maxMessageBytes = options.maxMessageBytes ?? DEFAULT_MAX_BYTES;
    this.clock = options.clock ?? systemClock;
  }

  /** A random id that stands for the current authorization and changes with it; undefined before the first request with authorization. */
  get authContext(): string | undefined {
    return this.#authContext;
  }

  noteAuthorization(given: string | undefined): void {
    if (given === this.#authorization) return;
    this.#authorization = given;
    // Random, because several clients may share a cache.
    this.#authContext = given === undefined ? undefined : crypto.randomUUID();
  }

  send(call: HttpCall, terms: SendTerms = {}): Sending {
    return new Sending(this, call, terms);
  }

  /** Reads and discards an HTTP body that is not needed, and aborts it if it does not end soon. */
  discard(answer: HttpAnswer): void {
    const onEnd = answer.header('content-length') === '0' ? () => undefined : this.letEnd(answer);
    let bytes = 0;
    const onChunk = (chunk: Uint8Array): void => {
      bytes += chunk.byteLength;
      if (bytes <= MAX_LEFTOVER_BYTES) return;
      onEnd();
      answer.abort();
    };
    answer.read({ onChunk, onEnd });
  }

  /**
   * Aborts an HTTP body that is not needed, or only for an error message, unless it ends soon.
   *
   * @param onAborted Called if the body was aborted.
   * @returns A function that must be called when the body ends.
   */
  letEnd(answer: HttpAnswer, onAborted: () => void = () => undefined): () => void {
    const leave = (): void => {
      timer.cancel();
      this.#leftovers.delete(answer);
    };
    const abort = (): void => {
      leave();
      answer.abort();
      onAborted();
    };
    const timer = this.clock.schedule(abort, LEFTOVER_MS);
    this.#leftovers.set(answer, abort);
    return leave;
  }

  /** Aborts all HTTP bodies that are not needed and have not ended. */
  close(): void {
    for (const abort of this.#leftovers.values()) abort();
  }
}

/** An HTTP request that was sent, including its redirects and authorization challenges. */
export class Sending {
  /**
   * Resolves with the HTTP response, also for error statuses.
   *
   * @throws {ConnectionClosedError} There was no response. {TimeoutError} There was no response within `timeoutMs`.
   * @throws {HttpClientError} `ERR_HTTP_REDIRECT`: the server redirects to another origin, or in a loop.
   * @throws The reason given to `abort`, or the error of the authorizer.
   */
  readonly answer: Promise<HttpAnswer>;
  readonly #wire: Wire;
  readonly #terms: SendTerms;
  #flight: HttpFlight | undefined;
  #authorizing: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;

  constructor(wire: Wire, call: HttpCall, terms: SendTerms) {
    this.#wire = wire;
    this.#terms = terms;
    this.answer = wire.authorizer === undefined ? this.#follow(call) : this.#authorize(call, wire.authorizer);
  }

  /** Aborts the request, whether it waits for the authorizer or for the server. */
  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#flight?.abort();
    this.#authorizing?.abort(reason);
  }

  async #authorize(call: HttpCall, authorizer: Authorizer): Promise<HttpAnswer> {
    const { method, url } = call;
    const { signal } = (this.#authorizing = new AbortController());
    for (let attempt = 1; ; attempt++) {
      const given = toLowerCaseNames(await this.#untimed(() => authorizer.headers({ method, url }, { signal })));
      this.#wire.noteAuthorization(given['authorization']);
      const answer = await this.#follow({ ...call, headers: { ...call.headers, ...given } });
      const { status } = answer;
      if ((status !== 401 && status !== 403) || attempt > MAX_CHALLENGES) return answer;
      const challenge = { status, url, attempt, given, header: (name: string) => answer.header(name.toLowerCase()) };
      if ((await this.#untimed(() => authorizer.onChallenge(challenge, { signal }))) === 'fail') return answer;
      this.#wire.discard(answer);
    }
  }

  /** Calls the authorizer while the request's timeouts pause, because a sign-in may take minutes. */
  async #untimed<T>(authorize: () => T | Promise<T>): Promise<T> {
    const resume = this.#terms.caller?.pauseTimeout?.();
    try {
      return await authorize();
    } finally {
      resume?.();
    }
  }

  /** Sends a request and follows its redirects. It is no async function, which saves promises. */
  #follow(call: HttpCall, redirects = 0): Promise<HttpAnswer> {
    if (this.#aborted) return Promise.reject(this.#aborted.reason as Error);
    this.#flight = this.#wire.sender(call);
    const timer = this.#startTimer(call);
    return this.#flight.answer.then(
      (answer) => {
        timer?.cancel();
        return this.#onAnswer(call, answer, redirects);
      },
      (error: unknown) => {
        timer?.cancel();
        throw this.#aborted ? this.#aborted.reason : toNetworkError(call, error);
      },
    );
  }

  #startTimer(call: HttpCall): ClockTimer | undefined {
    const { timeoutMs } = this.#terms;
    if (timeoutMs === undefined) return undefined;
    const expire = (): void => this.abort(new TimeoutError(`${describe(call)} got no response within ${timeoutMs} ms`, timeoutMs));
    return this.#wire.clock.schedule(expire, timeoutMs, { keepAlive: true });
  }

  #onAnswer(call: HttpCall, answer: HttpAnswer, redirects: number): HttpAnswer | Promise<HttpAnswer> {
    if (this.#aborted) {
      answer.abort();
      throw this.#aborted.reason;
    }
    const url = answer.status > 299 && answer.status < 400 ? findRedirect(call, answer) : undefined;
    if (url === undefined) return answer;
    this.#wire.discard(answer);
    if (redirects < MAX_REDIRECTS) return this.#follow({ ...call, url }, redirects + 1);
    throw toRedirectError(call, `the server redirected the request more than ${MAX_REDIRECTS} times: the redirects form a loop`);
  }
}

/**
 * Returns the target of a redirect; undefined if the response is no redirect. Only status 307 and 308 redirect a POST as a POST.
 *
 * @throws {HttpClientError} The target is in another origin, which must not get credentials, session or body, or a POST would become a GET.
 */
function findRedirect(call: HttpCall, answer: HttpAnswer): string | undefined {
  const { status } = answer;
  const keepsMethod = status === 307 || status === 308;
  const isRedirect = keepsMethod || (call.method !== 'DELETE' && (status === 301 || status === 302 || status === 303));
  const location = answer.header('location');
  if (!isRedirect || location === undefined || !URL.canParse(location, call.url)) return undefined;
  const target = new URL(location, call.url);
  const isOwn = target.origin === new URL(call.url).origin && target.username === '' && target.password === '';
  if (isOwn && (keepsMethod || call.method === 'GET')) return target.href;
  answer.abort();
  const { protocol, origin, pathname } = target;
  // Without query and user, which may be secret.
  const shown = protocol === 'https:' || protocol === 'http:' ? `${origin}${pathname}` : protocol;
  const advice = `the target is ${shown}. If that is the MCP server and you trust it, use that URL`;
  if (isOwn) throw toRedirectError(call, `the server redirects with status ${status}, which turns a POST into a GET: ${advice}`);
  throw toRedirectError(call, `the server redirects to another origin: ${advice}; a sign-in page means that a token is needed`);
}

function toRedirectError(call: HttpCall, what: string): HttpClientError {
  return new HttpClientError('ERR_HTTP_REDIRECT', `${describe(call)}: ${what}`);
}

function toHref(url: string | URL): string {
  const parsed = URL.canParse(String(url)) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:')
    throw new HttpOptionError(`The URL must begin with "https://" or "http://", such as https://host/mcp, got ${showUrl(String(url))}`);
  if (parsed.username !== '' || parsed.password !== '')
    throw new HttpOptionError('The URL contains a user name or password: send them in the header "Authorization" instead');
  parsed.hash = '';
  return parsed.href;
}

/** Returns a URL for error messages. Leaves out the parts that may be secret: the query, and the user name and password. */
function showUrl(given: string): string {
  const [shown = ''] = given.split(/[?#]/, 1);
  return shown.includes('@') ? 'a URL with a user name' : `"${shown.slice(0, 100)}"`;
}

/**
 * Makes the `eraKey` of a server, under which a client remembers the server's era. It contains no secret, because it may be written to
 * disk: the query is replaced by a digest of 32 bits, which distinguishes servers but does not reveal the query.
 */
export function toEraKey(url: string): string {
  const { origin, pathname, search } = new URL(url);
  if (search === '') return origin + pathname;
  let hash = 0x811c9dc5;
  for (let at = 0; at < search.length; at++) hash = Math.imul(hash ^ search.charCodeAt(at), 0x01000193);
  return `${origin}${pathname}#${(hash >>> 0).toString(16).padStart(8, '0')}`;
}
