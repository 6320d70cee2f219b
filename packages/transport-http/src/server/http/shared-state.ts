/** The state of one handler: settings, guard, sessions, open calls and streams; and closing. */

import { type ClockTimer, ConnectionClosedError } from '@mortise/jsonrpc-core';
import { resolvedPromise, silentLogger } from '@mortise/jsonrpc-core/transport';
import type { Revision } from '@mortise/protocol';
import type { McpEndpoint, SessionState } from '@mortise/protocol/contracts';
import { KeyedLimit } from '@mortise/protocol/edge';
import { HttpOptionError } from '../../errors.ts';
import type { BodyReader } from './read-body.ts';
import type { ResponseStream } from './response-stream.ts';
import type { SseChannel } from '../legacy/http-sse.ts';
import type { Settings } from '../options.ts';
import { busy, HttpRefusal, serverClosing } from './refusal.ts';
import { SessionTable, unknownSession } from '../legacy/session-table.ts';

/** The least time for ending sessions and stores when the handler closes. */
const ENDING_MS = 1_000;

/** A call in flight. */
export interface OpenCall {
  /** Ends a `subscriptions/listen` with its result. */
  readonly endListen?: (() => void) | undefined;
  /** Aborts the call, because the handler has closed. */
  cut(reason: Error): void;
}

export class SharedState {
  /** Such as an `McpServer`. */
  readonly server: McpEndpoint;
  readonly settings: Settings;
  readonly sessions: SessionTable;
  /** For each revision, the session state after a handshake, for legacy requests without a session. */
  readonly statelessStates = new Map<Revision, SessionState>();
  /** The HTTP+SSE channels, by the id in their URL. */
  readonly channels = new Map<string, SseChannel>();
  readonly calls = new Set<OpenCall>();
  readonly streams = new Set<ResponseStream>();
  /** The bodies being read, the oldest first. */
  readonly bodies = new Set<BodyReader>();
  isClosing = false;
  readonly #streamLimit: KeyedLimit;
  #bodyTimer: ClockTimer | undefined;
  /** Callbacks for when nothing is in flight. */
  readonly #onIdle: (() => void)[] = [];

  /** @throws {HttpOptionError} `ERR_HTTP_OPTION`: `server` is none. */
  constructor(server: McpEndpoint, settings: Settings) {
    // A program without types may pass something else.
    if (typeof (server as Partial<McpEndpoint> | undefined)?.handle !== 'function')
      throw new HttpOptionError('The first argument must be a server with the function "handle", such as an McpServer');
    this.server = server;
    this.settings = settings;
    if (settings.logger !== silentLogger) server.offerLogger?.(settings.logger);
    this.sessions = new SessionTable(settings);
    this.#streamLimit = new KeyedLimit(settings.maxSessions, settings.maxSessionsPerKey);
  }

  /** The refusal after closing: 503, or 404 if the handler served a single session. */
  toClosedRefusal(): HttpRefusal {
    return this.settings.isSingle === true ? unknownSession() : serverClosing();
  }

  /** Removes a call that has ended. */
  end(call: OpenCall): void {
    this.calls.delete(call);
    this.checkIdle();
  }

  /** Watches the arrival time of a body, until the body removes itself from `bodies`. One timer serves all bodies. */
  watchBody(body: BodyReader): void {
    this.bodies.add(body);
    this.#bodyTimer ??= this.settings.clock.schedule(this.#endStalledBodies, this.settings.stallMs);
  }

  readonly #endStalledBodies = (): void => {
    const { clock } = this.settings;
    const now = clock.monotonicMs();
    this.#bodyTimer = undefined;
    for (const body of this.bodies) {
      if (body.dueAtMs > now) {
        this.#bodyTimer = clock.schedule(this.#endStalledBodies, body.dueAtMs - now);
        return;
      }
      body.refuse(new HttpRefusal(408, 'The body took too long to arrive'));
    }
  };

  /**
   * Counts a stream that stays open.
   *
   * @returns The function that releases the count. Call it once.
   * @throws {HttpRefusal} 503 above the limit.
   */
  holdStream(key: string): () => void {
    if (!this.#streamLimit.acquire(key)) throw busy('Too many open streams: close one, or come back later');
    return () => this.#streamLimit.release(key);
  }

  /** Logs why a request failed. The client does not get the details. */
  logFailure(error: unknown): void {
    this.settings.logger.log('error', 'A request failed', { error: String(error) });
  }

  /**
   * Refuses new requests, ends each `subscriptions/listen` with its result, waits for calls and their responses until the deadline, then
   * aborts them and ends all sessions. Does not wait for stores that never settle. Safe to call twice.
   */
  async close(drainMs: number): Promise<void> {
    this.isClosing = true;
    const { clock, logger } = this.settings;
    const deadlineMs = clock.monotonicMs() + drainMs;
    for (const body of this.bodies) body.refuse(serverClosing());
    this.#bodyTimer?.cancel();
    for (const call of this.calls) call.endListen?.();
    await this.#within(drainMs, this.#untilIdle());
    const reason = new ConnectionClosedError('The server has closed');
    for (const call of this.calls) call.cut(reason);
    const channels = Array.from(this.channels.values(), (channel) => channel.close());
    const ended = Promise.all([...channels, this.sessions.close()]);
    try {
      const hasEnded = await this.#within(Math.max(deadlineMs - clock.monotonicMs(), ENDING_MS), ended);
      if (!hasEnded) logger.log('error', 'The server closed before all sessions ended: a store or the endpoint takes too long');
    } finally {
      for (const stream of this.streams) stream.cut();
    }
  }

  /** @returns false if the time ran out first. */
  #within(timeoutMs: number, work: Promise<unknown>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (timeoutMs <= 0) return resolve(false);
      const timer = this.settings.clock.schedule(() => resolve(false), timeoutMs, { keepAlive: true });
      work.then(() => resolve(true), reject).finally(() => timer.cancel());
    });
  }

  /** Whether no call is in flight and no ending stream has data left. Other open streams only wait for events. */
  get #isIdle(): boolean {
    return this.calls.size === 0 && ![...this.streams].some(({ isEnding }) => isEnding);
  }

  #untilIdle(): Promise<void> {
    return this.#isIdle ? resolvedPromise : new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Calls the waiting callbacks if nothing is in flight. Called when a call or stream has ended. */
  checkIdle(): void {
    if (this.#onIdle.length > 0 && this.#isIdle) for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}
