/** What a program may decide about serving over HTTP, and what holds where it does not. */

import type { Clock, JsonObject, Logger } from '@mortise/jsonrpc-core';
import { toBase64Url } from '@mortise/jsonrpc-core/encoding';
import { checkOptionRules, guardLogger, type OptionRules, silentLogger, systemClock } from '@mortise/jsonrpc-core/transport';
import type { EventStore, MessageBus, Principal, SessionStore, TokenVerifier } from '@mortise/protocol/contracts';
import { HttpOptionError } from '../errors.ts';

/** What limits are counted by, and what a rate limit may look at. */
export interface LimitSubject {
  readonly principal: Principal;
  readonly remoteAddress: string | undefined;
  readonly method: string;
  /** The value of a request header, by case-insensitive name. */
  header(name: string): string | undefined;
}

/** Where the two endpoints of HTTP+SSE are. */
export interface SseEndpointOptions {
  /** Where clients open the event stream. @default '/sse' */
  readonly path?: string | undefined;
  /** Where clients post, which the stream tells them. @default '/messages' */
  readonly messagePath?: string | undefined;
}

/** The options of `createHttpHandler`. Every one may be left out. */
export interface HttpHandlerOptions {
  /** The endpoint's path. Left out, the handler answers at whatever path it is mounted on. @default any */
  readonly path?: string | undefined;

  /**
   * The hosts that a request may name, beside loopback ones on a loopback socket; without a port, any port. Needed behind a proxy and
   * wherever the platform does not tell which socket a request came in on.
   *
   * @default none beside those
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * The origins of web pages that may call, as `https://app.example`; `*` for any. Pages on loopback may call a server on loopback.
   *
   * @default none beside those
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Says whom a request speaks for; without it everyone is `anonymous`. @default none */
  readonly tokenVerifier?: TokenVerifier | undefined;
  /** Protected resource metadata (RFC 9728), served at its well-known path and named in challenges. @default none */
  readonly resourceMetadata?: JsonObject | undefined;
  /** What clients know this server as, where a proxy hides it: `https://mcp.example.com`. @default what each request names */
  readonly baseUrl?: string | undefined;

  /** Whether the revisions that open with `initialize` are served. @default true */
  readonly legacy?: boolean | undefined;
  /**
   * Whether legacy clients get sessions. Without, each of their requests is served by itself, and the server cannot ask them anything.
   *
   * @default true
   */
  readonly sessions?: boolean | undefined;
  /** Answers every request with one JSON body: progress and logs are dropped. Listen and GET streams stay streams. @default false */
  readonly jsonOnly?: boolean | undefined;
  /** The two endpoints of the oldest revision. @default false @deprecated since 2025-03-26: clients should use Streamable HTTP. */
  readonly sse?: boolean | SseEndpointOptions | undefined;

  /** Keeps sessions where other processes find them. @default this process's memory */
  readonly sessionStore?: SessionStore | undefined;
  /** Leads answers of clients to the machine that asked, where several serve the sessions of one store. @default none: one process */
  readonly messageBus?: MessageBus | undefined;
  /**
   * Keeps what was sent, so that broken legacy streams can be resumed. Without it they cannot.
   *
   * In 2025-11-25 an answer's stream begins at once with it, so that its client can come back. That of a verified caller is held back for
   * 200 ms: a call that is refused for lack of scope by then gets status 403 with its challenge; a later refusal, or one behind a message
   * that has gone out, is a JSON-RPC error in the stream, since the status is already sent.
   *
   * @default none
   */
  readonly eventStore?: EventStore | undefined;
  /** Makes the ids of sessions: visible ASCII that nobody can guess. @default 192 random bits */
  readonly generateSessionId?: (() => string) | undefined;
  /** Told of a session before its client is, which waits for what this promises. What it throws is logged. @default none */
  readonly onSessionOpened?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** Told of a session that has ended, whoever ended it. What it throws is logged. @default none */
  readonly onSessionClosed?: ((sessionId: string) => void | Promise<void>) | undefined;

