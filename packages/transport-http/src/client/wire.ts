/** Every request of a client goes out here: with its authorization, without leaving the origin, and with errors that say what failed. */

import { type Clock, type ClockTimer, ConnectionClosedError, isMortiseError, TimeoutError } from '@mortise/jsonrpc-core';
import type { WaitingCaller } from '@mortise/jsonrpc-core/transport';
import type { Authorizer } from '@mortise/protocol/contracts';
import { HttpOptionError, RedirectError } from '../errors.ts';
import type { HttpAnswer, HttpCall, HttpFlight, HttpSender } from './http-sender.ts';

const MAX_REDIRECTS = 5;
const MAX_CHALLENGES = 3;
/** How long a body that nobody needs may take to end by itself. */
const LEFTOVER_MS = 2000;
/** What nobody needs is read as long as it is little. */
const MAX_LEFTOVER_BYTES = 64 * 1024;

/** The headers of every POST. @see 2026-07-28 basic/transports/streamable-http#sending-messages */
export const POST_HEADERS: Readonly<Record<string, string>> = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
};

/** What a wire is made of. */
export interface WireOptions {
  readonly sender: HttpSender;
  readonly authorizer: Authorizer | undefined;
  /** Sent with every request unless the protocol needs the name. By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

/** A body whose message has been read, and that is read on only so that its connection can be used again. */
export interface Leftover {
  /** Closes it. */
  stop(): void;
}

/** How one request is sent. */
export interface SendTerms {
  /** Whose time stands still while somebody signs in. */
  readonly caller?: WaitingCaller | undefined;
  /** How long the server may take to answer, signing in apart. @default as long as it wants */
  readonly timeoutMs?: number | undefined;
}

export class Wire {
  /** The address of the server. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly authorizer: Authorizer | undefined;
  readonly sender: HttpSender;
  readonly clock: Clock;
  readonly #leftovers = new Map<Leftover, ClockTimer>();
  #authorization: string | undefined;
  #authContext: string | undefined;

  /** @throws {HttpOptionError} The URL is not one of http or https, or holds a password. */
  constructor(url: string | URL, { sender, authorizer, headers, clock }: WireOptions) {
    this.url = toHref(url);
    this.headers = headers;
    this.authorizer = authorizer;
    this.sender = sender;
    this.clock = clock;
  }

  /** Differs where the authorization that was given last does, and says nothing of it; undefined before the first. */
  get authContext(): string | undefined {
    return this.#authContext;
  }

  /** Notes what a request is authorized by. */
  noteAuthorization(given: string | undefined): void {
    if (given === this.#authorization) return;
    this.#authorization = given;
    // Random, since several clients may keep what they get in one place.
    this.#authContext = given === undefined ? undefined : crypto.randomUUID();
  }

  /** Sends a request. */
  send(call: HttpCall, terms: SendTerms = {}): Sending {
    return new Sending(this, call, terms);
  }

  /** Gives a body a moment to end by itself, and closes it then. */
  letEnd(body: Leftover): void {
    const stop = (): void => {
      this.#leftovers.delete(body);
      body.stop();
    };
    this.#leftovers.set(body, this.clock.schedule(stop, LEFTOVER_MS));
  }

  /** A body has ended by itself. */
  hasEnded(body: Leftover): void {
    this.#leftovers.get(body)?.cancel();
    this.#leftovers.delete(body);
  }

  /** Reads a body that nobody needs to its end, if that comes soon. */
  discard(answer: HttpAnswer): void {
    const body: Leftover = { stop: () => answer.abort() };
    let bytes = 0;
    if (answer.header('content-length') !== '0') this.letEnd(body);
    answer.read({
      onChunk: (chunk) => {
        bytes += chunk.byteLength;
        if (bytes <= MAX_LEFTOVER_BYTES) return;
        this.hasEnded(body);
        answer.abort();
      },
      onEnd: () => this.hasEnded(body),
    });
  }

  /** Closes every body that nobody needs. */
  close(): void {
    for (const [body, timer] of this.#leftovers) {
      timer.cancel();
      body.stop();
    }
    this.#leftovers.clear();
  }
}

/** A request on its way, redirects and challenges included. */
export class Sending {
  /**
   * Resolves with the answer, whatever its status.
   *
   * @throws {ConnectionClosedError} No answer came. {TimeoutError} It did not come within `timeoutMs`.
   * @throws {RedirectError} The server redirects to another origin, or in circles.
   * @throws The reason of `abort`, or what the authorizer rejects with.
   */
  readonly answer: Promise<HttpAnswer>;
  readonly #wire: Wire;
  readonly #call: HttpCall;
  readonly #terms: SendTerms;
  #flight: HttpFlight | undefined;
  #authorizing: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;

