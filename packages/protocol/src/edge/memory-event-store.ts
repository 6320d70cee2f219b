/** An `EventStore` in this process's memory. */

import type { Clock, JsonRpcMessage } from '@mortise/jsonrpc-core';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { EventStore, StoredEvent } from '../contracts/session-stores.ts';

/** How a memory event store behaves. */
export interface MemoryEventStoreOptions {
  /** Events of one stream; the oldest go first. @default 1000 */
  readonly maxEventsPerStream?: number | undefined;
  /**
   * What all events take, in bytes, a text counted as two a character. The session that was used longest ago goes first. One session may
   * have a quarter of it; of its own streams the one that was used longest ago goes first.
   * @default 64 MiB
   */
  readonly maxBytes?: number | undefined;
  /** Older events are dropped when their stream is next used, in milliseconds. @default 300000 */
  readonly maxAgeMs?: number | undefined;
  /** Says how old events are. @default the system's */
  readonly clock?: Clock | undefined;
}

interface Kept {
  readonly id: string;
  /** The message as JSON; undefined for a priming event. */
  readonly text: string | undefined;
  readonly atMs: number;
}

interface Stream {
  /** The number of the next event. */
  next: number;
  /** With numbers `next - events.length` to `next - 1`. */
  readonly events: Kept[];
}

interface Session {
  readonly streams: Map<string, Stream>;
  bytes: number;
}

/** What an event takes beside its texts, be it the only one of its stream and session. */
const EVENT_BYTES = 500;
/** The share of `maxBytes` that one session may have. */
const SESSION_SHARE = 1 / 4;

/**
 * Keeps what was sent on streams for a while. Promises V1 to V3 of `EventStore`. Order is by count, not by time. The newest event is kept
 * however long it is, so that it may exceed the bound in bytes by itself.
 */
export class MemoryEventStore implements EventStore {
  /** What was used last stands last, here and among a session's streams. */
  readonly #sessions = new Map<string, Session>();
  readonly #maxEventsPerStream: number;
  readonly #maxBytes: number;
  readonly #maxAgeMs: number;
  readonly #clock: Clock;
  #bytes = 0;
  /** The highest number of any event. A stream that was dropped and is used again goes on above it, so that no id comes twice. */
  #highest = 0;

  /** @throws {TypeError} An unknown option, or a bound that is not a number or too low. */
  constructor(options: MemoryEventStoreOptions = {}) {
    checkOptions('MemoryEventStore options', options, { maxEventsPerStream: 1, maxBytes: 0, maxAgeMs: 0, clock: 'object' });
    this.#maxEventsPerStream = options.maxEventsPerStream ?? 1000;
    this.#maxBytes = options.maxBytes ?? 64 * 1024 * 1024;
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
    const event: Kept = { id, text: message && JSON.stringify(message), atMs: this.#clock.now() };
    stream.events.push(event);
    this.#count(session, sizeOf(event));
    this.#dropOld(session, stream);
    this.#makeRoom(session, stream);
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
    if (stream.events.length === 0) void this.delete(sessionId, streamId);
    const index = stream.events.length - (stream.next - Number(number));
    if (index < 0 || index >= stream.events.length) return Promise.resolve(undefined);
    return Promise.resolve({ streamId, events: stream.events.slice(index + 1).map(toStoredEvent) });
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

  /** Leaves the newest event of the stream in use whatever it takes. */
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

/** Gives an entry, made where it is missing, and moves it to the end. */
function useLast<T>(map: Map<string, T>, key: string, make: () => T): T {
  const value = map.get(key) ?? make();
  map.delete(key);
  map.set(key, value);
  return value;
}
