/** The options of serving over HTTP, and what holds where they are left out. */

import type { Clock, JsonObject, Logger } from '@mortise/jsonrpc-core';
import { checkOptions, guardLogger, type OptionTable, silentLogger, systemClock } from '@mortise/jsonrpc-core/transport';
import type { CallOrigin, EventStore, MessageBus, Principal, SessionStore, TokenVerifier } from '@mortise/protocol/contracts';
import { toNetwork } from '@mortise/protocol/edge';
import { checkMethods } from '../check-methods.ts';
import { HttpOptionError } from '../errors.ts';
import { Guard } from './http/guard.ts';

/** Who sends a request, for `limitKey`. */
export interface LimitSubject extends CallOrigin {
  readonly principal: Principal;
}

/** The options of `createHttpHandler`. Every one may be left out. */
export interface HttpHandlerOptions {
  /**
   * The endpoint's path. Without one, `createHttpHandler` answers at whatever path it is mounted on.
   *
   * @default any; '/mcp' with `serveHttp` and the mounts
   */
  readonly path?: string | undefined;

  /**
   * The hosts that a request may name, beside loopback ones on a loopback socket; without a port, any port. Needed behind a proxy and
   * wherever the platform does not say which socket a request came in on.
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
  /** Verifies tokens; without it every caller is `anonymous`. @default none */
  readonly tokenVerifier?: TokenVerifier | undefined;
  /** Protected resource metadata (RFC 9728), served at its well-known path and named in challenges. @default none */
  readonly resourceMetadata?: JsonObject | undefined;
  /** The address of this server as clients know it, where a proxy hides it: `https://mcp.example.com`. @default what each request names */
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
  /**
   * Serves HTTP+SSE, the two endpoints of the oldest revision: `true` opens streams at `/sse`, a string names another path. Clients post to
   * `messages` beside it.
   *
   * @default false
   * @deprecated since 2025-03-26: clients should use Streamable HTTP.
   */
  readonly sse?: boolean | string | undefined;

  /** Keeps sessions where other processes find them. @default this process's memory */
  readonly sessionStore?: SessionStore | undefined;
  /** Carries clients' answers to the machine that asked, where several serve the sessions of one store. @default none: one process */
  readonly messageBus?: MessageBus | undefined;
  /**
   * Keeps what was sent, so that broken legacy streams can be resumed. Without it they cannot.
   *
   * In 2025-11-25 the stream of an answer then begins at once, so that its client can come back. For a verified caller it waits 200 ms: a call
   * that is refused for lack of scope by then gets status 403 with its challenge. A later refusal is a JSON-RPC error in the stream.
   *
   * @default none
   */
  readonly eventStore?: EventStore | undefined;

  /**
   * What sessions and streams are counted by. Called at most once a request.
   *
   * @default the principal, or the remote address of anonymous callers; of IPv6 the /64
   */
  readonly limitKey?: ((subject: LimitSubject) => string) | undefined;
  /**
   * How many sessions there may be, and how many listen, GET and HTTP+SSE streams. Past it, a new session takes the place of an idle one;
   * where there is none, and for streams, the answer is 503.
   *
   * @default 10_000
   */
  readonly maxSessions?: number | undefined;
  /** How many of them, and how many of those streams, with one `limitKey`. @default 1_000 */
  readonly maxSessionsPerKey?: number | undefined;
  /** A session without requests and streams ends after this many milliseconds. @default 30 minutes */
  readonly sessionIdleMs?: number | undefined;
  /** The longest body of a request, in bytes; 413 past it. @default 4 MiB */
  readonly maxBodyBytes?: number | undefined;
  /**
   * How long a body may take to arrive (408 past it), and how long a client may take nothing of its answer before the connection is cut, in
   * milliseconds.
   *
   * @default 30_000
   */
  readonly stallMs?: number | undefined;

  /** What tells the time. @default the system's */
  readonly clock?: Clock | undefined;
  /**
   * Where faults are logged, those of handlers too as long as the server has no logger of its own.
   *
   * @default one that writes nothing; `serveHttp` and the mounts on Express and Fastify write warnings and what is worse to standard error
   */
  readonly logger?: Logger | undefined;
}

/** The options of `serveHttp`, beside those of `createHttpHandler`. */
export interface ServeHttpOptions extends HttpHandlerOptions {
  /** The port to listen on, which has no default; 0 for any that is free. */
  readonly port: number;
  /** The address to listen on. Anything but loopback is open to the network: give a `tokenVerifier`. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** Closes the server when it aborts. @default none */
  readonly signal?: AbortSignal | undefined;
  /** How long calls in flight may go on, and their answers go out, when the server closes, in milliseconds. @default 5_000 */
  readonly drainMs?: number | undefined;
}

