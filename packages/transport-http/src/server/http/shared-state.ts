/** The state of one HTTP handler: settings, sessions, open calls and streams; and closing the handler. */

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

/** When the handler closes, sessions and stores get at least this long to end. */
const ENDING_MS = 1_000;

/** A request in progress. */
export interface OpenCall {
  /** Ends a `subscriptions/listen` with its result. */
  readonly endListen?: (() => void) | undefined;
  /** Aborts the request, because the handler has closed. */
  cut(reason: Error): void;
}

export class SharedState {
  /** The endpoint that handles requests, such as an `McpServer`. */
  readonly server: McpEndpoint;
  readonly settings: Settings;
  readonly sessions: SessionTable;
  /** For each revision, the state of a session after `initialize`. Legacy requests without a session start from it. */
  readonly statelessStates = new Map<Revision, SessionState>();
  /** The open HTTP+SSE connections, by the id in the URL to which their client posts. */
  readonly sseChannels = new Map<string, SseChannel>();
  readonly calls = new Set<OpenCall>();
  readonly streams = new Set<ResponseStream>();
  /** The request bodies that are still arriving, the oldest first. */
  readonly bodies = new Set<BodyReader>();
  isClosing = false;
  #hasWarnedOfJsonOnly = false;
  readonly #streamLimit: KeyedLimit;
  #bodyTimer: ClockTimer | undefined;
  /** Called when no request is in progress any more. */
  readonly #onIdle: (() => void)[] = [];

  /** @throws {HttpOptionError} `ERR_HTTP_OPTION`: `server` has no function `handle`. */
  constructor(server: McpEndpoint, settings: Settings) {
    // A program without types may pass something else.
    if (typeof (server as Partial<McpEndpoint> | undefined)?.handle !== 'function')
      throw new HttpOptionError(
        'The first argument of serveHttp and createHttpHandler must be a server with the function "handle", such as an McpServer',
      );
    this.server = server;
    this.settings = settings;
    if (settings.logger !== silentLogger) server.offerLogger?.(settings.logger);
    this.sessions = new SessionTable(settings);
    this.#streamLimit = new KeyedLimit(settings.maxSessions, settings.maxSessionsPerKey);
  }

  /** Makes the error response for requests after closing: 503, or 404 if the handler served a single session. */
  toClosedRefusal(): HttpRefusal {
    return this.settings.isSingle === true ? unknownSession() : serverClosing();
  }

  /** Logs once that progress and log messages are dropped, because of the option `jsonOnly`. */
  warnOfJsonOnly(method: string): void {
    if (this.#hasWarnedOfJsonOnly) return;
    this.#hasWarnedOfJsonOnly = true;
    const text = 'The option "jsonOnly" drops notifications that belong to a request, such as progress and logs: turn it off to send them';
    this.settings.logger.log('warning', text, { method });
  }

  /** Removes a request that has ended from the open calls. */
  end(call: OpenCall): void {
    this.calls.delete(call);
    this.checkIdle();
  }

  /**
   * Refuses a body if it takes too long to arrive. Stops watching when the body removes itself from `bodies`. One timer serves all bodies.
   */
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
      body.refuse(new HttpRefusal(408, 'The request body took too long to arrive'));
    }
  };

  /**
   * Counts an open stream against the limits.
   *
   * @returns The function that releases the count. Call it once.
   * @throws {HttpRefusal} 503: the limit is reached.
   */
  holdStream(key: string): () => void {
    if (!this.#streamLimit.acquire(key)) throw busy('Too many open streams: close one, or come back later');
    return () => this.#streamLimit.release(key);
  }

  /** Logs why a request failed. The client does not get these details. */
  logFailure(error: unknown): void {
    this.settings.logger.log('error', 'A request failed', { error: String(error) });
  }

  /**
   * Closes the handler: refuses new requests, ends each `subscriptions/listen` with its result, waits for other calls until the deadline,
   * then aborts them and ends all sessions. A store that never responds does not keep it waiting. Safe to call twice.
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
    const channels = Array.from(this.sseChannels.values(), (channel) => channel.close());
    const ended = Promise.all([...channels, this.sessions.close()]);
    try {
      const hasEnded = await this.#within(Math.max(deadlineMs - clock.monotonicMs(), ENDING_MS), ended);
      if (!hasEnded) logger.log('error', 'The server closed before all sessions ended: a store or the endpoint takes too long');
    } finally {
      for (const stream of this.streams) stream.cut();
    }
  }

  /** Waits for `work`, but only for a limited time. @returns false if the time ran out first. */
  #within(timeoutMs: number, work: Promise<unknown>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (timeoutMs <= 0) return resolve(false);
      const timer = this.settings.clock.schedule(() => resolve(false), timeoutMs, { keepAlive: true });
      work.then(() => resolve(true), reject).finally(() => timer.cancel());
    });
  }

  /** Whether no request is in progress and no stream still has to send its end. Other open streams only wait for events. */
  get #isIdle(): boolean {
    return this.calls.size === 0 && ![...this.streams].some(({ isEnding }) => isEnding);
  }

  #untilIdle(): Promise<void> {
    return this.#isIdle ? resolvedPromise : new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Calls the callbacks in `#onIdle` if no request is in progress. Called when a call or stream has ended. */
  checkIdle(): void {
    if (this.#onIdle.length > 0 && this.#isIdle) for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}
