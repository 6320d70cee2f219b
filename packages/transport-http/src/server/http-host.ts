/** What all requests to one endpoint share: settings, the guard, sessions, what is open, and the way to end it all. */

import { ConnectionClosedError } from '@mortise/jsonrpc-core';
import type { McpEndpoint } from '@mortise/protocol/contracts';
import { KeyedLimit } from '@mortise/protocol/edge';
import { NEWEST_LEGACY } from '@mortise/protocol';
import { HttpOptionError } from '../errors.ts';
import { Guard } from './exchange/guard.ts';
import type { PostCall } from './exchange/post-call.ts';
import type { BodyReader } from './http/read-body.ts';
import type { ResponseStream } from './http/response-stream.ts';
import type { SseChannel } from './http-sse.ts';
import { checkHttpOptions, type HttpHandlerOptions, type Settings, toSettings } from './options.ts';
import { busy, serverClosing, unknownSession } from './refusal.ts';
import { SessionTable, type SessionTraits } from './session/session-table.ts';
import { createStatelessOpener, type StatelessOpener } from './session/stateless.ts';

/** The least time that sessions, and the program's stores, have to end when the host closes. */
const ENDING_MS = 1_000;

/** What only `StreamableHTTPServerTransport` sets. */
export interface HostTraits extends SessionTraits {
  /** How a legacy request without a session is served. @default from the state that a handshake leaves */
  readonly openStateless?: StatelessOpener;
}

export class HttpHost {
  readonly endpoint: McpEndpoint;
  readonly settings: Settings;
  readonly guard: Guard;
  readonly sessions: SessionTable;
  readonly openStateless: StatelessOpener;
  /** Bodies that are being read. */
  readonly bodies = new Set<BodyReader>();
  /** The channels of HTTP+SSE, by the id in their address. */
  readonly channels = new Map<string, SseChannel>();
  readonly #calls = new Set<PostCall>();
  readonly #streams = new Set<ResponseStream>();
  readonly #streamLimit: KeyedLimit;
  readonly #isSingleSession: boolean;
  #isClosing = false;
  #onIdle: (() => void) | undefined;

  /** @throws {HttpOptionError} `ERR_HTTP_OPTION`: not a server, or options of which one does not hold. */
  constructor(endpoint: McpEndpoint, options: HttpHandlerOptions, traits: HostTraits = {}) {
    checkEndpoint(endpoint);
    checkHttpOptions(options);
    this.endpoint = endpoint;
    this.settings = toSettings(options);
    if (options.logger !== undefined) endpoint.offerLogger?.(this.settings.logger);
    this.guard = new Guard(options, NEWEST_LEGACY.http.badOriginStatus);
    this.#isSingleSession = traits.isSingle === true;
    this.sessions = new SessionTable(endpoint, this.settings, traits);
    this.#streamLimit = new KeyedLimit(this.settings.maxSessions, this.settings.maxSessionsPerKey);
    this.openStateless = traits.openStateless ?? createStatelessOpener(endpoint, this.settings.logger);
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get callCount(): number {
    return this.#calls.size;
  }

  get streamCount(): number {
    return this.#streams.size;
  }

  /** @throws {HttpRefusal} 503 once closing has begun; 404 where what closed is the one session that there was. */
  checkOpen(): void {
    if (!this.#isClosing) return;
    throw this.#isSingleSession ? unknownSession() : serverClosing();
  }

  /** Counts a call in; `end` must follow. */
  begin<C extends PostCall>(call: C): C {
    this.#calls.add(call);
    return call;
  }

  end(call: PostCall): void {
    this.#calls.delete(call);
    this.#checkIdle();
  }

  addStream(stream: ResponseStream): void {
    this.#streams.add(stream);
  }

  deleteStream(stream: ResponseStream): void {
    this.#streams.delete(stream);
    this.#checkIdle();
  }

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
    this.#isClosing = true;
    const { clock } = this.settings;
    const deadlineMs = clock.monotonicMs() + drainMs;
    for (const body of this.bodies) body.refuse(serverClosing());
    for (const call of this.#calls) call.endListen?.();
    await this.#untilIdle(drainMs);
    const reason = new ConnectionClosedError('The server has closed');
    for (const call of this.#calls) call.cut(reason);
    const channels = Array.from(this.channels.values(), (channel) => channel.close());
    const ended = Promise.all([...channels, this.sessions.close()]);
    try {
      await this.#waitFor(ended, Math.max(deadlineMs - clock.monotonicMs(), ENDING_MS));
    } finally {
      for (const stream of this.#streams) stream.cut();
    }
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

  /** Streams that are open wait for something; only those that are ending have something left to say. */
  get #isIdle(): boolean {
    return this.#calls.size === 0 && ![...this.#streams].some(({ isEnding }) => isEnding);
  }

  #untilIdle(drainMs: number): Promise<void> {
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

  #checkIdle(): void {
    if (this.#onIdle !== undefined && this.#isIdle) this.#onIdle();
  }
}

/** @throws {HttpOptionError} Programs without types mix arguments up, or forget one. */
function checkEndpoint(endpoint: McpEndpoint): void {
  if (typeof (endpoint as Partial<McpEndpoint> | undefined)?.handle === 'function') return;
  throw new HttpOptionError('What is served must be a server, such as an McpServer: it has no function "handle"');
}
