/** What all requests to one HTTP handler share: the server, settings, sessions, what is open, and how all of it ends. */

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

/** The least time that sessions, and the program's stores, have to end when the handler closes. */
const ENDING_MS = 1_000;

/** A call in flight. */
export interface OpenCall {
  /** Ends a listen with its result. */
  readonly endListen?: (() => void) | undefined;
  /** Breaks off, because the handler has closed. */
  cut(reason: Error): void;
}

export class SharedState {
  /** Such as an `McpServer`. */
  readonly server: McpEndpoint;
  readonly settings: Settings;
  readonly sessions: SessionTable;
  /** What a handshake leaves, by revision, for legacy requests without a session. */
  readonly statelessStates = new Map<Revision, SessionState>();
  /** The channels of HTTP+SSE, by the id in their address. */
  readonly channels = new Map<string, SseChannel>();
  readonly calls = new Set<OpenCall>();
  readonly streams = new Set<ResponseStream>();
  /** Bodies that are being read, the oldest first. */
  readonly bodies = new Set<BodyReader>();
  isClosing = false;
  readonly #streamLimit: KeyedLimit;
  #bodyTimer: ClockTimer | undefined;
  /** Those who wait until nothing is in flight. */
  readonly #onIdle: (() => void)[] = [];

  /** @throws {HttpOptionError} `ERR_HTTP_OPTION`: `server` is none. */
  constructor(server: McpEndpoint, settings: Settings) {
    // Programs without types mix arguments up, or forget one.
    if (typeof (server as Partial<McpEndpoint> | undefined)?.handle !== 'function')
      throw new HttpOptionError('What is served must be a server, such as an McpServer: it has no function "handle"');
    this.server = server;
    this.settings = settings;
    if (settings.logger !== silentLogger) server.offerLogger?.(settings.logger);
    this.sessions = new SessionTable(settings);
    this.#streamLimit = new KeyedLimit(settings.maxSessions, settings.maxSessionsPerKey);
  }

  /** Why nothing is taken any more: 503, or 404 where the one session that there was has ended. */
  toClosedRefusal(): HttpRefusal {
    return this.settings.isSingle === true ? unknownSession() : serverClosing();
  }

  /** A call has ended. */
  end(call: OpenCall): void {
    this.calls.delete(call);
    this.checkIdle();
  }

  /** Counts a body in, which takes itself out of `bodies`. One timer serves all, and stays for the next ones: most bodies are there at once. */
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
   * Counts in a stream that stays open.
   *
   * @returns The function that counts it out, to be called once.
   * @throws {HttpRefusal} 503 past the bound.
   */
  holdStream(key: string): () => void {
    if (!this.#streamLimit.acquire(key)) throw busy('Too many open streams: close one, or come back later');
    return () => this.#streamLimit.release(key);
  }

  /** Logs why a request failed, which its client does not learn. */
  logFailure(error: unknown): void {
    this.settings.logger.log('error', 'A request failed', { error: String(error) });
  }

  /**
   * Takes no new request, ends listens with their result, lets calls and their answers finish until the deadline, then aborts them and ends
   * all sessions. Stores that never settle are not waited for. Safe to call twice.
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
      if (!hasEnded) logger.log('error', 'The server closes without having ended all sessions: a store, or the endpoint, takes too long');
    } finally {
      for (const stream of this.streams) stream.cut();
    }
  }

  /** @returns false where the time was over first. */
  #within(timeoutMs: number, work: Promise<unknown>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (timeoutMs <= 0) return resolve(false);
      const timer = this.settings.clock.schedule(() => resolve(false), timeoutMs, { keepAlive: true });
      work.then(() => resolve(true), reject).finally(() => timer.cancel());
    });
  }

  /** Open streams wait for something; only those that are ending have something left to send. */
  get #isIdle(): boolean {
    return this.calls.size === 0 && ![...this.streams].some(({ isEnding }) => isEnding);
  }

  #untilIdle(): Promise<void> {
    return this.#isIdle ? resolvedPromise : new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Called when a call or a stream has ended. */
  checkIdle(): void {
    if (this.#onIdle.length > 0 && this.#isIdle) for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}
