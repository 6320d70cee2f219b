/** Manages the connections of one WebSocket server: accepts, counts, pings and closes them. */

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock, Connectable, Logger, ServerConnection } from '@mortise/jsonrpc-core';
import { checkOptions, guardLogger, type OptionTable, silentLogger, systemClock } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, TokenVerifier } from '@mortise/protocol/contracts';
import { createHostGuard, type HostGuard, KeyedLimit } from '@mortise/protocol/edge';
import { type WebSocket, WebSocketServer } from 'ws';
import { Heartbeat } from './heartbeat.ts';
import type { MessageSocket, ServerResumption } from './message-socket.ts';
import { type CloseReason, SocketTransport } from './socket-transport.ts';
import { addressKey, checkUpgrade, refuseUpgrade, UpgradeRefusal, verifyUpgrade } from './upgrade.ts';
import { CloseCode, MCP_PROTOCOL } from './wire.ts';
import { toInt32, WsSocket } from './ws-socket.ts';

/** The options of `attachWebSocket`. `serveWebSocket` has these and more. */
export interface WebSocketServerOptions {
  /** The path that clients connect to. @default '/mcp' */
  readonly path?: string | undefined;
  /** Allowed `Host` headers; one without a port allows every port. @default loopback names on a loopback address, else any */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Origins of web pages that may connect: `https://app.example.com`. @default loopback origins on a loopback address, else none */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Verifies the token of a new connection, within 10 s. When the token expires, the connection ends. @default none: anyone may connect */
  readonly tokenVerifier?: TokenVerifier | undefined;
  /** This server's public URL, such as `https://api.example.com`, for the token verifier. Set it behind a proxy. @default from `Host` */
  readonly baseUrl?: string | undefined;
  /** Gives the key by which `maxConnectionsPerKey` counts. @default the principal, else the remote address (for IPv6 its /64) */
  readonly limitKey?: ((request: IncomingMessage, auth: AuthInfo | undefined) => string) | undefined;
  /** How many connections may be open; further ones get 503. @default 10_000 */
  readonly maxConnections?: number | undefined;
  /** How many connections of one `limitKey` may be open; further ones get 429. @default 1_000 */
  readonly maxConnectionsPerKey?: number | undefined;
  /** The longest message that a client may send, in bytes; a longer one ends the connection with 1009. @default 4 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** The time between two pings, in milliseconds; 0 sends none. A dead client is noticed within two pings. @default 15_000 */
  readonly heartbeatMs?: number | undefined;
  /** Lets clients resume after a broken connection: pass `resumeOnServer()` of this package's entry `/resume`. @default none: they cannot */
  readonly resume?: ServerResumption | undefined;
  /** The clock of timeouts and pings. @default the platform's */
  readonly clock?: Clock | undefined;
  /**
   * Gets log messages about refused upgrades and internal errors. If the served server has no logger, also about broken connections and
   * errors of handlers.
   *
   * @default none; `serveWebSocket` writes warnings and errors to standard error
   */
  readonly logger?: Logger | undefined;
}

const OPTIONS: OptionTable<WebSocketServerOptions> = {
  path: 'string',
  allowedHosts: 'array',
  allowedOrigins: 'array',
  tokenVerifier: 'object',
  baseUrl: 'string',
  limitKey: 'function',
  maxConnections: 1,
  maxConnectionsPerKey: 1,
  maxMessageBytes: 1,
  heartbeatMs: 0,
  resume: 'object',
  clock: 'object',
  logger: 'object',
};

const VERIFY_TIMEOUT_MS = 10_000;
/** How many bytes may wait for a client that reads slowly. A further message ends the connection with 1013. */
const MAX_BACKLOG_BYTES = 16 * 1024 * 1024;
const RETRY_LATER = { 'Retry-After': '5' };
const ANONYMOUS = 'anonymous';

const SHUTDOWN: CloseReason = [CloseCode.goingAway, 'the server shuts down'];
const FAILED: CloseReason = [CloseCode.internalError, 'the server could not serve the connection'];

