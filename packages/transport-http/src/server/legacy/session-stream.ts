/**
 * One event stream of a legacy session. With an `EventStore` it outlives its connection: the client can resume it on a new connection.
 *
 * @see 2025-11-25 basic/transports#resumability-and-redelivery
 */

import type { Clock, JsonObject, JsonRpcMessage, JsonRpcResponse, Logger } from '@mortise/jsonrpc-core';
import { serializeMessage } from '@mortise/jsonrpc-core/messages';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { EventStore, StoredEvent } from '@mortise/protocol/contracts';
import { encodeEvent, encodeMessageEvent } from '../../sse/encode-event.ts';
import type { ResponseStream } from '../http/response-stream.ts';
import { HttpRefusal } from '../http/refusal.ts';
import { rejectUnreachable } from './legacy-call.ts';

/** Where the events of a session's streams are stored. */
export interface StreamLog {
  readonly store: EventStore;
  readonly sessionId: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Whether a POST or a GET opened the event stream. The stream's id contains this, so every machine knows it. */
export type StreamKind = 'post' | 'get';

/** The point from which a client resumes an event stream. */
export interface Resumption {
  readonly lastEventId: string;
  /** The events after `lastEventId` that are already loaded. `resume` loads only newer ones. */
  readonly missed: readonly StoredEvent[];
}

/** If more messages than this wait for the event store, senders wait too. */
const MOST_BEHIND = 64;
/** How long a stream tries to store a message: while its client is connected, and while it is away. */
const STORE_MS = 10_000;
const STORE_AWAY_MS = 30_000;
/** After this time without an event, a stream that is sent elsewhere stores one without a message, in milliseconds. */
const TOUCH_MS = 60_000;
/** The pause between two attempts, in milliseconds. */
const RETRY_MS = 500;
/** How long a stream with a client then stores nothing: the client must not wait for each message. */
const UNSTORED_MS = 2_000;

const PREFIX: Readonly<Record<StreamKind, string>> = { post: 'p', get: 'g' };

/** Makes the id of an event stream, which is unique in the session, on all machines. */
export function createStreamId(kind: StreamKind): string {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return PREFIX[kind] + high.toString(36) + low.toString(36);
}

/** Returns whether a POST or a GET opened the stream with this id. */
export function streamKindOf(streamId: string): StreamKind {
  return streamId.startsWith(PREFIX.get) ? 'get' : 'post';
}

export class SessionStream {
  readonly id: string;
  readonly #log: StreamLog | undefined;
  /** The epoch of this machine's claim; undefined if the store has no claims, or its claim failed. */
  #epoch: number | undefined;
  /** What another machine must know to take the stream over. */
  #about: JsonObject | undefined;
  /** Whether another machine owns the stream now. Nothing is sent on it here any more. */
  #isLost = false;
  #sse: ResponseStream | undefined;
  #isFinished = false;
  #isLogged = true;
  /** How many times the client has resumed the stream here. */
  #resumes = 0;
  /** The id of the last event that this machine stored. */
  #lastId: string | undefined;
  /** When the last event was stored. */
  #storedAtMs = 0;
  /** When the last message could not be stored; undefined if it was. */
  #failedAtMs: number | undefined;
  /** Settles when the last operation on the stream is done. Operations run one after the other, which keeps the order of messages. */
  #turn: Promise<unknown> = resolvedPromise;
  /** How many messages wait for the event store. */
  #behind = 0;
  /** The promise of the last write to the connection. It is `resolvedPromise` while the client reads fast enough. */
  #written: Promise<void> = resolvedPromise;

  constructor(id: string, log: StreamLog | undefined) {
    this.id = id;
    this.#log = log;
  }

  get isConnected(): boolean {
    return this.#sse?.isOpen === true;
  }

  /** Whether a message sent now can reach the client, at once or when the client resumes the stream. */
  get isReachable(): boolean {
    return !this.#isLost && ((this.#log !== undefined && !this.#isUnclaimed) || this.isConnected);
  }

  /** Whether the store has owners of streams, and this machine is none: its claim failed. */
  get #isUnclaimed(): boolean {
    return this.#epoch === undefined && this.#log?.store.claim !== undefined;
  }

