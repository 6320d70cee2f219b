/** An `EventStore` that keeps the events of streams in memory. */

import type { Clock, JsonObject, JsonRpcMessage } from '@mortise/jsonrpc-core';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { EventStore, EventTerms, StoredEvent, StoredStream } from '../contracts/session-stores.ts';

/** The options of `MemoryEventStore`. */
export interface MemoryEventStoreOptions {
  /** The maximum number of stored events of one stream. The oldest are dropped first. @default 1000 */
  readonly maxEventsPerStream?: number | undefined;
  /**
   * The maximum size of all stored events, in bytes (two per character). The events of the least recently used session are dropped first.
   * One session may use a quarter of it; beyond that, events of its least recently used stream are dropped first.
   * @default 64 MiB
   */
  readonly maxBytes?: number | undefined;
  /** The maximum age of stored events, in milliseconds. Older ones are dropped at the next use of their stream. @default 300000 */
  readonly maxAgeMs?: number | undefined;
  /** The clock that measures the age of events. @default the system clock */
  readonly clock?: Clock | undefined;
}

interface Kept {
  readonly id: string;
  /** The event's message as JSON; undefined for a priming event, which has no data. */
  readonly text: string | undefined;
  readonly atMs: number;
}

interface Stream {
  /** The number that the stream's next event gets. */
  next: number;
  /** The stored events, numbered `next - events.length` to `next - 1`. */
  readonly events: Kept[];
  /** The number of the event of the last claim, which no earlier claim has, also if that was dropped; 0 if nobody has claimed the stream. */
  epoch: number;
  about?: JsonObject;
  isFinished: boolean;
}

interface Session {
  readonly streams: Map<string, Stream>;
  bytes: number;
}

/** The estimated size of an event without its id and message, in bytes. Includes its share of the stream and the session. */
const EVENT_BYTES = 500;
/** The share of `maxBytes` that one session may use. */
const SESSION_SHARE = 1 / 4;

/**
 * An in-memory `EventStore`, with limits by count, size and age. Fulfils the guarantees V1 to V4 of `EventStore`.
 *
 * The newest event is always kept, so a very large event can exceed `maxBytes`.
 */
export class MemoryEventStore implements EventStore {
  /** The sessions, ordered by last use, most recent last. The streams of a session are ordered in the same way. */
  readonly #sessions = new Map<string, Session>();
  readonly #maxEventsPerStream: number;
  readonly #maxBytes: number;
  readonly #maxAgeMs: number;
  readonly #clock: Clock;
  #bytes = 0;
  /** The highest event number so far. If a dropped stream is used again, it continues above this number, so that ids stay unique. */
  #highest = 0;

  /** @throws {TypeError} An option is unknown, or a limit is not a number or too low. */
  constructor(options: MemoryEventStoreOptions = {}) {
    checkOptions('MemoryEventStore options', options, { maxEventsPerStream: 1, maxBytes: 0, maxAgeMs: 0, clock: 'object' });
    this.#maxEventsPerStream = options.maxEventsPerStream ?? 1000;
    this.#maxBytes = options.maxBytes ?? 64 * 1024 * 1024;
    this.#maxAgeMs = options.maxAgeMs ?? 300_000;
    this.#clock = options.clock ?? systemClock;
  }

