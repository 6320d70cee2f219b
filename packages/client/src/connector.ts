/** Opens a client's connection, opens it again when lost, closes it, and keeps subscriptions across connections. */

import { ConnectionClosedError, ConnectionLostError, type JsonRpcNotification, UsageError } from '@mortise/jsonrpc-core';
import { linkSignals } from '@mortise/jsonrpc-core/connection';
import { toError } from '@mortise/jsonrpc-core/transport';
import { KeepAlive } from '@mortise/protocol/edge';
import type { SubscriptionFilter } from '@mortise/protocol/model';
import type { ClientOptions, ConnectOptions } from './client-options.ts';
import { type Opened, SessionOpener } from './era/open-session.ts';
import { assertHas } from './capabilities.ts';
import { MissingCapabilityError } from './errors.ts';
import { ReconnectPace } from './reconnect.ts';
import { ChannelLink, undecidedHost } from './link.ts';
import type { Session, SessionSettings } from './session.ts';
import { Subscription, type SubscriptionOwner } from './subscription.ts';
import { type ClientTransportSource, TransportSource } from './transport-source.ts';

/** The callbacks by which a `Connector` reports to its client. */
export interface ConnectorHost {
  /** Called for each session that was opened: the first one, and one after each lost connection. */
  readonly onSession: () => void;
  /** Called with each change notification of a subscription. */
  readonly onChange: (notification: JsonRpcNotification) => void;
  /** Called when a subscription was opened again, because change notifications may have been missed. */
  readonly onGap: () => void;
}

export class Connector {
  /** The open session; undefined while there is none. */
  session: Session | undefined;
  /** The open session, or the one before it while a lost connection is opened again; undefined before `connect` and after `close`. */
  last: Session | undefined;
  readonly #settings: SessionSettings;
  readonly #options: ClientOptions;
  readonly #onSession: () => void;
  readonly #owner: SubscriptionOwner;
  readonly #subscriptions = new Set<Subscription>();
  /** The sessions whose connections have not ended. Replaced sessions are included, because their requests may still be in flight. */
  readonly #running = new Set<Opened>();
  readonly #pace: ReconnectPace;
  #requires: readonly string[] = [];
  #source: TransportSource | undefined;
  #opened: Opened | undefined;
  #pending: Promise<Session> | undefined;
  #closing = new AbortController();
  #closed = new Closed();
  #keepAlive: KeepAlive | undefined;

