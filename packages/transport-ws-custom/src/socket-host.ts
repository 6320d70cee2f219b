/** Everything that is open on one server: accepts, counts, watches and drains. */

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock, Connectable, Logger, ServerConnection, Transport } from '@mortise/jsonrpc-core';
import { type ConnectOptions, guardLogger, silentLogger, systemClock } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo } from '@mortise/protocol/contracts';
import { type HostGuard, KeyedLimit } from '@mortise/protocol/edge';
import { type WebSocket, WebSocketServer } from 'ws';
import { addressKey, checkUpgrade, createUpgradeGuard, verifyUpgrade } from './check-upgrade.ts';
import { CloseCode } from './close-codes.ts';
import { WebSocketOptionError } from './errors.ts';
import { Heartbeat } from './heartbeat.ts';
import type { MessageSocket } from './message-socket.ts';
import { ResumableChannels } from './resumable-channels.ts';
import { createSocketTransport } from './socket-transport.ts';
import { MCP_PROTOCOL, RESUME_PROTOCOL } from './subprotocol.ts';
import { refuseUpgrade, UpgradeRefusal } from './upgrade-refusal.ts';
import { checkOptions, type WebSocketServerOptions } from './web-socket-options.ts';
import { toInt32, WsSocket } from './ws-socket.ts';

const DEFAULT_MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const ANONYMOUS = 'anonymous';

