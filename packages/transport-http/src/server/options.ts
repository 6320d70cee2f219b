/** The options of HTTP servers, and their defaults. */

import type { Clock, JsonObject, Logger } from '@mortise/jsonrpc-core';
import { checkOptions, guardLogger, type OptionTable, silentLogger, systemClock } from '@mortise/jsonrpc-core/transport';
import type { CallOrigin, CloseOptions, EventStore, MessageBus, Principal, SessionStore, TokenVerifier } from '@mortise/protocol/contracts';
import { toNetwork } from '@mortise/protocol/edge';
import { HttpOptionError } from '../errors.ts';
import { Guard } from './http/guard.ts';

/** Who sent a request: what `limitKey` gets to compute its key. */
export interface LimitSubject extends CallOrigin {
  /** The verified caller, or `anonymous`. */
  readonly principal: Principal;
}

/** The options of `createHttpHandler`. All are optional. */
export interface HttpHandlerOptions {
  /**
   * The path of the MCP endpoint. Without it, `createHttpHandler` treats every path that is routed to it as the endpoint.
   *
   * @default any; '/mcp' with `serveHttp` and the mounts
   */
  readonly path?: string | undefined;

  /**
   * More hosts that the `Host` header of a request may name. Loopback hosts on a loopback socket are always allowed. An entry without a
   * port allows any port. Needed behind a proxy, and on platforms that do not report the socket's address.
   *
   * @default none
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * The origins of web pages that may call the server, such as `https://app.example`; `*` for any. Loopback pages may call a loopback
   * server.
   *
   * @default none
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Verifies the bearer tokens of requests. Without a verifier every caller is `anonymous`. A stream that listens ends when its token
   * expires, and the client opens it again.
   *
   * @default none
   */
  readonly tokenVerifier?: TokenVerifier | undefined;
  /** Protected resource metadata (RFC 9728), served at its well-known path and linked in challenges. @default none */
  readonly resourceMetadata?: JsonObject | undefined;
  /** The server's public URL, if it is behind a proxy: `https://mcp.example.com`. @default the host of each request */
  readonly baseUrl?: string | undefined;

  /** Whether to serve the revisions of the legacy era, which begin with `initialize`. @default true */
  readonly legacy?: boolean | undefined;
  /**
   * Whether legacy clients get sessions. Without sessions, the server cannot send them requests (elicitation, sampling, roots).
   *
   * @default true
   */
  readonly sessions?: boolean | undefined;
  /** Sends each response as one JSON body, and drops progress and logs. `subscriptions/listen` and GET still stream. @default false */
  readonly jsonOnly?: boolean | undefined;
  /**
   * Serves HTTP+SSE, the transport of the oldest revision. `true` opens event streams at `/sse`; a string sets another path. Clients post
   * their messages to `messages` next to that path.
   *
   * @default false
   * @deprecated since 2025-03-26: clients should use Streamable HTTP.
   */
  readonly sse?: boolean | string | undefined;

  /** Stores legacy sessions, so that several processes can serve them. @default the memory of this process */
  readonly sessionStore?: SessionStore | undefined;
  /**
   * Connects several processes that serve the same sessions: passes clients' answers to the process that waits for them, and tells the
   * others that a session has changed or ended.
   *
   * @default none: one process
   */
  readonly messageBus?: MessageBus | undefined;
  /**
   * Stores the events that are sent, so that clients can resume legacy event streams that broke. Without it they cannot.
   *
   * With an event store, revision 2025-11-25 sends responses as streams that start at once, so that the client can resume them. For a
   * verified caller they start after 200 ms: until then, a call with missing scopes gets status 403 and the challenge. Later it gets a
   * JSON-RPC error.
   *
   * @default none
   */
  readonly eventStore?: EventStore | undefined;

  /**
   * Returns the key of a caller: each key has its own limit of sessions and streams. Called at most once per request.
   *
   * @default the principal; for anonymous callers the remote address (IPv6: its /64 network)
   */
  readonly limitKey?: ((subject: LimitSubject) => string) | undefined;
  /**
   * The maximum number of sessions, and of open streams (`subscriptions/listen`, GET and HTTP+SSE). When it is reached, a new session
   * replaces an idle one. If none is idle, and for streams, the status is 503.
   *
   * @default 10_000
   */
  readonly maxSessions?: number | undefined;
  /** The maximum number of sessions, and of open streams, for callers with the same `limitKey`. @default 1_000 */
  readonly maxSessionsPerKey?: number | undefined;
  /** How long a session without requests and streams is kept, in milliseconds. @default 30 minutes */
  readonly sessionIdleMs?: number | undefined;
  /** The maximum size of a request body, in bytes. Above it the status is 413. @default 4 MiB */
  readonly maxBodyBytes?: number | undefined;
  /**
   * How long a request body may take to arrive, in milliseconds; then the status is 408. Also how long a client may read nothing of a
   * response; then the connection is aborted.
   *
   * @default 25_000
   */
  readonly stallMs?: number | undefined;

