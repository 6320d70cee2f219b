/** An `EventStore` in this process's memory. */

import type { Clock, JsonRpcMessage } from '@mortise/jsonrpc-core';
import { checkAmounts, systemClock } from '@mortise/jsonrpc-core/transport';
import type { EventStore, StoredEvent } from '../contracts/event-store.ts';

/** How a memory event store behaves. */
export interface MemoryEventStoreOptions {
  /** Of one stream; the oldest go first. @default 1000 */
  readonly maxEventsPerStream?: number | undefined;
  /** Of one session; its stream that was used longest ago goes first. @default 64 */
  readonly maxStreamsPerSession?: number | undefined;
  /** Of all; the session that was used longest ago goes first. @default 10000 */
  readonly maxSessions?: number | undefined;
  /** What the events of one session take, in bytes, texts counted as two a character; its oldest go first. @default 16 MiB */
  readonly maxBytesPerSession?: number | undefined;
  /** What the events of all sessions take, in bytes; the session that was used longest ago goes first. @default 64 MiB */
  readonly maxBytes?: number | undefined;
  /** Events that are older are dropped when their session is next used, in milliseconds. @default 300000 */
  readonly maxAgeMs?: number | undefined;
  /** Tells how old events are. @default the system's */
  readonly clock?: Clock | undefined;
}

interface Kept {
  readonly event: StoredEvent;
  readonly atMs: number;
  readonly bytes: number;
}

interface Stream {
  /** The number of the next event. */
  next: number;
  /** With numbers `next - events.length` to `next - 1`. */
  events: Kept[];
}

interface Session {
  readonly streams: Map<string, Stream>;
  bytes: number;
}

const MIB = 1024 * 1024;

const LEAST = {
  maxEventsPerStream: 1,
  maxStreamsPerSession: 1,
  maxSessions: 1,
  maxBytesPerSession: 0,
  maxBytes: 0,
  maxAgeMs: 0,
} satisfies {
  readonly [Name in keyof MemoryEventStoreOptions]?: number;
};

/**
 * Keeps what was sent on streams for a while. Promises V1 to V3 of `EventStore`. Order is by count, not by time. The newest event is kept
 * however long it is, so that it may exceed the bounds in bytes by itself.
 */
export class MemoryEventStore implements EventStore {
  readonly #sessions = new Map<string, Session>();
  readonly #maxEventsPerStream: number;
  readonly #maxStreamsPerSession: number;
  readonly #maxSessions: number;
  readonly #maxBytesPerSession: number;
  readonly #maxBytes: number;
  readonly #maxAgeMs: number;
  readonly #clock: Clock;
  #bytes = 0;
  /** The highest number of any event. A stream that was dropped and is used again goes on above it, so that no id comes twice. */
  #highest = 0;

  /** @throws {RangeError} A bound is no number (NaN is none), or less than it may be. */
  constructor(options: MemoryEventStoreOptions = {}) {
    checkAmounts("the event store's options", options, LEAST);
    this.#maxEventsPerStream = options.maxEventsPerStream ?? 1000;
    this.#maxStreamsPerSession = options.maxStreamsPerSession ?? 64;
    this.#maxSessions = options.maxSessions ?? 10_000;
    this.#maxBytesPerSession = options.maxBytesPerSession ?? 16 * MIB;
    this.#maxBytes = options.maxBytes ?? 64 * MIB;
    this.#maxAgeMs = options.maxAgeMs ?? 300_000;
    this.#clock = options.clock ?? systemClock;
  }