  /** The estimated size of all stored events, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  append(sessionId: string, streamId: string, message: JsonRpcMessage | undefined, terms?: EventTerms): Promise<string | undefined> {
    const { epoch = 0, isLast = false } = terms ?? {};
    const { session, stream } = this.#use(sessionId, streamId);
    // A stream that is not known was dropped, and is still its owner's.
    if ((stream.epoch !== 0 && stream.epoch !== epoch) || stream.isFinished) return Promise.resolve(undefined);
    [stream.epoch, stream.isFinished] = [epoch, isLast];
    return Promise.resolve(this.#append(session, stream, streamId, message));
  }

  claim(
    sessionId: string,
    streamId: string,
    about?: JsonObject,
  ): Promise<{ readonly epoch: number; readonly eventId: string } | undefined> {
    const { session, stream } = this.#use(sessionId, streamId);
    if (stream.isFinished) return Promise.resolve(undefined);
    stream.epoch = stream.next;
    if (about !== undefined) stream.about ??= structuredClone(about);
    return Promise.resolve({ epoch: stream.epoch, eventId: this.#append(session, stream, streamId, undefined) });
  }

  #use(sessionId: string, streamId: string): { readonly session: Session; readonly stream: Stream } {
    const session = useLast(this.#sessions, sessionId, (): Session => ({ streams: new Map(), bytes: 0 }));
    const create = (): Stream => ({ next: this.#highest + 1, events: [], epoch: 0, isFinished: false });
    return { session, stream: useLast(session.streams, streamId, create) };
  }

  #append(session: Session, stream: Stream, streamId: string, message: JsonRpcMessage | undefined): string {
    const id = `${streamId}~${stream.next}`;
    this.#highest = Math.max(this.#highest, stream.next);
    stream.next += 1;
    const event: Kept = { id, text: message && JSON.stringify(message), atMs: this.#clock.now() };
    stream.events.push(event);
    this.#count(session, sizeOf(event));
    this.#dropOld(session, stream);
    this.#makeRoom(session, stream);
    return id;
  }

  replay(sessionId: string, lastEventId: string): Promise<StoredStream | undefined> {
    const [, streamId = '', number = ''] = /^([^]*)~([1-9]\d{0,14})$/.exec(lastEventId) ?? [];
    const session = this.#sessions.get(sessionId);
    const stream = session?.streams.get(streamId);
    if (session === undefined || stream === undefined) return Promise.resolve(undefined);
    this.#dropOld(session, stream);
    if (stream.events.length === 0) void this.delete(sessionId, streamId);
    const index = stream.events.length - (stream.next - Number(number));
    if (index < 0 || index >= stream.events.length) return Promise.resolve(undefined);
    const { about, isFinished } = stream;
    const events = stream.events.slice(index + 1).map(toStoredEvent);
    return Promise.resolve({ streamId, events, ...(stream.epoch > 0 && { isFinished }), ...(about && { about: structuredClone(about) }) });
  }

  delete(sessionId: string, streamId?: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) {
      for (const id of streamId === undefined ? [...session.streams.keys()] : [streamId]) this.#dropStream(session, id);
      if (session.streams.size === 0) this.#sessions.delete(sessionId);
    }
    return Promise.resolve();
  }

  #dropOld(session: Session, { events }: Stream): void {
    const oldest = this.#clock.now() - this.#maxAgeMs;
    const firstKept = events.findIndex(({ atMs }) => atMs >= oldest);
    const tooOld = firstKept === -1 ? events.length : firstKept;
    this.#dropEvents(session, events, Math.max(tooOld, events.length - this.#maxEventsPerStream));
  }

  /** Drops events until the size limits hold. Always keeps the newest event of `stream`. */
  #makeRoom(session: Session, stream: Stream): void {
    for (const [id, other] of this.#sessions) {
      if (other === session || this.#bytes <= this.#maxBytes) break;
      this.#bytes -= other.bytes;
      this.#sessions.delete(id);
    }
    const isTooLarge = (): boolean => session.bytes > this.#maxBytes * SESSION_SHARE;
    for (const [id, other] of session.streams) {
      if (!isTooLarge()) break;
      const least = other === stream ? 1 : 0;
      while (isTooLarge() && other.events.length > least) this.#dropEvents(session, other.events, 1);
      if (other.events.length === 0) session.streams.delete(id);
    }
  }

  #dropEvents(session: Session, events: Kept[], count: number): void {
    if (count <= 0) return;
    for (const event of events.splice(0, count)) this.#count(session, -sizeOf(event));
  }

  #dropStream(session: Session, streamId: string): void {
    const events = session.streams.get(streamId)?.events ?? [];
    this.#dropEvents(session, events, events.length);
    session.streams.delete(streamId);
  }

  #count(session: Session, bytes: number): void {
    session.bytes += bytes;
    this.#bytes += bytes;
  }
}

function sizeOf({ id, text = '' }: Kept): number {
  return EVENT_BYTES + 2 * (id.length + text.length);
}

function toStoredEvent({ id, text }: Kept): StoredEvent {
  return text === undefined ? { id } : { id, message: JSON.parse(text) as JsonRpcMessage };
}

/** Returns the map's entry for a key, or creates it, and moves it to the end of the map. */
function useLast<T>(map: Map<string, T>, key: string, make: () => T): T {
  const value = map.get(key) ?? make();
  map.delete(key);
  map.set(key, value);
  return value;
}