/** Of both functions: a program may hand the same options to either. */
const TABLE: OptionTable<ServeHttpOptions> = {
  port: 'any', // `serveHttp` checks its range.
  host: 'string',
  signal: 'object',
  drainMs: 0,
  path: 'string',
  allowedHosts: 'array',
  allowedOrigins: 'array',
  tokenVerifier: 'object',
  resourceMetadata: 'object',
  baseUrl: 'string',
  legacy: 'boolean',
  sessions: 'boolean',
  jsonOnly: 'boolean',
  sse: ['boolean', 'string'],
  sessionStore: 'object',
  messageBus: 'object',
  eventStore: 'object',
  limitKey: 'function',
  maxSessions: 1,
  maxSessionsPerKey: 1,
  sessionIdleMs: 1,
  maxBodyBytes: 1,
  stallMs: 1,
  clock: 'object',
  logger: 'object',
};

const DEFAULTS = {
  legacy: true as boolean,
  sessions: true as boolean,
  jsonOnly: false as boolean,
  limitKey: defaultLimitKey,
  maxSessions: 10_000,
  maxSessionsPerKey: 1_000,
  sessionIdleMs: 30 * 60_000,
  maxBodyBytes: 4 * 1024 * 1024,
  stallMs: 30_000,
  clock: systemClock,
  logger: silentLogger,
};

/** Functions that a given object must have. */
const METHODS: { readonly [Name in keyof HttpHandlerOptions]?: readonly string[] } = {
  tokenVerifier: ['verify'],
  sessionStore: ['get', 'put', 'touch', 'delete', 'deleteExpired'],
  messageBus: ['publish', 'subscribe'],
  eventStore: ['append', 'replay', 'delete'],
};

/** What only `StreamableHTTPServerTransport` sets. */
export interface HandlerTraits {
  /** There is one session: a second `initialize` is refused. */
  readonly isSingle?: boolean | undefined;
  /** Makes the ids of sessions. @default 192 random bits */
  readonly generateId?: (() => string) | undefined;
  /** Called before the client learns of its session, which waits for it. What it throws is logged. */
  readonly onOpened?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** Called when a session has ended, whoever ended it. What it throws is logged. */
  readonly onClosed?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** When a client should come back to a stream that was closed early. @default 1 second */
  readonly retryMs?: number | undefined;
  /** A session for one POST needs no state of a handshake: what is connected handles `initialize` itself, or does without. */
  readonly skipsHandshake?: boolean | undefined;
}

/** Where HTTP+SSE is served. */
export interface SsePaths {
  readonly stream: string;
  readonly messages: string;
}

/** The options with everything that has a default filled in. */
export interface Settings extends Omit<HttpHandlerOptions, keyof typeof DEFAULTS>, HandlerTraits, Readonly<typeof DEFAULTS> {
  readonly guard: Guard;
  readonly ssePaths: SsePaths | undefined;
  readonly retryMs: number;
}

const RETRY_MS = 1_000;

/** @throws {HttpOptionError} `ERR_HTTP_OPTION`: no options object, an option of the wrong kind, or an unknown one. */
export function checkHttpOptions(options: HttpHandlerOptions): void {
  checkOptions<ServeHttpOptions>('options of an HTTP server', options as ServeHttpOptions, TABLE, HttpOptionError);
}

/**
 * Checks the options of `createHttpHandler`, `serveHttp` and the mounts, and fills in the defaults.
 *
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an option of the wrong kind, or an unknown one.
 */
export function toSettings(options: HttpHandlerOptions, traits: HandlerTraits = {}): Settings {
  checkHttpOptions(options);
  checkMethods(options, METHODS);
  const { path, sse, baseUrl } = options;
  for (const [name, given] of Object.entries({ path, sse })) {
    // No request has another path: it would silently be served nowhere.
    if (typeof given === 'string' && !given.startsWith('/'))
      throw new HttpOptionError(`The option "${name}" must begin with "/", got "${given}"`);
  }
  if (baseUrl !== undefined && !URL.canParse(baseUrl))
    throw new HttpOptionError(`The option "baseUrl" must be an absolute URL, got "${baseUrl}"`);
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return {
    ...DEFAULTS,
    ...(given as HttpHandlerOptions & typeof DEFAULTS),
    ...traits,
    guard: new Guard(options),
    logger: guardLogger(options.logger ?? silentLogger),
    ssePaths: toSsePaths(sse),
    retryMs: traits.retryMs ?? RETRY_MS,
  };
}

/** The paths of HTTP+SSE; undefined where it is not served. */
export function toSsePaths(sse: HttpHandlerOptions['sse']): SsePaths | undefined {
  if (sse === undefined || sse === false) return undefined;
  const stream = sse === true ? '/sse' : sse;
  return { stream, messages: stream.replace(/[^/]*$/, 'messages') };
}

/** A verified caller counts as itself, an anonymous one as its address: of IPv6 the network, since one host has many addresses. */
function defaultLimitKey({ principal, remoteAddress }: LimitSubject): string {
  if (principal !== 'anonymous') return `principal ${principal}`;
  return `address ${toNetwork(remoteAddress ?? 'unknown')}`;
}
