/** One connection of a server: both eras on it at once, each message classed by itself, one table of ids for both. */

import {
  isMortiseError,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  RemoteError,
  type ServerConnection,
  type Transport,
} from '@mortise/jsonrpc-core';
import type { MessageInfo } from '@mortise/jsonrpc-core/transport';
import { Connection, type InboundCall } from '@mortise/jsonrpc-core/connection';
import { isModernParams } from '@mortise/protocol/wire';
import type { AuthInfo } from '@mortise/protocol/contracts';
import type { Answer } from './answer.ts';
import { type CallOwner, ChannelCall, LOCAL } from './channel-call.ts';
import type { ClientLink, LinkRequestOptions } from './client-link.ts';
import { Session } from './era/session.ts';
import { serveModern } from './era/stateless.ts';
import type { KeepAlive, KeepAliveTarget } from './keep-alive.ts';
import { serveRaw } from './serve-raw.ts';
import type { ServerCore } from './server-core.ts';

/** Serves a transport until it closes. Rejects when the transport cannot be started. */
export async function openChannel(core: ServerCore, transport: Transport): Promise<ServerConnection> {
  const channel = new Channel(core, transport);
  await channel.start();
  return channel;
}

class Channel implements ServerConnection, ClientLink, CallOwner, KeepAliveTarget {
  readonly canRequest: boolean = true;
  readonly #core: ServerCore;
  readonly #connection: Connection;
  #session: Session | undefined;
  #keepAlive: KeepAlive | undefined;
  /** Whether a modern request has come: who sends one knows that an error may lack its id. */
  #hasModernClient = false;

  constructor(core: ServerCore, transport: Transport) {
    this.#core = core;
    this.#connection = new Connection(transport, {
      onRequest: (request, inbound) => this.#onRequest(request, inbound),
      onNotification: (notification, info) => this.#onNotification(notification, info),
      onError: (error) => core.logger.log(isMortiseError(error) ? 'notice' : 'warning', error.message),
      onClose: () => this.#onClose(),
      isBatchingOn: () => this.#session?.revision?.rules.batching ?? false,
      isErrorIdOptional: () => this.#session?.revision?.rules.errorIdOptional ?? this.#hasModernClient,
      maxInFlightBytes: core.options.maxInFlightBytes,
      clock: core.clock,
    });
  }

  get closed(): Promise<void> {
    return this.#connection.closed;
  }

  async start(): Promise<void> {
    this.#core.connections.add(this);
    const { keepAlive } = this.#core.options;
    if (keepAlive) {
      const { KeepAlive } = await import('./keep-alive.ts');
      this.#keepAlive = new KeepAlive(this, this.#core.clock, keepAlive === true ? {} : keepAlive);
    }
    await this.#connection.start();
  }

  async drain(deadlineMs: number): Promise<void> {
    const own = [...this.#core.listens].filter(({ host }) => host instanceof ChannelCall && host.owner === this);
    await Promise.all(own.map((listen) => listen.end()));
    await (deadlineMs > 0 ? this.#connection.drain(deadlineMs) : this.#connection.close());
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // ---- the session's way to its client

  get sessionId(): string | undefined {
    return this.#connection.transport.sessionId;
  }

  send(notification: JsonRpcNotification): Promise<void> {
    return this.#connection.notify(notification.method, notification.params);
  }

  request(method: string, params: JsonObject | undefined, { call, signal, timeoutMs }: LinkRequestOptions): Promise<JsonObject> {
    const options = { signal, timeoutMs };
    return call instanceof ChannelCall ? call.inbound.request(method, params, options) : this.#connection.request(method, params, options);
  }

  onOpened(version: string): void {
    this.#connection.transport.setProtocolVersion?.(version);
  }

  // ---- keep-alive

  get isPingable(): boolean {
    return this.#session?.isReady === true;
  }

  ping(timeoutMs: number): Promise<void> {
    return this.#connection.request('ping', undefined, { timeoutMs, resetTimeoutOnProgress: false }).then(
      () => undefined,
      (error: unknown) => {
        // An error is an answer too: the client lives.
        if (!(error instanceof RemoteError)) throw error;
      },
    );
  }

  onFailure(inARow: number): void {
    this.#core.logger.log('warning', 'A ping was not answered', { sessionId: this.sessionId, inARow });
  }

  onDead(): void {
    void this.close();
  }

  // ---- messages

  #onRequest(request: JsonRpcRequest, inbound: InboundCall): Answer {
    this.#keepAlive?.heard();
    const call = new ChannelCall(inbound, this);
    const isModern = isModernParams(request.params);
    this.#hasModernClient ||= isModern;
    if (!this.#core.rawHandler) return this.#serve(request, call, isModern);
    const ask = (method: string, params: JsonObject | undefined, options: LinkRequestOptions): Promise<JsonObject> =>
      inbound.request(method, params, options);
    const carrier = { core: this.#core, host: call, via: 'channel' as const, sessionId: this.sessionId, request: ask };
    return serveRaw(request, carrier, () => this.#serve(request, call, isModern));
  }

  #serve(request: JsonRpcRequest, call: ChannelCall, isModern: boolean): Answer {
    if (isModern) return serveModern(this.#core, request, call, 'channel');
    return (this.#session ??= new Session(this.#core, this, call)).serve(request, call);
  }

  #onNotification(notification: JsonRpcNotification, info: MessageInfo | undefined): void {
    this.#keepAlive?.heard();
    this.#session?.notice(notification, { principal: info?.principal ?? LOCAL, auth: info?.auth as AuthInfo | undefined });
  }

  #onClose(): void {
    this.#keepAlive?.stop();
    this.#core.connections.delete(this);
    void this.#session?.close();
  }
}