  /** The clock for timeouts and expiry. @default the system clock */
  readonly clock?: Clock | undefined;
  /**
   * The logger for errors. It also gets those of handlers, if the server has no logger of its own.
   *
   * @default none; `serveHttp` and the mounts on Express and Fastify write warnings and more severe levels to standard error
   */
  readonly logger?: Logger | undefined;
}

/** The options of `serveHttp`: where to listen, and all options of `createHttpHandler`. */
export interface ServeHttpOptions extends HttpHandlerOptions, CloseOptions {
  /** The port to listen on. Required. 0 means any free port. */
  readonly port: number;
  /** The address to listen on. Any other than loopback is open to the network: set a `tokenVerifier`. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** A signal that closes the server when it is aborted. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** The checks of all options. One table serves `createHttpHandler` and `serveHttp`, because a program may pass the same options to both. */
const TABLE: OptionTable<ServeHttpOptions> = {
  port: 'any', // `serveHttp` checks its range.
  host: 'string',
  signal: 'signal',
  drainMs: 0,
  path: 'string',
  allowedHosts: 'array',
  allowedOrigins: 'array',
  tokenVerifier: { methods: ['verify'] },
  resourceMetadata: 'object',
  baseUrl: 'string',
  legacy: 'boolean',
  sessions: 'boolean',
  jsonOnly: 'boolean',
  sse: ['boolean', 'string'],
  sessionStore: { methods: ['get', 'put', 'delete'] },
  messageBus: { methods: ['publish', 'subscribe'] },
  eventStore: { methods: ['append', 'replay', 'delete'] },
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
  stallMs: 25_000,
  clock: systemClock,
  logger: silentLogger,
};

/** Settings that only `StreamableHTTPServerTransport` uses. */
export interface HandlerTraits {
  /** Whether the handler serves only one session, so that a second `initialize` is refused. */
  readonly isSingle?: boolean | undefined;
  /** Makes session ids. @default 192 random bits */
  readonly generateId?: (() => string) | undefined;
  /** Called when a session has begun, and awaited before the client gets the session id. Errors are logged. */
  readonly onOpened?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** Called when the client or the server has ended a session. Errors are logged. */
  readonly onClosed?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** How long a client should wait before it resumes a stream that the server closed early. @default 1 second */
  readonly retryMs?: number | undefined;
  /** Whether a session that serves only one POST starts without simulating `initialize`, because the connected server does not need it. */
  readonly skipsHandshake?: boolean | undefined;
}

/** The two paths of HTTP+SSE: for the event stream, and for posting messages. */
export interface SsePaths {
  readonly stream: string;
  readonly messages: string;
}

/** The options of a handler, with defaults filled in. */
export interface Settings extends Omit<HttpHandlerOptions, keyof typeof DEFAULTS>, HandlerTraits, Readonly<typeof DEFAULTS> {
  readonly guard: Guard;
  readonly ssePaths: SsePaths | undefined;
  readonly retryMs: number;
}

const RETRY_MS = 1_000;

/** Checks the options. @throws {HttpOptionError} `ERR_HTTP_OPTION`: not an object, or an option is unknown or has an invalid value. */
export function checkHttpOptions(options: HttpHandlerOptions): void {
  checkOptions<ServeHttpOptions>('options of an HTTP server', options as ServeHttpOptions, TABLE, HttpOptionError);
}

/**
 * Checks the options of `createHttpHandler`, `serveHttp` and the mounts, and fills in the defaults.
 *
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an option is unknown or has an invalid value.
 */
export function toSettings(options: HttpHandlerOptions, traits: HandlerTraits = {}): Settings {
  checkHttpOptions(options);
  const { path, sse, baseUrl } = options;
  for (const [name, given] of Object.entries({ path, sse })) {
    // No request would match another path.
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

/** Returns the paths of HTTP+SSE from the option `sse`; undefined if HTTP+SSE is off. */
export function toSsePaths(sse: HttpHandlerOptions['sse']): SsePaths | undefined {
  if (sse === undefined || sse === false) return undefined;
  const stream = sse === true ? '/sse' : sse;
  return { stream, messages: stream.replace(/[^/]*$/, 'messages') };
}

/** The default of `limitKey`: the principal or, if anonymous, the address. For IPv6 its network, because one host has many addresses. */
function defaultLimitKey({ principal, remoteAddress }: LimitSubject): string {
  if (principal !== 'anonymous') return `principal ${principal}`;
  return `address ${toNetwork(remoteAddress ?? 'unknown')}`;
}