  /** What all events take, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  append(sessionId: string, streamId: string, message: JsonRpcMessage | undefined): Promise<string> {
    const session = useLast(this.#sessions, sessionId, (): Session => ({ streams: new Map(), bytes: 0 }));
    const stream = useLast(session.streams, streamId, (): Stream => ({ next: this.#highest + 1, events: [] }));
    const id = `${streamId}~${stream.next}`;
    this.#highest = Math.max(this.#highest, stream.next);
    stream.next += 1;
    const bytes = EVENT_BYTES + sizeOf(id) + (message === undefined ? 0 : sizeOf(message));
    stream.events.push({ event: message === undefined ? { id } : { id, message }, atMs: this.#clock.now(), bytes });
    session.bytes += bytes;
    this.#bytes += bytes;
    this.#dropOld(session, stream);
    this.#makeRoom(session);
    return Promise.resolve(id);
  }

  replay(
    sessionId: string,
    lastEventId: string,
  ): Promise<{ readonly streamId: string; readonly events: readonly StoredEvent[] } | undefined> {
    const [, streamId = '', number = ''] = /^([^]*)~([1-9]\d{0,14})$/.exec(lastEventId) ?? [];
    const session = this.#sessions.get(sessionId);
    const stream = session?.streams.get(streamId);
    if (session === undefined || stream === undefined) return Promise.resolve(undefined);
    this.#dropOld(session, stream);
    const index = stream.events.length - (stream.next - Number(number));
    if (index < 0 || index >= stream.events.length) return Promise.resolve(undefined);
    return Promise.resolve({ streamId, events: stream.events.slice(index + 1).map(({ event }) => event) });
  }

  delete(sessionId: string, streamId?: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return Promise.resolve();
    if (streamId === undefined) this.#dropSession(sessionId, session);
    else this.#dropStream(session, streamId);
    return Promise.resolve();
  }

  #dropOld(session: Session, stream: Stream): void {
    const oldest = this.#clock.now() - this.#maxAgeMs;
    const firstKept = stream.events.findIndex(({ atMs }) => atMs >= oldest);
    const tooOld = firstKept === -1 ? stream.events.length : firstKept;
    const tooMany = stream.events.length - this.#maxEventsPerStream;
    this.#dropEvents(session, stream, Math.max(tooOld, tooMany));
  }

  /** What was used longest ago goes first; what was used now stands last everywhere. */
  #makeRoom(session: Session): void {
    for (const [id, other] of this.#sessions) {
      if (other === session || (this.#sessions.size <= this.#maxSessions && this.#bytes <= this.#maxBytes)) break;
      this.#dropSession(id, other);
    }
    const { streams } = session;
    for (const id of streams.keys()) {
      if (streams.size <= this.#maxStreamsPerSession) break;
      this.#dropStream(session, id);
    }
    for (const [id, stream] of streams) {
      while (this.#isTooLarge(session) && stream.events.length > (streams.size === 1 ? 1 : 0)) this.#dropEvents(session, stream, 1);
      if (!this.#isTooLarge(session)) break;
      if (streams.size > 1) streams.delete(id);
    }
  }

  #isTooLarge(session: Session): boolean {
    return session.bytes > this.#maxBytesPerSession || this.#bytes > this.#maxBytes;
  }

  #dropEvents(session: Session, stream: Stream, count: number): void {
    if (count <= 0) return;
    for (const { bytes } of stream.events.splice(0, count)) {
      session.bytes -= bytes;
      this.#bytes -= bytes;
    }
  }

  #dropStream(session: Session, streamId: string): void {
    const stream = session.streams.get(streamId);
    if (stream === undefined) return;
    this.#dropEvents(session, stream, stream.events.length);
    session.streams.delete(streamId);
  }

  #dropSession(sessionId: string, session: Session): void {
    this.#bytes -= session.bytes;
    this.#sessions.delete(sessionId);
  }
}

/** What an event takes beside its message, roughly. */
const EVENT_BYTES = 200;
/** What a member of an object or an array takes beside its value, roughly. */
const MEMBER_BYTES = 16;

/** What a value takes in memory, rather more than less: texts count two bytes a character. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 2 * value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = MEMBER_BYTES;
  if (Array.isArray(value)) for (const member of value) bytes += MEMBER_BYTES + sizeOf(member);
  else for (const [name, member] of Object.entries(value)) bytes += MEMBER_BYTES + 2 * name.length + sizeOf(member);
  return bytes;
}

/** Gives an entry, made where it is missing, and moves it to the end. */
function useLast<T>(map: Map<string, T>, key: string, make: () => T): T {
  const value = map.get(key) ?? make();
  map.delete(key);
  map.set(key, value);
  return value;
}