export class SocketHost {
  /** Where faults go; it never throws. */
  readonly logger: Logger;
  readonly #server: Connectable;
  readonly #options: WebSocketServerOptions;
  readonly #guard: HostGuard;
  readonly #upgrades: WebSocketServer;
  readonly #limit: KeyedLimit;
  readonly #pending: KeyedLimit;
  readonly #clock: Clock;
  readonly #connectOptions: ConnectOptions;
  readonly #heartbeat: Heartbeat | undefined;
  readonly #channels: ResumableChannels | undefined;
  readonly #connections = new Map<ServerConnection, Transport>();
  readonly #opening = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  /** @throws {WebSocketOptionError} */
  constructor(server: Connectable, options: WebSocketServerOptions) {
    if (typeof (server as Partial<Connectable> | undefined)?.connect !== 'function')
      throw new WebSocketOptionError('What is served must be a server, such as an McpServer: it has no function "connect"');
    checkOptions(options);
    const {
      maxConnections = 10_000,
      maxConnectionsPerKey = 1000,
      heartbeatMs = 15_000,
      clock = systemClock,
      logger = silentLogger,
    } = options;
    this.#server = server;
    this.#options = options;
    this.#guard = createUpgradeGuard(options);
    this.#limit = new KeyedLimit(maxConnections, maxConnectionsPerKey);
    this.#pending = new KeyedLimit(maxConnections, maxConnectionsPerKey);
    this.#clock = clock;
    this.logger = guardLogger(logger);
    this.#connectOptions = options.logger === undefined ? {} : { logger: this.logger };
    this.#heartbeat = heartbeatMs > 0 ? new Heartbeat(heartbeatMs, clock) : undefined;
    const { eventStore, resumeWindowMs: windowMs = 60_000, maxWaitingChannels: maxWaiting = 1000 } = options;
    this.#channels = eventStore && new ResumableChannels({ eventStore, windowMs, maxWaiting, clock });
    this.#upgrades = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      // Compressing would cost memory for each connection, and give an attacker who can add to a message its secrets.
      perMessageDeflate: false,
      maxPayload: toInt32(options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES),
      handleProtocols: (offered) => (this.#channels && offered.has(RESUME_PROTOCOL) ? RESUME_PROTOCOL : MCP_PROTOCOL),
    });
  }

  /** How many connections are open. */
  get count(): number {
    return this.#limit.total;
  }

  /** Tells whether an upgrade is for this host, by its path. */
  isFor(request: IncomingMessage): boolean {
    return pathOf(request.url ?? '') === (this.#options.path ?? '/mcp');
  }

  /** Answers an upgrade. Never throws or rejects. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Node leaves an upgraded socket's errors to whoever has it.
    socket.on('error', () => undefined);
    const opening = this.#accept(request, socket, head)
      .catch((error: unknown) => this.#refuse(request, socket, error))
      .finally(() => this.#opening.delete(opening));
    this.#opening.add(opening);
  }

  /** Refuses new connections, lets the calls in flight finish, and closes. */
  close(drainMs: number): Promise<void> {
    this.#closed ??= this.#close(drainMs);
    return this.#closed;
  }

  async #close(drainMs: number): Promise<void> {
    this.#closing.abort(new UpgradeRefusal(503, 'The server is shutting down: try again later', { 'Retry-After': '5' }));
    await this.#endAll((connection) => connection.drain(drainMs));
    await Promise.all(this.#opening);
    await this.#endAll((connection) => connection.close());
  }

  /** One that fails at it keeps no other from ending, and ends all the same. */
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
    const auth = await this.#admit(request, socket);
    const key = this.#options.limitKey?.(request, auth) ?? auth?.principal ?? addressKey(request);
    this.#checkLimit(this.#limit, key);
    this.#limit.acquire(key);
    const release = (): void => this.#limit.release(key);
    if (socket.destroyed) return release();
    socket.once('close', release);
    this.#upgrades.handleUpgrade(request, socket, head, (ws) => void this.#join(ws, socket, { auth, key }));
  }

  /** Checks the token; callers that are still being checked are counted, too. */
  async #admit(request: IncomingMessage, socket: Duplex): Promise<AuthInfo | undefined> {
    const key = addressKey(request);
    this.#checkLimit(this.#limit, undefined);
    if (!this.#options.tokenVerifier) return undefined;
    this.#checkLimit(this.#pending, key);
    this.#pending.acquire(key);
    const timeout = new AbortController();
    const abort = (): void => timeout.abort();
    const timer = this.#clock.schedule(abort, this.#options.upgradeTimeoutMs ?? 10_000);
    socket.once('close', abort);
    try {
      return await raceAbort(verifyUpgrade(request, this.#options, timeout.signal), timeout.signal);
    } finally {
      timer.cancel();
      socket.off('close', abort);
      this.#pending.release(key);
    }
  }

  #checkLimit(limit: KeyedLimit, key: string | undefined): void {
    this.#closing.signal.throwIfAborted();
    const full = limit.check(key ?? '');
    if (full === 'all')
      throw new UpgradeRefusal(503, 'The server has as many connections as it takes: try again later', { 'Retry-After': '5' });
    if (full === 'key') throw new UpgradeRefusal(429, 'Too many connections of yours are open: close some', { 'Retry-After': '5' });
  }

  /** Serves what a socket opens: a connection for as long as it lasts, or a channel that outlives it. */
  async #join(ws: WebSocket, stream: Duplex, { auth, key }: { readonly auth: AuthInfo | undefined; readonly key: string }): Promise<void> {
    const opened = new WsSocket(ws, this.#options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES, stream);
    if (!this.#channels || ws.protocol !== RESUME_PROTOCOL) return this.#serve(opened, auth);
    try {
      const channel = await this.#channels.accept(opened, { principal: auth?.principal ?? ANONYMOUS, key }, this.#closing.signal);
      if (channel) await this.#serve(channel, auth);
    } catch (error) {
      this.logger.log('info', 'A WebSocket ended before it said hello', { error: nameOf(error) });
    }
  }

  async #serve(opened: MessageSocket, auth: AuthInfo | undefined): Promise<void> {
    let hasFailed = false;
    const transport = this.#createTransport(opened, auth, () => {
      if (hasFailed) return [CloseCode.internalError, 'the server could not serve the connection'];
      return this.#closing.signal.aborted ? [CloseCode.goingAway, 'the server shuts down'] : [CloseCode.normal, ''];
    });
    try {
      const connection = await this.#server.connect(transport, this.#connectOptions);
      this.#connections.set(connection, transport);
      void connection.closed.then(() => this.#connections.delete(connection));
      if (this.#closing.signal.aborted) await connection.close();
    } catch (error) {
      this.logger.log('error', 'A WebSocket could not be served', { error: String(error) });
      hasFailed = true;
      // Only an open transport can say why it closes.
      await transport.start().catch(() => undefined);
      await transport.close();
    }
  }

  #createTransport(
    opened: MessageSocket,
    auth: AuthInfo | undefined,
    closeReason: () => readonly [code: number, reason: string],
  ): Transport {
    const { maxQueuedBytes, stallMs, closeTimeoutMs } = this.#options;
    return createSocketTransport(() => Promise.resolve(opened), {
      maxQueuedBytes,
      maxBacklogBytes: this.#options.maxBacklogBytes ?? 16 * 1024 * 1024,
      holdsInputFor: 'all',
      stallMs,
      closeTimeoutMs,
      info: auth ? { principal: auth.principal, auth } : { principal: ANONYMOUS },
      expiresAtMs: auth?.expiresAtMs,
      heartbeat: this.#heartbeat,
      clock: this.#clock,
      closeReason,
    });
  }

  #refuse(request: IncomingMessage, socket: Duplex, error: unknown): void {
    if (!(error instanceof UpgradeRefusal)) this.logger.log('error', 'An upgrade failed', { error: nameOf(error) });
    const refusal = error instanceof UpgradeRefusal ? error : new UpgradeRefusal(500, 'The upgrade failed');
    this.logger.log('info', 'An upgrade was refused', { status: refusal.status, reason: refusal.message });
    refuseUpgrade(request, socket, refusal);
  }
}

function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener(
      'abort',
      () => reject(new UpgradeRefusal(503, 'The token could not be checked in time: try again', { 'Retry-After': '1' })),
      { once: true },
    );
    promise.then(resolve, reject);
  });
}

/** The path of a request target, also of one in absolute form. */
function pathOf(target: string): string {
  try {
    return new URL(target, 'http://host').pathname;
  } catch {
    return '';
  }
}

/** Says which error it was without its message, which may hold what the client sent, its token too. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