export class SocketHost {
  /** The option `logger`, wrapped so that logging never throws. */
  readonly logger: Logger;
  readonly path: string;
  readonly #server: Connectable;
  readonly #options: WebSocketServerOptions;
  readonly #maxMessageBytes: number;
  readonly #guard: HostGuard;
  readonly #upgrades: WebSocketServer;
  readonly #limit: KeyedLimit;
  /** Counts the upgrades whose token is being verified, by remote address. */
  readonly #pending: KeyedLimit;
  readonly #clock: Clock;
  readonly #heartbeat: Heartbeat | undefined;
  readonly #connections = new Map<ServerConnection, SocketTransport>();
  readonly #opening = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  /** @throws {TypeError} `server` is not a server, or an option is unknown or has a wrong value. */
  constructor(server: Connectable, options: WebSocketServerOptions) {
    if (typeof (server as Partial<Connectable> | undefined)?.connect !== 'function')
      throw new TypeError('The given value is not a server: it has no function "connect". Pass an McpServer or a Server');
    checkOptions('WebSocket server options', options, OPTIONS);
    const { path = '/mcp', maxConnections = 10_000, maxConnectionsPerKey = 1000, heartbeatMs = 15_000, resume, allowedHosts } = options;
    const { clock = systemClock, logger = silentLogger, allowedOrigins, maxMessageBytes = 4 * 1024 * 1024 } = options;
    if (!path.startsWith('/') || /[?#]/.test(path)) throw new TypeError(`"path" must begin with "/" and have no query, got "${path}"`);
    this.path = path;
    this.#server = server;
    this.#options = options;
    this.#maxMessageBytes = maxMessageBytes;
    this.#guard = createHostGuard({ ...(allowedHosts && { allowedHosts }), ...(allowedOrigins && { allowedOrigins }) });
    this.#limit = new KeyedLimit(maxConnections, maxConnectionsPerKey);
    this.#pending = new KeyedLimit(maxConnections, maxConnectionsPerKey);
    this.#clock = clock;
    this.logger = guardLogger(logger);
    this.#heartbeat = heartbeatMs > 0 ? new Heartbeat(heartbeatMs, clock) : undefined;
    this.#upgrades = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      // Compression costs memory for each connection, and leaks secrets to an attacker who can add text to a message.
      perMessageDeflate: false,
      maxPayload: toInt32(maxMessageBytes),
      handleProtocols: (offered) => (resume && offered.has(resume.protocol) ? resume.protocol : MCP_PROTOCOL),
    });
  }

  /** How many connections are open. */
  get count(): number {
    return this.#limit.total;
  }

  /** Tells whether an upgrade request is for the path that this server serves. */
  isFor(request: IncomingMessage): boolean {
    const { url = '' } = request;
    // With a base, "//evil/mcp" would be the path "/mcp" of another host.
    const target = url.startsWith('/') ? `http://host${url}` : url;
    return URL.canParse(target) && new URL(target).pathname === this.path;
  }

  /** Accepts or refuses a WebSocket upgrade. Never throws. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Node does not handle the errors of an upgraded socket.
    socket.on('error', () => undefined);
    const opening = this.#accept(request, socket, head)
      .catch((error: unknown) => this.#refuse(request, socket, error))
      .finally(() => this.#opening.delete(opening));
    this.#opening.add(opening);
  }

  /** Refuses new connections, lets running requests finish for at most `drainMs`, and closes all connections. */
  close(drainMs: number): Promise<void> {
    this.#closed ??= this.#close(drainMs);
    return this.#closed;
  }

  async #close(drainMs: number): Promise<void> {
    this.#closing.abort(new UpgradeRefusal(503, 'The server is shutting down: try again later', RETRY_LATER));
    for (const transport of this.#connections.values()) transport.closeReason = SHUTDOWN;
    await this.#endAll((connection) => connection.drain(drainMs));
    await Promise.all(this.#opening);
    await this.#endAll((connection) => connection.close());
  }

  /** Ends all connections by `end`, and logs the errors of those that fail to end. */
  async #endAll(end: (connection: ServerConnection) => Promise<void>): Promise<void> {
    const ended = Array.from(this.#connections, ([connection, transport]) =>
      end(connection).catch((error: unknown) => {
        this.logger.log('error', 'The server failed to end a connection', { error: String(error) });
        return transport.close();
      }),
    );
    await Promise.all(ended);
  }