  constructor(wire: Wire, call: HttpCall, terms: SendTerms) {
    this.#wire = wire;
    this.#call = call;
    this.#terms = terms;
    this.answer = wire.authorizer === undefined ? this.#follow(call) : this.#authorized(wire.authorizer);
  }

  /** Ends the request, at whatever stage. */
  abort(reason: unknown): void {
    this.#aborted ??= { reason };
    this.#flight?.abort();
    this.#authorizing?.abort(reason);
  }

  async #authorized(authorizer: Authorizer): Promise<HttpAnswer> {
    const { method, url } = this.#call;
    const { signal } = (this.#authorizing = new AbortController());
    for (let attempt = 1; ; attempt++) {
      const given = toLowerCaseNames(await this.#untimed(() => authorizer.headers({ method, url }, { signal })));
      this.#wire.noteAuthorization(given['authorization']);
      const answer = await this.#follow({ ...this.#call, headers: { ...this.#call.headers, ...given } });
      const { status } = answer;
      if ((status !== 401 && status !== 403) || attempt > MAX_CHALLENGES) return answer;
      const challenge = { status, url, attempt, given, header: (name: string) => answer.header(name.toLowerCase()) };
      if ((await this.#untimed(() => authorizer.onChallenge(challenge, { signal }))) === 'fail') return answer;
      this.#wire.discard(answer);
    }
  }

  /** Signing in may take a person minutes, which are none of the server's. */
  async #untimed<T>(authorize: () => T | Promise<T>): Promise<T> {
    const resume = this.#terms.caller?.pauseTimeout?.();
    try {
      return await authorize();
    } finally {
      resume?.();
    }
  }

  /** Not an async function: most requests need one callback here and no more. */
  #follow(call: HttpCall, count = 0): Promise<HttpAnswer> {
    if (this.#aborted) return Promise.reject(this.#aborted.reason as Error);
    this.#flight = this.#wire.sender(call);
    const timer = this.#startTimer();
    return this.#flight.answer.then(
      (answer) => {
        timer?.cancel();
        return this.#onAnswer(call, answer, count);
      },
      (error: unknown) => {
        timer?.cancel();
        throw this.#aborted ? this.#aborted.reason : toNetworkError(call, error);
      },
    );
  }

  #startTimer(): ClockTimer | undefined {
    const { timeoutMs } = this.#terms;
    if (timeoutMs === undefined) return undefined;
    const expire = (): void => this.abort(new TimeoutError(`${describe(this.#call)} was not answered within ${timeoutMs} ms`, timeoutMs));
    return this.#wire.clock.schedule(expire, timeoutMs, { keepAlive: true });
  }

