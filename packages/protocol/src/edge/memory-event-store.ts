/** An `EventStore` in this process's memory. */

import type { Clock, JsonRpcMessage } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import type { EventStore, StoredEvent } from '../contracts/event-store.ts';

/** How a memory event store behaves. */
export interface MemoryEventStoreOptions {
  /** Of one stream; the oldest go first. @default 1000 */
  readonly maxEventsPerStream?: number | undefined;
  /** Of one session; its stream that was used longest ago goes first. @default 64 */
  readonly maxStreamsPerSession?: number | undefined;
  /** Of all; the session that was used longest ago goes first. @default 10000 */
  readonly maxSessions?: number | undefined;
  /** Events that are older are dropped when their session is next used, in milliseconds. @default 300000 */
  readonly maxAgeMs?: number | undefined;
  /** @default the system's */
  readonly clock?: Clock | undefined;
}

interface Stream {
  /** The number of the next event. */
  next: number;
  /** With numbers `next - events.length` to `next - 1`. */
  events: { readonly event: StoredEvent; readonly atMs: number }[];
}

/** Keeps what was sent on streams for a while. Promises V1 to V3 of `EventStore`. Order is by count, not by time. */
export class MemoryEventStore implements EventStore {
  readonly #sessions = new Map<string, Map<string, Stream>>();
  readonly #maxEventsPerStream: number;
  readonly #maxStreamsPerSession: number;
  readonly #maxSessions: number;
  readonly #maxAgeMs: number;
  readonly #clock: Clock;
  /** The highest number of any event. A stream that was dropped and is used again goes on above it, so that no id comes twice. */
  #highest = 0;

  constructor(options: MemoryEventStoreOptions = {}) {
    this.#maxEventsPerStream = options.maxEventsPerStream ?? 1000;
    this.#maxStreamsPerSession = options.maxStreamsPerSession ?? 64;
    this.#maxSessions = options.maxSessions ?? 10_000;
    this.#maxAgeMs = options.maxAgeMs ?? 300_000;
    this.#clock = options.clock ?? systemClock;
  }

  append(sessionId: string, streamId: string, message: JsonRpcMessage | undefined): Promise<string> {
    const streams = useLast(this.#sessions, sessionId, () => new Map<string, Stream>(), this.#maxSessions);
    const stream = useLast(streams, streamId, (): Stream => ({ next: this.#highest + 1, events: [] }), this.#maxStreamsPerSession);
    const id = `${streamId}~${stream.next}`;
    this.#highest = Math.max(this.#highest, stream.next);
    stream.next += 1;
    stream.events.push({ event: message === undefined ? { id } : { id, message }, atMs: this.#clock.now() });
    this.#dropOld(stream);
    return Promise.resolve(id);
  }

  replay(
    sessionId: string,
    lastEventId: string,
  ): Promise<{ readonly streamId: string; readonly events: readonly StoredEvent[] } | undefined> {
    const [, streamId = '', number = ''] = /^([^]*)~([1-9]\d{0,14})$/.exec(lastEventId) ?? [];
    const stream = this.#sessions.get(sessionId)?.get(streamId);
    if (stream === undefined) return Promise.resolve(undefined);
    this.#dropOld(stream);
    const index = stream.events.length - (stream.next - Number(number));
    if (index < 0 || index >= stream.events.length) return Promise.resolve(undefined);
    return Promise.resolve({ streamId, events: stream.events.slice(index + 1).map(({ event }) => event) });
  }

  delete(sessionId: string, streamId?: string): Promise<void> {
    if (streamId === undefined) this.#sessions.delete(sessionId);
    else this.#sessions.get(sessionId)?.delete(streamId);
    return Promise.resolve();
  }

  #dropOld(stream: Stream): void {
    const oldest = this.#clock.now() - this.#maxAgeMs;
    const firstKept = stream.events.findIndex(({ atMs }) => atMs >= oldest);
    const tooOld = firstKept === -1 ? stream.events.length : firstKept;
    const tooMany = stream.events.length - this.#maxEventsPerStream;
    const dropped = Math.max(tooOld, tooMany);
    if (dropped > 0) stream.events.splice(0, dropped);
  }
}

/** Gives an entry, made where it is missing, and moves it to the end; the first ones go when there are too many. */
function useLast<T>(map: Map<string, T>, key: string, make: () => T, max: number): T {
  const value = map.get(key) ?? make();
  map.delete(key);
  for (const first of map.keys()) {
    if (map.size < max) break;
    map.delete(first);
  }
  map.set(key, value);
  return value;
}