  async #accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    checkUpgrade(request, this.#guard);
    const auth = await this.#verify(request, socket);
    const key = this.#options.limitKey?.(request, auth) ?? auth?.principal ?? addressKey(request);
    const release = this.#enter(this.#limit, key);
    if (socket.destroyed) return release();
    socket.once('close', release);
    this.#upgrades.handleUpgrade(request, socket, head, (ws) => void this.#join(ws, socket, { auth, key }));
  }

  /** Verifies the token of an upgrade. Meanwhile, the upgrade counts against the limits of connections. */
  async #verify(request: IncomingMessage, socket: Duplex): Promise<AuthInfo | undefined> {
    const { tokenVerifier } = this.#options;
    if (!tokenVerifier) return undefined;
    const leave = this.#enter(this.#pending, addressKey(request));
    const given = new AbortController();
    const giveUp = (): void => given.abort();
    const timer = this.#clock.schedule(giveUp, VERIFY_TIMEOUT_MS);
    socket.once('close', giveUp);
    try {
      return await verifyUpgrade(request, tokenVerifier, this.#toUrl(request), given.signal);
    } finally {
      timer.cancel();
      socket.off('close', giveUp);
      leave();
    }
  }

  #toUrl(request: IncomingMessage): string {
    const isEncrypted = (request.socket as { encrypted?: boolean }).encrypted === true;
    const base = this.#options.baseUrl ?? `${isEncrypted ? 'https' : 'http'}://${request.headers.host ?? ''}`;
    return new URL(this.path, base).href;
  }

  /** Counts an upgrade or connection. @returns A function that uncounts it. @throws {UpgradeRefusal} 503 or 429: a limit is reached. */
  #enter(limit: KeyedLimit, key: string): () => void {
    this.#closing.signal.throwIfAborted();
    const full = limit.check(key);
    if (full === 'all') throw new UpgradeRefusal(503, 'The server has reached its limit of connections: try again later', RETRY_LATER);
    if (full === 'key') throw new UpgradeRefusal(429, 'You have too many open connections: close some', RETRY_LATER);
    limit.acquire(key);
    return () => limit.release(key);
  }

  /** Serves a new WebSocket: as a connection of its own, or as the next socket of a resumable channel. */
  async #join(ws: WebSocket, stream: Duplex, { auth, key }: { readonly auth: AuthInfo | undefined; readonly key: string }): Promise<void> {
    const { resume } = this.#options;
    const socket = new WsSocket(ws, this.#maxMessageBytes, stream);
    if (!resume || ws.protocol !== resume.protocol) return this.#serve(socket, auth);
    try {
      const host = { clock: this.#clock, signal: this.#closing.signal };
      const channel = await resume.accept(socket, { principal: auth?.principal ?? ANONYMOUS, key }, host);
      if (channel) await this.#serve(channel, auth);
    } catch (error) {
      this.logger.log('info', 'A WebSocket ended before its first frame', { error: nameOf(error) });
    }
  }

  async #serve(socket: MessageSocket, auth: AuthInfo | undefined): Promise<void> {
    const transport = new SocketTransport({
      open: () => Promise.resolve(socket),
      clock: this.#clock,
      heartbeat: this.#heartbeat,
      maxBacklogBytes: MAX_BACKLOG_BYTES,
      info: auth ? { principal: auth.principal, auth } : { principal: ANONYMOUS },
      expiresAtMs: auth?.expiresAtMs,
    });
    try {
      const connection = await this.#server.connect(transport, this.#options.logger === undefined ? {} : { logger: this.logger });
      this.#connections.set(connection, transport);
      void connection.closed.then(() => this.#connections.delete(connection));
      if (!this.#closing.signal.aborted) return;
      transport.closeReason = SHUTDOWN;
      await connection.close();
    } catch (error) {
      this.logger.log('error', 'A WebSocket could not be served', { error: String(error) });
      transport.closeReason = FAILED;
      // Only a started transport can send a close code.
      await transport.start().catch(() => undefined);
      await transport.close();
    }
  }

  #refuse(request: IncomingMessage, socket: Duplex, error: unknown): void {
    if (!(error instanceof UpgradeRefusal)) this.logger.log('error', 'An upgrade failed', { error: nameOf(error) });
    const refusal = error instanceof UpgradeRefusal ? error : new UpgradeRefusal(500, 'The upgrade failed');
    this.logger.log('info', 'An upgrade was refused', { status: refusal.status, reason: refusal.message });
    refuseUpgrade(request, socket, refusal);
  }
}

/** Gives the name of an error, not its message, which may contain input of the client such as its token. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