  /**
   * What streams, sessions and bodies that are still arriving are counted by. Asked once a request, if at all.
   *
   * @default the principal, or the remote address of anonymous callers; of IPv6 the /64
   */
  readonly limitKey?: ((subject: LimitSubject) => string) | undefined;
  /** Asked before each request. @default none @returns nothing to let it pass, or in how many seconds to come back. */
  readonly rateLimit?: ((subject: LimitSubject) => number | undefined | Promise<number | undefined>) | undefined;
  /** The longest body of a request, in bytes; 413 past it. @default 4 MiB */
  readonly maxBodyBytes?: number | undefined;
  /**
   * How many bytes of bodies that are still arriving may be held at once; 503 past it. A body counts once more than 16 KiB of it have come, so
   * that a short one is never refused for others.
   *
   * @default 256 MiB, or 64 times `maxBodyBytes` where that is more
   */
  readonly maxPendingBodyBytes?: number | undefined;
  /** How many of them of one `limitKey`. @default 64 MiB, or 16 times `maxBodyBytes` where that is more */
  readonly maxPendingBodyBytesPerKey?: number | undefined;
  /** How long a body may take to arrive, in milliseconds. @default 30_000 */
  readonly bodyTimeoutMs?: number | undefined;
  /** How deep JSON may nest. @default 128 */
  readonly maxDepth?: number | undefined;
  /** How many messages a batch may hold. @default 100 */
  readonly maxBatch?: number | undefined;
  /** How many sessions at once; past it idle ones make room, and where there are none 503 is answered. @default 10_000 */
  readonly maxSessions?: number | undefined;
  /** How many of them of one `limitKey`. @default 1_000 */
  readonly maxSessionsPerKey?: number | undefined;
  /** A session without requests and streams ends after this many milliseconds. @default 30 minutes */
  readonly sessionIdleMs?: number | undefined;
  /** How many listen, GET and HTTP+SSE streams at once; 503 past it. @default 10_000 */
  readonly maxStreams?: number | undefined;
  /** How many of them of one `limitKey`. @default 1_000 */
  readonly maxStreamsPerKey?: number | undefined;
  /** What may wait for a slow reader on one stream before senders wait, or a stream of notifications is cut. @default 1 MiB */
  readonly maxQueuedBytes?: number | undefined;
  /**
   * A stream or answer whose reader takes nothing for this many milliseconds is cut. Of answers that are no streams only on `node:http`:
   * elsewhere the platform sends them. Over HTTP/2 Node does not tell how far a text has got, so each text of a stream has this long in all.
   *
   * @default 30_000
   */
  readonly stallMs?: number | undefined;
  /** How often a quiet stream gets a comment, in milliseconds. @default 15_000 */
  readonly keepAliveMs?: number | undefined;
  /** When a client should come back to a stream that was closed early, in milliseconds. @default 1_000 */
  readonly retryMs?: number | undefined;

  /** What tells the time. @default the system's */
  readonly clock?: Clock | undefined;
  /**
   * Where faults are told, those of handlers too as long as the server has no logger of its own.
   *
   * @default one that writes nothing; `serveHttp` and the mounts on Express and Fastify write warnings and what is worse to standard error
   */
  readonly logger?: Logger | undefined;
}

/** Where the two endpoints of HTTP+SSE are. */
export interface SsePaths {
  readonly path: string;
  readonly messagePath: string;
}