  constructor(settings: SessionSettings, options: ClientOptions, host: ConnectorHost) {
    this.#settings = settings;
    this.#options = options;
    this.#onSession = host.onSession;
    this.#pace = new ReconnectPace(settings.clock);
    this.#owner = {
      onChange: host.onChange,
      onGap: host.onGap,
      onOver: (subscription) => void this.#subscriptions.delete(subscription),
      onDropped: (subscription) => this.#onDropped(subscription),
    };
  }

  /** Whether a lost connection will be opened again. */
  get canRestart(): boolean {
    return this.#options.restart !== false && this.#source?.canRepeat === true;
  }

  /** Resolves when the connection has ended and will not be opened again. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** Aborts when the client closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** The text that identifies the server, from the transport's `eraKey`; undefined if it has none. */
  get serverKey(): string | undefined {
    return this.#source?.serverKey;
  }

  /** A text that changes with the transport's authorization; undefined if the transport reports none. See `AuthContextual`. */
  get authContext(): string | undefined {
    return this.#source?.authContext;
  }

  /** Returns `last`. @throws {UsageError | ConnectionClosedError} Not connected yet, or closed. */
  get lastOrThrow(): Session {
    if (this.last) return this.last;
    throw this.#whyNone();
  }

  // ---- opened

  async connect(source: ClientTransportSource, { signal, requires = [] }: ConnectOptions): Promise<void> {
    if (this.#source)
      throw new UsageError('ERR_ALREADY_STARTED', 'this client is connected already: call close() first, or make another client');
    this.#source = new TransportSource(source);
    this.#requires = requires;
    this.#settings.answers.isServerLocal = this.#source.isLocal;
    if (this.#closing.signal.aborted) this.#closed = new Closed();
    this.#closing = new AbortController();
    try {
      await (this.#pending = this.#open(this.#source, signal));
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      this.#pending = undefined;
    }
  }

  /** Returns the session that is open or being opened; otherwise opens one. */
  whenOpen(): Promise<Session> {
    if (this.session) return Promise.resolve(this.session);
    if (this.#pending) return this.#pending;
    const source = this.#source;
    if (!source) return Promise.reject(this.#whyNone());
    if (!this.canRestart) {
      const message = 'the connection ended: pass connect() a factory of transports to let the client reconnect';
      return Promise.reject(new ConnectionClosedError(message));
    }
    const canRepeat = (error: unknown): boolean => !(error instanceof MissingCapabilityError);
    this.#pending = this.#pace
      .run(() => this.#open(source), canRepeat, this.#closing.signal)
      .finally(() => {
        this.#pending = undefined;
      });
    return this.#pending;
  }

  /** Opens a new session in place of one that the server no longer knows. Requests in flight in the old session may still succeed. */
  replace(lost: Session): Promise<Session> {
    if (this.session === lost) this.#forget();
    return this.whenOpen();
  }

  async #open(source: TransportSource, callerSignal?: AbortSignal): Promise<Session> {
    const linked = linkSignals(callerSignal, this.#closing.signal);
    try {
      const opened = await new SessionOpener(source, this.#settings, this.#options, linked.signal).open();
      try {
        linked.signal.throwIfAborted();
        assertHas(opened.session, this.#requires);
      } catch (error) {
        await opened.close();
        throw error;
      }
      const { session } = opened;
      this.#opened = opened;
      this.#running.add(opened);
      this.#pace.onOpened();
      void session.link.closed.then(() => this.#onLost(opened));
      session.link.onInterrupted = () => this.#onInterrupted(opened);
      this.#use(session);
      return session;
    } finally {
      linked.dispose();
    }
  }

  #use(session: Session): void {
    this.session = this.last = session;
    this.#onSession();
    this.#keepAlive?.stop();
    this.#keepAlive = this.#keepAliveOf(session);
    for (const subscription of this.#subscriptions) subscription.openOn(session);
  }

  #keepAliveOf(session: Session): KeepAlive | undefined {
    const { keepAliveMs } = this.#options;
    if (keepAliveMs === undefined || !session.revision.requests.has('ping')) return undefined;
    const { clock, logger } = this.#settings;
    const target = {
      ping: (timeoutMs: number) => session.ping({ timeoutMs }),
      onNoResponse: (inARow: number) => logger.log('warning', `the server did not respond to a ping (${inARow} in a row)`),
      onGone: () => void session.link.close(),
    };
    return new KeepAlive(target, keepAliveMs, clock);
  }

  // ---- lost

  #onLost(opened: Opened): void {
    this.#running.delete(opened);
    void opened.close();
    if (this.#opened !== opened) return;
    this.#forget();
    if (!this.canRestart) {
      this.#failSubscriptions(new ConnectionClosedError());
      this.#closed.resolve();
    } else if (this.#subscriptions.size > 0) this.whenOpen().catch((error: unknown) => this.#failSubscriptions(error));
  }

  #forget(): void {
    this.#opened = undefined;
    this.session = undefined;
    this.#keepAlive?.stop();
    this.#pace.onLost();
  }

  /** Opens a new session after the transport lost its channel, on the channel that the transport opens again by itself. */
  #onInterrupted(opened: Opened): void {
    const { session } = this;
    const source = this.#source;
    if (this.#opened !== opened || !session || !source) return;
    this.session = undefined;
    this.#keepAlive?.stop();
    session.link.host = undecidedHost;
    const pending = this.#resume(opened, session, source).finally(() => {
      if (this.#pending === pending) this.#pending = undefined;
    });
    this.#pending = pending;
    pending.catch(() => undefined);
  }

  async #resume(opened: Opened, last: Session, source: TransportSource): Promise<Session> {
    const { link } = last;
    if (!(link instanceof ChannelLink)) throw new ConnectionLostError('the session cannot be resumed: it had no channel');
    const { signal } = this.#closing;
    for (;;) {
      try {
        const session = await new SessionOpener(source, this.#settings, this.#options, signal).resume(link, last);
        assertHas(session, this.#requires);
        this.#use(session);
        return session;
      } catch (error) {
        if (error instanceof ConnectionLostError && !signal.aborted) continue;
        if (!signal.aborted) this.#settings.onError(toError(error));
        await opened.close();
        throw error;
      }
    }
  }

  // ---- closed

  async close(): Promise<void> {
    const pending = this.#pending;
    this.#source = undefined;
    this.session = this.last = undefined;
    this.#opened = undefined;
    this.#keepAlive?.stop();
    this.#closing.abort(new ConnectionClosedError('the client was closed'));
    for (const subscription of this.#subscriptions) subscription.close();
    await Promise.all([...this.#running].map((opened) => opened.close()));
    await pending?.catch(() => undefined);
    this.#closed.resolve();
  }

  #whyNone(): Error {
    const { aborted, reason } = this.#closing.signal;
    return aborted ? (reason as Error) : new UsageError('ERR_NOT_CONNECTED', 'not connected yet: call connect() first');
  }

  // ---- subscriptions

  subscribe(filter: SubscriptionFilter, signal: AbortSignal | undefined): Subscription {
    const subscription = new Subscription(filter, this.#owner, signal);
    if (subscription.isOver) return subscription;
    this.#subscriptions.add(subscription);
    if (this.session) subscription.openOn(this.session);
    else this.whenOpen().catch((error: unknown) => subscription.fail(error));
    return subscription;
  }

  #onDropped(subscription: Subscription): boolean {
    const { signal } = this.#closing;
    const { session } = this;
    if (signal.aborted) return false;
    // If the whole connection broke, all subscriptions are opened again on the next session.
    if (!session) return this.canRestart || this.#pending !== undefined;
    this.#pace.pause(signal).then(
      () => {
        if (this.session === session) subscription.openOn(session);
      },
      () => undefined,
    );
    return true;
  }

  #failSubscriptions(error: unknown): void {
    for (const subscription of [...this.#subscriptions]) subscription.fail(error);
  }
}

/** A promise with a `resolve` method. */
class Closed {
  resolve: () => void = () => undefined;
  readonly promise = new Promise<void>((done) => {
    this.resolve = done;
  });
}