  /**
   * Gives a new stream its connection.
   *
   * @param primingRetryMs If set, first sends an event with an id from which the client can resume.
   * @param about What another machine must know to take the stream over.
   */
  connect(sse: ResponseStream, primingRetryMs?: number, about?: JsonObject): void {
    this.#attach(sse);
    this.#about = about;
    const log = this.#log;
    if (log === undefined || (log.store.claim === undefined && primingRetryMs === undefined)) return;
    void this.#inTurn(async () => {
      const id = log.store.claim === undefined ? await this.#append(undefined) : await this.#claim();
      if (typeof id === 'string' && primingRetryMs !== undefined) void sse.write(encodeEvent({ id, retryMs: primingRetryMs, data: '' }));
    });
  }

  /** Makes this machine the owner of the stream, in place of another. @returns Whether it is; not if the stream is finished. */
  async takeOver(): Promise<boolean> {
    const eventId = await this.#inTurn(() => {
      // Even if the claim fails now, it is tried again with the next message.
      [this.#epoch, this.#isLost] = [undefined, false];
      return this.#claim();
    });
    return eventId !== undefined;
  }

  /** Stores an event without a message if none was stored for a while: the machine that sends the stream goes on from its last event, which a store forgets. */
  touch(): void {
    if (this.#log !== undefined && this.#log.clock.monotonicMs() - this.#storedAtMs >= TOUCH_MS)
      void this.#inTurn(() => this.#append(undefined));
  }

  /** Ends the stream of a machine that is gone with these answers. */
  async abandon(answers: readonly JsonRpcResponse[]): Promise<void> {
    for (const [n, answer] of answers.entries()) await this.#inTurn(() => this.#append(answer, n === answers.length - 1));
    this.#isFinished = true;
  }

  /**
   * Sends a message after all earlier ones. Returns `resolvedPromise` itself if the sender need not wait. Otherwise the promise waits for a
   * client that reads slowly, or for an event store that is many messages behind.
   *
   * @throws {UsageError} `ERR_SERIALIZE`, as a rejection: the message cannot be converted to JSON.
   */
  send(message: JsonRpcMessage): Promise<void> {
    let text: string;
    try {
      text = serializeMessage(message);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    if (this.#log === undefined) return this.#sse?.write(encodeMessageEvent(text)) ?? resolvedPromise;
    // A request that cannot be sent must fail. A notification is dropped: the owner of the stream sends its own.
    const request = 'method' in message && 'id' in message ? message : undefined;
    let written: Promise<void> | undefined;
    this.#behind++;
    const logged = this.#inTurn(async () => {
      const id = await this.#append(message);
      this.#behind--;
      if (id === null) return request && rejectUnreachable(request, 'the client goes on at another machine');
      written = this.#sse?.write(encodeMessageEvent(text, id));
      this.#written = written ?? resolvedPromise;
    });
    if (request === undefined && this.#behind < MOST_BEHIND && this.#written === resolvedPromise) return resolvedPromise;
    return logged.then(() => written);
  }

  /**
   * Sends a response as soon as the connection has room for it, which a slow client delays. Later messages wait for it too.
   *
   * @param json The response as JSON text.
   * @param isLast Whether the stream ends with it.
   */
  sendAnswer(message: JsonRpcResponse, json: string, isLast: boolean): void {
    if (this.#log === undefined) {
      const sent = this.#sse?.writeWhenRoom(encodeMessageEvent(json)) ?? resolvedPromise;
      if (sent !== resolvedPromise) void this.#inTurn(() => sent);
      return;
    }
    void this.#inTurn(async () => {
      const id = await this.#append(message, isLast);
      if (id !== null) await this.#sse?.writeWhenRoom(encodeMessageEvent(json, id));
    });
  }

  /**
   * Continues the stream on a new connection, after sending the events that the client has missed.
   *
   * @param open Makes the connection. Called only if the stream can be resumed.
   * @returns The id of the last event that the client has now.
   * @throws {HttpRefusal} 400: the event named by `lastEventId` is no longer stored.
   */
  resume({ lastEventId, missed }: Resumption, open: () => ResponseStream, retryMs: number | undefined): Promise<string> {
    // An earlier connection may wait for its reader. The client goes on here.
    this.cut();
    const turn = ++this.#resumes;
    return this.#inTurn(async () => {
      if (turn !== this.#resumes) throw resumedAgain();
      const log = this.#log;
      const lastMissed = missed.at(-1)?.id ?? lastEventId;
      const since = await log?.store.replay(log.sessionId, lastMissed);
      if (since === undefined) throw unknownEvent();
      const sse = open();
      this.#attach(sse);
      // With the id once more: some clients remember only ids that came on this connection.
      if (retryMs !== undefined) void sse.write(encodeEvent({ id: lastEventId, retryMs, data: '' }));
      try {
        await replayTo(sse, [...missed, ...since.events]);
      } catch (error) {
        // The store returned an invalid event. Ending the connection shows the client that something is missing.
        sse.end();
        throw error;
      }
      if (this.#isFinished || since.isFinished === true) sse.end();
      return since.events.at(-1)?.id ?? lastMissed;
    });
  }

  /**
   * Sends what another machine has stored on the stream after an event, and ends the stream after its last one.
   *
   * @returns The id of the last event; undefined if the stream has ended, or its client has left.
   * @throws Errors of the store.
   */
  follow(lastEventId: string): Promise<string | undefined> {
    return this.#inTurn(async () => {
      const log = this.#log;
      const since = await log?.store.replay(log.sessionId, lastEventId);
      const sse = this.#sse;
      if (sse === undefined || since === undefined) return undefined;
      await replayTo(sse, since.events);
      if (since.isFinished === true) this.#end();
      return since.isFinished === true ? undefined : (since.events.at(-1)?.id ?? lastEventId);
    });
  }

  /**
   * Ends the connection but not the stream: the client resumes it.
   *
   * @param retryMs How long it should wait; undefined if the revision has none.
   */
  pause(retryMs: number | undefined): void {
    void this.#inTurn(() => {
      this.#sse?.end(retryMs === undefined ? '' : encodeEvent({ retryMs }));
      this.#sse = undefined;
      return resolvedPromise;
    });
  }

  /** Ends the connection at once, whatever waits to be sent: the client goes on with another. */
  cut(): void {
    this.#sse?.cut();
    this.#sse = undefined;
  }

  /** Stops storing the stream's events, because the session has ended. */
  stopLogging(): void {
    this.#isLogged = false;
  }

  /** Ends the stream after its last message. A client can still fetch the stored events. */
  finish(): Promise<void> {
    if (this.#log === undefined && this.#turn === resolvedPromise) {
      this.#end();
      return resolvedPromise;
    }
    return this.#inTurn(() => {
      this.#end();
      return resolvedPromise;
    });
  }

  #end(): void {
    this.#isFinished = true;
    this.#sse?.end();
    this.#sse = undefined;
  }

  #attach(sse: ResponseStream): void {
    this.#sse = sse;
    sse.onClose(() => {
      if (this.#sse === sse) this.#sse = undefined;
    });
  }

  /** Becomes the owner of the stream. @returns The id of the event that the store has for it; undefined if it is finished, or on failure. */
  async #claim(): Promise<string | undefined> {
    const log = this.#log;
    if (log === undefined || !this.#isLogged) return undefined;
    try {
      const claimed = await log.store.claim?.(log.sessionId, this.id, this.#about);
      this.#storedAtMs = log.clock.monotonicMs();
      if (claimed !== undefined) [this.#epoch, this.#lastId, this.#isLost] = [claimed.epoch, claimed.eventId, false];
      return claimed?.eventId;
    } catch (error) {
      this.#failedAtMs = log.clock.monotonicMs();
      log.logger.log('error', 'The event store failed: a stream cannot be resumed yet', { error: String(error) });
      return undefined;
    }
  }

  /**
   * Stores a message and returns its event id; null if another machine owns the stream now, so that the message must not be sent here.
   * While the store fails, tries again for a time, and later messages wait: a client that resumes must not miss one. Then returns undefined,
   * and the message is sent without an id.
   */
  async #append(message: JsonRpcMessage | undefined, isLast = false): Promise<string | undefined | null> {
    const log = this.#log;
    if (this.#isLost) return null;
    if (log === undefined || !this.#isLogged) return undefined;
    const { clock, logger, sessionId, store } = log;
    const failedAtMs = this.#failedAtMs ?? -Infinity;
    if (this.isConnected && clock.monotonicMs() - failedAtMs < UNSTORED_MS) return undefined;
    // Another machine may own the stream: what is stored beside its events might be sent twice.
    if (this.#isUnclaimed && (await this.#claim()) === undefined) return undefined;
    const terms = this.#epoch === undefined ? undefined : { epoch: this.#epoch, isLast };
    const beganAtMs = clock.monotonicMs();
    for (let isRepeated = false; ; isRepeated = true) {
      try {
        const stored = isRepeated ? await this.#findStored(log, message) : undefined;
        const id = stored ?? (await store.append(sessionId, this.id, message, terms));
        this.#failedAtMs = undefined;
        this.#storedAtMs = clock.monotonicMs();
        if (id !== undefined) return (this.#lastId = id);
        this.#isLost = true;
        this.#sse?.end();
        return null;
      } catch (error) {
        const nowMs = clock.monotonicMs();
        // A client that has waited once for this failure does not wait again.
        const limitMs = this.isConnected ? (this.#failedAtMs === undefined ? STORE_MS : 0) : STORE_AWAY_MS;
        if (!this.#isLogged || nowMs - beganAtMs >= limitMs) {
          this.#failedAtMs = nowMs;
          logger.log('error', 'The event store failed: a message is sent without an id to resume from', { error: String(error) });
          return undefined;
        }
      }
      await new Promise<void>((resolve) => void clock.schedule(resolve, RETRY_MS));
    }
  }

  /** Finds a message that was stored although the store seemed to fail. @returns Its event's id. */
  async #findStored({ store, sessionId }: StreamLog, message: JsonRpcMessage | undefined): Promise<string | undefined> {
    const since = this.#lastId === undefined ? undefined : await store.replay(sessionId, this.#lastId);
    const text = JSON.stringify(message);
    return since?.events.find((event) => JSON.stringify(event.message) === text)?.id;
  }

  #inTurn<T>(fn: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(fn);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

async function replayTo(sse: ResponseStream, events: readonly StoredEvent[]): Promise<void> {
  for (const { id, message } of events) {
    if (!sse.isOpen) return;
    // Waits for the reader after each event.
    if (message !== undefined) await sse.write(encodeMessageEvent(serializeMessage(message), id));
  }
}

/** The refusal of a GET behind which another one has resumed the same stream. The client may try again. */
export function resumedAgain(): HttpRefusal {
  return new HttpRefusal(503, 'The client has resumed this stream by another GET');
}

export function unknownEvent(): HttpRefusal {
  return new HttpRefusal(400, 'The event in "Last-Event-ID" is not stored any more: open a new stream, or repeat the request');
}