  #onAnswer(call: HttpCall, answer: HttpAnswer, count: number): HttpAnswer | Promise<HttpAnswer> {
    if (this.#aborted) {
      answer.abort();
      throw this.#aborted.reason;
    }
    const url = answer.status > 299 && answer.status < 400 ? findRedirect(call, answer) : undefined;
    if (url === undefined) return answer;
    this.#wire.discard(answer);
    if (count < MAX_REDIRECTS) return this.#follow({ ...call, url }, count + 1);
    throw new RedirectError(`${describe(call)} was redirected more than ${MAX_REDIRECTS} times: the server goes round in circles`);
  }
}

/** What a request is called in errors: without the query, which may hold secrets. */
export function describe({ method, url }: Pick<HttpCall, 'method' | 'url'>): string {
  const { origin, pathname } = new URL(url);
  return `${method} ${origin}${pathname}`;
}

/** Headers by name; or whatever gives names and values in turn, as `Headers` and a `Map` do. */
export type GivenHeaders = Readonly<Record<string, string>> | Iterable<readonly [name: string, value: string]>;

/** Headers by lower-case name, so that no two spell the same one. */
export function toLowerCaseNames(headers: GivenHeaders): Record<string, string> {
  const pairs: Iterable<readonly [string, string]> = isIterable(headers) ? headers : Object.entries(headers);
  return Object.fromEntries(Array.from(pairs, ([name, value]) => [name.toLowerCase(), value]));
}

function isIterable(headers: GivenHeaders): headers is Iterable<readonly [string, string]> {
  return typeof (headers as Partial<Iterable<unknown>>)[Symbol.iterator] === 'function';
}

/** @throws {HttpOptionError} `ERR_HTTP_OPTION` */
function toHref(url: string | URL): string {
  const parsed = URL.canParse(String(url)) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:')
    throw new HttpOptionError(`The URL must begin with "https://" or "http://", as https://host/mcp, got ${showUrl(String(url))}`);
  if (parsed.username !== '' || parsed.password !== '') {
    throw new HttpOptionError('The URL holds a user name or password: send them in the header "Authorization" instead');
  }
  parsed.hash = '';
  return parsed.href;
}

/** What was given in place of a URL, without what may be secret: a query, and who signs in. */
function showUrl(given: string): string {
  const [shown = ''] = given.split(/[?#]/, 1);
  return shown.includes('@') ? 'one that names a user' : `"${shown.slice(0, 100)}"`;
}

/**
 * Where an answer leads to, if it leads anywhere. A POST is only sent again as the POST it was (307, 308).
 *
 * @throws {RedirectError} It leads to another origin (credentials, a session and the body are nobody else's business), or a POST is to
 *   become a GET.
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
  throw new RedirectError(
    `${describe(call)} ${isOwn ? `redirects (${status})` : 'redirects to another origin'}: ${toAdvice(target, isOwn)}`,
  );
}

/** What to do about a redirect that is not followed. Without the query, which may hold secrets, and who signs in. */
function toAdvice(target: URL, isOwn: boolean): string {
  const { protocol, origin, pathname } = target;
  const shown = protocol === 'https:' || protocol === 'http:' ? `${origin}${pathname}` : protocol;
  const advice = `it leads to ${shown}. If that is the MCP server and you trust it, use that address`;
  return isOwn ? advice : `${advice}; a sign-in page means that a token is needed`;
}

function toNetworkError(call: HttpCall, error: unknown): unknown {
  return isMortiseError(error)
    ? error
    : new ConnectionClosedError(`${describe(call)} was not answered: ${reasonOf(error)}`, { cause: error });
}

/** The innermost reason, in one line: `fetch` hides it as a cause of causes. */
function reasonOf(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < 5 && inner instanceof Error && inner.cause instanceof Error; depth++) inner = inner.cause;
  if (!(inner instanceof Error)) return 'unknown reason';
  const { code } = inner as { readonly code?: unknown };
  if (NO_TLS.test(inner.message))
    return 'the server does not speak TLS at this port. Begin the address with "http://", or name the port that does';
  const reason = inner.message !== '' ? inner.message.replace(/\s+/g, ' ').trim() : typeof code === 'string' ? code : inner.name;
  const remedy = REMEDIES.get(code);
  return remedy === undefined ? reason : `${reason}: ${remedy}`;
}

const REMEDIES: ReadonlyMap<unknown, string> = new Map([
  ['ECONNREFUSED', 'see that the server runs, and at this port'],
  ['ENOTFOUND', 'see that the host is spelt right'],
]);

/** What OpenSSL says of an answer that is no TLS; which of them depends on its release. */
const NO_TLS = /:SSL routines:.*:(?:wrong version number|packet length too long):/;

/**
 * The name of a server for whoever remembers things about it, perhaps on disk: its address without what may be secret. Of a query it has
 * the names and a digest of 32 bits, which differs by address and gives nothing away.
 */
export function toEraKey(url: string): string {
  const { origin, pathname, search, searchParams } = new URL(url);
  if (search === '') return origin + pathname;
  const names = [...new Set(searchParams.keys())].map((name) => encodeURIComponent(name));
  return `${origin}${pathname}?${names.join('&')}#${digest(search)}`;
}

/** FNV-1a. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