/** The options with everything that has a default filled in. */
export interface Settings extends HttpHandlerOptions {
  readonly legacy: boolean;
  readonly sessions: boolean;
  readonly jsonOnly: boolean;
  readonly ssePaths: SsePaths | undefined;
  readonly generateSessionId: () => string;
  readonly limitKey: (subject: LimitSubject) => string;
  readonly maxBodyBytes: number;
  readonly maxPendingBodyBytes: number;
  readonly maxPendingBodyBytesPerKey: number;
  readonly bodyTimeoutMs: number;
  readonly maxDepth: number;
  readonly maxBatch: number;
  readonly maxSessions: number;
  readonly maxSessionsPerKey: number;
  readonly sessionIdleMs: number;
  readonly maxStreams: number;
  readonly maxStreamsPerKey: number;
  readonly maxQueuedBytes: number;
  readonly stallMs: number;
  readonly keepAliveMs: number;
  readonly retryMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

const MIB = 1024 * 1024;

const DEFAULTS = {
  legacy: true,
  sessions: true,
  jsonOnly: false,
  maxBodyBytes: 4 * MIB,
  maxPendingBodyBytes: 256 * MIB,
  maxPendingBodyBytesPerKey: 64 * MIB,
  bodyTimeoutMs: 30_000,
  maxDepth: 128,
  maxBatch: 100,
  maxSessions: 10_000,
  maxSessionsPerKey: 1_000,
  sessionIdleMs: 30 * 60_000,
  maxStreams: 10_000,
  maxStreamsPerKey: 1_000,
  maxQueuedBytes: MIB,
  stallMs: 30_000,
  keepAliveMs: 15_000,
  retryMs: 1_000,
  clock: systemClock,
  logger: silentLogger,
};

/** Those of `serveHttp` alone. A program that hands the same options to both may name them here, where they mean nothing. */
const LISTENING = { port: 'no number', host: 'no number', signal: 'no number', drainMs: 0 } as const;

const RULES: OptionRules<HttpHandlerOptions> = {
  ...LISTENING,
  path: 'no number',
  allowedHosts: 'no number',
  allowedOrigins: 'no number',
  tokenVerifier: 'no number',
  resourceMetadata: 'no number',
  baseUrl: 'no number',
  legacy: 'no number',
  sessions: 'no number',
  jsonOnly: 'no number',
  sse: 'no number',
  sessionStore: 'no number',
  messageBus: 'no number',
  eventStore: 'no number',
  generateSessionId: 'no number',
  onSessionOpened: 'no number',
  onSessionClosed: 'no number',
  limitKey: 'no number',
  rateLimit: 'no number',
  clock: 'no number',
  logger: 'no number',
  maxBodyBytes: 1,
  maxPendingBodyBytes: 1,
  maxPendingBodyBytesPerKey: 1,
  bodyTimeoutMs: 1,
  maxDepth: 1,
  maxBatch: 1,
  maxSessions: 1,
  maxSessionsPerKey: 1,
  sessionIdleMs: 1,
  maxStreams: 1,
  maxStreamsPerKey: 1,
  maxQueuedBytes: 1,
  stallMs: 1,
  keepAliveMs: 1,
  retryMs: 1,
};

/** The options that were given, without those that are undefined. */
type GivenOptions = { [K in keyof HttpHandlerOptions]: Exclude<HttpHandlerOptions[K], undefined> };

/**
 * Fills in the defaults.
 *
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an option that cannot hold, or that there is not.
 */
export function toSettings(options: HttpHandlerOptions): Settings {
  checkOptionRules('a server over HTTP', options, RULES, HttpOptionError);
  const isGiven = ([name, value]: [string, unknown]): boolean => value !== undefined && !Object.hasOwn(LISTENING, name);
  const given = Object.fromEntries(Object.entries(options).filter(isGiven)) as GivenOptions;
  checkOptions(given);
  return {
    ...DEFAULTS,
    generateSessionId,
    limitKey: defaultLimitKey,
    ...toPendingBounds(given.maxBodyBytes),
    ...given,
    logger: guardLogger(given.logger ?? silentLogger),
    ssePaths: toSsePaths(given.sse),
  };
}

/** Many of the longest bodies have room at once. */
function toPendingBounds(maxBodyBytes = DEFAULTS.maxBodyBytes): Pick<Settings, 'maxPendingBodyBytes' | 'maxPendingBodyBytesPerKey'> {
  return {
    maxPendingBodyBytes: Math.max(DEFAULTS.maxPendingBodyBytes, 64 * maxBodyBytes),
    maxPendingBodyBytesPerKey: Math.max(DEFAULTS.maxPendingBodyBytesPerKey, 16 * maxBodyBytes),
  };
}

/** Where HTTP+SSE is served; undefined where it is not. */
export function toSsePaths(sse: HttpHandlerOptions['sse']): SsePaths | undefined {
  if (sse === undefined || sse === false) return undefined;
  const { path = '/sse', messagePath = '/messages' } = sse === true ? {} : sse;
  return { path, messagePath };
}

function checkOptions(options: HttpHandlerOptions): void {
  const { path, baseUrl, sse, tokenVerifier, maxBodyBytes = DEFAULTS.maxBodyBytes } = options;
  for (const name of ['maxPendingBodyBytes', 'maxPendingBodyBytesPerKey'] as const) {
    const bytes = options[name] ?? Infinity;
    if (bytes < maxBodyBytes)
      throw new HttpOptionError(`The option "${name}" must leave room for one body of "maxBodyBytes" (${maxBodyBytes}), got ${bytes}`);
  }
  if (tokenVerifier !== undefined && typeof tokenVerifier?.verify !== 'function')
    throw new HttpOptionError('The option "tokenVerifier" must be an object with a function "verify"');
  checkPath('path', path);
  if (typeof sse === 'object') {
    checkOptionRules('the option "sse"', sse, SSE_RULES, HttpOptionError);
    checkPath('sse.path', sse.path);
    checkPath('sse.messagePath', sse.messagePath);
  }
  if (baseUrl !== undefined && !URL.canParse(baseUrl))
    throw new HttpOptionError(`The option "baseUrl" must be an absolute URL, got "${baseUrl}"`);
}

const SSE_RULES: OptionRules<SseEndpointOptions> = { path: 'no number', messagePath: 'no number' };

/** No request has another: it would silently be served nowhere. */
function checkPath(name: string, path: string | undefined): void {
  if (path !== undefined && !path.startsWith('/')) throw new HttpOptionError(`The option "${name}" must begin with "/", got "${path}"`);
}

const ID_BYTES = 24;

function generateSessionId(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(ID_BYTES)));
}

/** A verified caller counts as itself, an anonymous one as its address: of IPv6 the network, since one host has many addresses. */
function defaultLimitKey({ principal, remoteAddress }: LimitSubject): string {
  if (principal !== 'anonymous') return `principal ${principal}`;
  if (remoteAddress === undefined || !remoteAddress.includes(':') || remoteAddress.includes('.'))
    return `address ${remoteAddress ?? 'unknown'}`;
  return `network ${toNetwork(remoteAddress)}`;
}

function toNetwork(address: string): string {
  const [head = '', tail] = address.split('::', 2);
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':');
    while (groups.length + last.length < 8) groups.push('0');
  }
  return groups.slice(0, 4).join(':');
}
