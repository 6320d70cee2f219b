/**
 * One logical stream of a legacy session. A connection carries it for a while; where an `EventStore` is, the stream outlives its
 * connections and each is resumed from where the client's last one broke.
 *
 * @see 2025-11-25 basic/transports#resumability-and-redelivery
 */

import type { JsonRpcMessage, JsonRpcResponse, Logger } from '@mortise/jsonrpc-core';
import { serializeMessage } from '@mortise/jsonrpc-core/messages';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { EventStore, StoredEvent } from '@mortise/protocol/contracts';
import { encodeEvent, encodeMessageEvent } from '../../sse/encode-event.ts';
import type { ResponseStream } from '../http/response-stream.ts';
import { HttpRefusal } from '../http/refusal.ts';

/** The log of one session's streams. */
export interface StreamLog {
  readonly store: EventStore;
  readonly sessionId: string;
  readonly logger: Logger;
}

/** Which of a session's streams: the answer to a POST, or one that a GET opened. The id tells, on every machine. */
export type StreamKind = 'post' | 'get';

/** Where a client goes on. */
export interface Resumption {
  readonly lastEventId: string;
  /** What followed it when the log was asked which stream it is of. Only what was logged since is asked for again. */
  readonly missed: readonly StoredEvent[];
}

/** How many messages may wait for the log before senders wait, too. */
const MOST_BEHIND = 64;

const PREFIX: Readonly<Record<StreamKind, string>> = { post: 'p', get: 'g' };

/** A stream id that no other stream of the session has, on any machine. */
export function createStreamId(kind: StreamKind): string {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return PREFIX[kind] + high.toString(36) + low.toString(36);
}

/** Tells which kind of stream an id names. */
export function streamKindOf(streamId: string): StreamKind {
  return streamId.startsWith(PREFIX.get) ? 'get' : 'post';
}

export class SessionStream {
  readonly id: string;
  readonly #log: StreamLog | undefined;
  #sse: ResponseStream | undefined;
  #isFinished: boolean;
  #isLogged = true;
  /** Appending takes time where the store is elsewhere; whatever touches the stream waits its turn, so that order holds. */
  #turn: Promise<unknown> = resolvedPromise;
  /** How many messages the log has not taken yet. */
  #behind = 0;
  /** What the last write to the connection gave: `resolvedPromise` while its reader keeps up. */
  #written: Promise<void> = resolvedPromise;

  constructor(id: string, log: StreamLog | undefined, isFinished = false) {
    this.id = id;
    this.#log = log;
    this.#isFinished = isFinished;
  }

  get isConnected(): boolean {
    return this.#sse?.isOpen === true;
  }

  /** Whether what is sent now can reach the client, at once or when it resumes. */
  get isReachable(): boolean {
    return this.#log !== undefined || this.isConnected;
  }

  /** Lets a connection carry the stream from its beginning. @param primingRetryMs Sends an event to resume from first. */
  connect(sse: ResponseStream, primingRetryMs?: number): void {
    this.#attach(sse);
    if (this.#log === undefined || primingRetryMs === undefined) return;
    void this.#inTurn(async () => {
      const id = await this.#append(undefined);
      if (id !== undefined) void sse.write(encodeEvent({ id, retryMs: primingRetryMs, data: '' }));
    });
  }

  /**
   * Sends a message, after all that was sent before. Where nothing has to wait it gives `resolvedPromise`, which senders that can do
   * without a message know: they go on. What waits is a reader that is slow, or a log that is many messages behind.
   *
   * @throws {UsageError} `ERR_SERIALIZE`: as a rejection: the message holds what JSON cannot carry.
   */
  send(message: JsonRpcMessage): Promise<void> {
    let text: string;
    try {
      text = serializeMessage(message);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    if (this.#log === undefined) return this.#sse?.write(encodeMessageEvent(text)) ?? resolvedPromise;
    let written: Promise<void> | undefined;
    this.#behind++;
    const logged = this.#inTurn(async () => {
      const id = await this.#append(message);
      this.#behind--;
      written = this.#sse?.write(encodeMessageEvent(text, id));
      this.#written = written ?? resolvedPromise;
    });
    if (this.#behind < MOST_BEHIND && this.#written === resolvedPromise) return resolvedPromise;
    return logged.then(() => written);
  }

  /**
   * Sends an answer, which can wait until a slow reader has room for it. What is sent and done afterwards waits, too.
   *
   * @param json The answer's text.
   */
  sendAnswer(message: JsonRpcResponse, json: string): void {
    if (this.#log === undefined) {
      const sent = this.#sse?.writeWhenRoom(encodeMessageEvent(json)) ?? resolvedPromise;
      if (sent !== resolvedPromise) void this.#inTurn(() => sent);
      return;
    }
    void this.#inTurn(async () => {
      const id = await this.#append(message);
      await this.#sse?.writeWhenRoom(encodeMessageEvent(json, id));
    });
  }

  /**
   * Lets a new connection take over: what its client has missed is sent again, then the stream goes on.
   *
   * @param open Makes the connection, once it is known that there is something to resume.
   * @throws {HttpRefusal} 400 for an event that is not in the log any more.
   */
  resume({ lastEventId, missed }: Resumption, open: () => ResponseStream, retryMs: number | undefined): Promise<void> {
    return this.#inTurn(async () => {
      const log = this.#log;
      const since = await log?.store.replay(log.sessionId, missed.at(-1)?.id ?? lastEventId);
      if (since === undefined) throw unknownEvent();
      const sse = open();
      this.#sse?.end();
      this.#attach(sse);
      if (retryMs !== undefined) void sse.write(encodeEvent({ retryMs }));
      try {
        await replayTo(sse, [...missed, ...since.events]);
      } catch (error) {
        // What a store gives back may be anything: going on would hide that something is left out.
        sse.end();
        throw error;
      }
      if (this.#isFinished) sse.end();
    });
  }

  /** Ends the connection and not the stream, so that the client comes back for the rest. @param retryMs When, where that can be said. */
  pause(retryMs: number | undefined): void {
    void this.#inTurn(() => {
      this.#sse?.end(retryMs === undefined ? '' : encodeEvent({ retryMs }));
      this.#sse = undefined;
      return resolvedPromise;
    });
  }

  /** The session has ended: what is still sent is kept nowhere. */
  stopLogging(): void {
    this.#isLogged = false;
  }

  /** Ends the stream. What was logged can still be fetched. */
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

  /** A store that fails costs the client the chance to resume, not the message. */
  async #append(message: JsonRpcMessage | undefined): Promise<string | undefined> {
    const log = this.#log;
    if (log === undefined || !this.#isLogged) return undefined;
    try {
      return await log.store.append(log.sessionId, this.id, message);
    } catch (error) {
      log.logger.log('error', 'The event store failed: a message is sent without an id to resume from', { error: String(error) });
      return undefined;
    }
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
    // At the pace of the reader, however much there is.
    if (message !== undefined) await sse.write(encodeMessageEvent(serializeMessage(message), id));
  }
}

export function unknownEvent(): HttpRefusal {
  return new HttpRefusal(400, 'The event in "Last-Event-ID" is not known here any more: open a new stream, or repeat the request');
}
