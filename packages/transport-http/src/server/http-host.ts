/** What all requests to one endpoint share: settings, the guard, sessions, open streams and calls, and the way to end them all. */

import { ConnectionClosedError } from '@mortise/jsonrpc-core';
import type { McpEndpoint } from '@mortise/protocol/contracts';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { KeyedLimit } from '@mortise/protocol/edge';
import { NEWEST_LEGACY } from '@mortise/protocol';
import { BodySweep } from './body-watch.ts';
import { Guard } from './guard.ts';
import type { Caller, HostedCall } from './hosted-call.ts';
import { ModernCall } from './modern-call.ts';
import { type HttpHandlerOptions, type Settings, toSettings } from './options.ts';
import { busyRefusal, closingRefusal, unknownSession } from './refusal.ts';
import { requireEndpoint } from './require-endpoint.ts';
import { SessionTable } from './session-table.ts';
import { Slots } from './slots.ts';
import type { SseChannel } from './sse-endpoints.ts';
import { StreamPulse } from './sse-stream.ts';
import { createStatelessOpener, type StatelessOpener } from './stateless-sessions.ts';

/** The least time that sessions, and the program's stores, have to end when the host closes. */
const ENDING_MS = 1_000;

/** What only a host of another kind than `createHttpHandler` sets. */
export interface HostTraits {
  /** The host is one session: a second `initialize` is refused. */
  readonly isSingleSession?: boolean;
  /** How a legacy request without a session is served. @default from the state that a handshake leaves */
  readonly openStateless?: StatelessOpener;
}

export class HttpHost {
  readonly endpoint: McpEndpoint;
  readonly settings: Settings;
  readonly guard: Guard;
  readonly sessions: SessionTable;
  readonly pulse: StreamPulse;
  readonly bodies: BodySweep;
  readonly openStateless: StatelessOpener;
  /** The channels of HTTP+SSE, by the id in their address. */
  readonly channels: Map<string, SseChannel> = new Map();
  /** What waits beside the streams of them all, in characters. */
  channelBacklog: number = 0;
  readonly #streams: KeyedLimit;
  readonly #calls: Slots<HostedCall> = new Slots();
  readonly #isSingleSession: boolean;
  /** How many answers are not handed over yet, though their calls have ended. */
  #answers = 0;
  #isClosing = false;
  #onIdle: (() => void) | undefined;

  constructor(endpoint: McpEndpoint, options: HttpHandlerOptions, traits: HostTraits = {}) {
    requireEndpoint(endpoint);
    this.endpoint = endpoint;
    this.settings = toSettings(options);
    if (options.logger !== undefined) endpoint.offerLogger?.(this.settings.logger);
    this.guard = new Guard(options, NEWEST_LEGACY.http.badOriginStatus);
    this.#isSingleSession = traits.isSingleSession === true;
    this.sessions = new SessionTable(endpoint, this.settings, this.#isSingleSession);
    this.pulse = new StreamPulse(this.settings);
    this.bodies = new BodySweep(this.settings);
    this.#streams = new KeyedLimit(this.settings.maxStreams, this.settings.maxStreamsPerKey);
    this.openStateless = traits.openStateless ?? createStatelessOpener(endpoint, this.settings.logger);
  }

  /** @throws {HttpRefusal} 503 once closing has begun; 404 where what closed is the one session that there was. */
  checkOpen(): void {
    if (!this.#isClosing) return;
    if (this.#isSingleSession) throw unknownSession();
    throw closingRefusal();
  }

  /** Counts a call in; `end` must follow. */
  begin<C extends HostedCall>(call: C): C {
    this.#calls.add(call);
    return call;
  }

  end(call: HostedCall): void {
    this.#calls.delete(call);
    if (this.#isIdle) this.#onIdle?.();
  }

  /** Makes `close` wait for an answer as for a call. @param handedOver See `LegacyAnswer.settle`. */
  holdAnswer(handedOver: Promise<void>): void {
    if (handedOver === resolvedPromise) return;
    this.#answers++;
    const release = (): void => {
      this.#answers--;
      if (this.#isIdle) this.#onIdle?.();
    };
    handedOver.then(release, release);
  }

  get #isIdle(): boolean {
    return this.#calls.size === 0 && this.#answers === 0;
  }

  /** Reads a body within the bounds. @throws {HttpRefusal} 413, 408, 503 or 400. */
  readBody(caller: Caller): Promise<string> {
    const { maxBodyBytes, bodyTimeoutMs } = this.settings;
    return caller.request.readBody({ maxBytes: maxBodyBytes, timeoutMs: bodyTimeoutMs, watch: this.bodies, sender: caller });
  }

  /** Tells the program why a request failed, which its client does not learn. */
  logFailure(error: unknown): void {
    this.settings.logger.log('error', 'A request failed', { error: String(error) });
  }

  /** How many calls are being served. */
  get callCount(): number {
    return this.#calls.size;
  }

  /**
   * Counts in a stream that stays open.
   *
   * @returns The function that counts it out, to be called once.
   * @throws {HttpRefusal} 503 past the bound.
   */
  holdStream(key: string): () => void {
    if (!this.#streams.acquire(key)) throw busyRefusal('Too many open streams: close one, or come back later');
    return () => this.#streams.release(key);
  }

  /**
   * Takes no new request, ends listens with their result, lets calls finish until the deadline, then aborts them and ends all sessions.
   * Stores that never settle are not waited for. Safe to call twice.
   */
  async close(drainMs: number): Promise<void> {
    this.#isClosing = true;
    const deadlineMs = this.settings.clock.monotonicMs() + drainMs;
    try {
      await this.#endCalls(drainMs);
      const leftMs = Math.max(deadlineMs - this.settings.clock.monotonicMs(), ENDING_MS);
      const channels = Array.from(this.channels.values(), (channel) => channel.close());
      await this.#waitFor(Promise.all([...channels, this.sessions.close()]), leftMs);
    } finally {
      this.pulse.close();
      this.bodies.close();
    }
  }

  async #endCalls(drainMs: number): Promise<void> {
    for (const call of this.#calls.all()) {
      if (call instanceof ModernCall) call.endListen();
    }
    await this.#drain(drainMs);
    const reason = new ConnectionClosedError('The server has closed');
    for (const call of this.#calls.all()) call.cut(reason);
  }

  #waitFor(ended: Promise<unknown>, timeoutMs: number): Promise<void> {
    const { clock, logger } = this.settings;
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        logger.log('error', 'The server closes without having ended all sessions: a store, or the endpoint, takes too long');
        resolve();
      };
      const timer = clock.schedule(giveUp, timeoutMs, { keepAlive: true });
      ended.then(() => resolve(), reject).finally(() => timer.cancel());
    });
  }

  #drain(drainMs: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isIdle || drainMs <= 0) return resolve();
      const timer = this.settings.clock.schedule(resolve, drainMs, { keepAlive: true });
      const before = this.#onIdle;
      this.#onIdle = () => {
        timer.cancel();
        resolve();
        before?.();
      };
    });
  }
}
