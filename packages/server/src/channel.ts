/** One connection of a server. Legacy and modern requests may be mixed on it, but no two requests in progress may have the same id. */

import {
  isMortiseError,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type ServerConnection,
  type Transport,
} from '@mortise/jsonrpc-core';
import { Connection, type ConnectionRules, type InboundCall } from '@mortise/jsonrpc-core/connection';
import type { MessageInfo } from '@mortise/jsonrpc-core/transport';
import type { Revision, ServerCapabilities } from '@mortise/protocol';
import type { AuthInfo } from '@mortise/protocol/contracts';
import { KeepAlive, type KeepAliveTarget } from '@mortise/protocol/edge';
import { isModernParams } from '@mortise/protocol/wire';
import { ChannelCall, LOCAL } from './calls.ts';
import type { Listen } from './listen.ts';
import type { Server } from './server.ts';
import type { ClientFacts } from './middleware/middleware.ts';
import type { Served } from './serve-request.ts';
import { type ClientRequestOptions, Session } from './session.ts';

/** Starts a transport and serves its messages until it closes. Rejects if the transport cannot be started. */
export async function openChannel(server: Server, transport: Transport): Promise<ServerConnection> {
  const channel = new Channel(server, transport);
  await channel.start();
  return channel;
}

/** A server on one transport. */
export class Channel implements ServerConnection, ConnectionRules, KeepAliveTarget {
  readonly listens: Set<Listen> = new Set();
  readonly isAnswering = true;
  readonly #server: Server;
  readonly #connection: Connection;
  #session: Session | undefined;
  #keepAlive: KeepAlive | undefined;
  /** Whether a modern request has arrived. A client that sends one also accepts an error response without an id. */
  #hasModernClient = false;

  constructor(server: Server, transport: Transport) {
    this.#server = server;
    this.#connection = new Connection(transport, {
      onRequest: (request, inbound) => this.#onRequest(request, inbound),
      onNotification: (notification, info) => this.#onNotification(notification, info),
      onError: (error) => server.logger.log(isMortiseError(error) ? 'notice' : 'warning', error.message),
      rules: this,
      maxInFlightBytes: server.options.maxInFlightBytes,
      clock: server.clock,
    });
    void this.#connection.closed.then(() => this.#onClose());
  }

  get isBatchingOn(): boolean {
    return this.#session?.revision?.rules.batching ?? false;
  }
  get isErrorIdOptional(): boolean {
    return this.#session?.revision?.rules.errorIdOptional ?? this.#hasModernClient;
  }

  get closed(): Promise<void> {
    return this.#connection.closed;
  }

  async start(): Promise<void> {
    this.#server.channels.add(this);
    const { options, clock } = this.#server;
    const { keepAliveMs = Infinity } = options;
    if (keepAliveMs !== Infinity) this.#keepAlive = new KeepAlive(this, keepAliveMs, clock);
    await this.#connection.start();
  }

  async drain(deadlineMs: number): Promise<void> {
    await Promise.all([...this.listens].map((listen) => listen.end()));
    await (deadlineMs > 0 ? this.#connection.drain(deadlineMs) : this.#connection.close());
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  send(notification: JsonRpcNotification): Promise<void> {
    return this.#connection.notify(notification.method, notification.params);
  }

  /** Only legacy clients are pinged, once they are ready. */
  ping(timeoutMs: number): Promise<JsonObject> | undefined {
    return this.#session?.isReady ? this.#connection.request('ping', undefined, { timeoutMs, resetTimeoutOnProgress: false }) : undefined;
  }

  onNoResponse(inARow: number): void {
    const { sessionId } = this.#connection.transport;
    this.#server.logger.log('warning', 'A ping got no response', { sessionId, inARow });
  }

  onGone(): void {
    void this.close();
  }

  #onRequest(request: JsonRpcRequest, inbound: InboundCall): Served {
    this.#keepAlive?.heard();
    const call = new ChannelCall(inbound, this);
    if (isModernParams(request.params)) {
      this.#hasModernClient = true;
      return this.#server.handle(request, call);
    }
    this.#session ??= new ChannelSession(this.#server, this.#connection, call);
    return this.#server.handle(request, call, this.#session);
  }

  #onNotification(notification: JsonRpcNotification, info: MessageInfo | undefined): void {
    this.#keepAlive?.heard();
    this.#session?.notice(notification, { principal: info?.principal ?? LOCAL, auth: info?.auth as AuthInfo | undefined });
    this.#session?.ready.catch((error: unknown) =>
      this.#server.logger.log('error', 'The message bus failed: a client does not get change notifications', { error }),
    );
  }

  #onClose(): void {
    this.#keepAlive?.stop();
    this.#server.channels.delete(this);
    void this.#session?.close();
  }
}

/** The legacy session of a connection. It belongs to the principal that sent the first message. */
class ChannelSession extends Session {
  readonly #connection: Connection;

  constructor(server: Server, connection: Connection, { principal, auth }: ChannelCall) {
    super(server, {
      principal,
      auth,
      canRequest: true,
      get sessionId() {
        return connection.transport.sessionId;
      },
      send: (message) => connection.notify(message.method, message.params),
    });
    this.#connection = connection;
  }

  override open(revision: Revision, client: ClientFacts): ServerCapabilities {
    const advertised = super.open(revision, client);
    this.#connection.transport.setProtocolVersion?.(revision.version);
    return advertised;
  }

  protected override sendRequest(
    method: string,
    params: JsonObject | undefined,
    { call, ...options }: ClientRequestOptions,
  ): Promise<JsonObject> {
    return (call instanceof ChannelCall ? call.inbound : this.#connection).request(method, params, options);
  }
}
