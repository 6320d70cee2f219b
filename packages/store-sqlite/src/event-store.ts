/** The `EventStore` in SQLite. One counter numbers the events of all streams, and never reuses a number, even after a deletion. */

import type { Clock, JsonObject, JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { EventStore, EventTerms, StoredEvent, StoredStream } from '@mortise/protocol/contracts';
import { LIMIT, number, type Row, type SqliteConnection, text } from './connection.ts';

/** The limits of the SQLite event store. */
export interface SqliteEventOptions {
  /** The most events of one stream that are kept. The oldest are dropped first. @default 1000 */
  readonly maxEventsPerStream?: number | undefined;
  /** How long events are kept, in milliseconds. @default 300_000 */
  readonly maxAgeMs?: number | undefined;
}

/** After this many appends to a stream, its events beyond `maxEventsPerStream` are deleted. */
const APPENDS_PER_TRIM = 64;
/** The most events that are deleted then: more than were added, so that a stream from before shrinks too. */
const EVENTS_PER_TRIM = 2 * APPENDS_PER_TRIM;
/** The most expired events that one append deletes, so that no append takes long. */
const OLD_EVENTS_AT_ONCE = 1024;

/** Keeps the events of SSE streams in a SQLite file, so that clients can resume a stream. Has the guarantees V1 to V4 of `EventStore`. */
export class SqliteEventStore implements EventStore {
  readonly #db: SqliteConnection;
  readonly #clock: Clock;
  readonly #maxEvents: number;
  readonly #maxAgeMs: number;

  constructor(connection: SqliteConnection, clock: Clock, options: SqliteEventOptions = {}) {
    this.#db = connection;
    this.#clock = clock;
    this.#maxEvents = options.maxEventsPerStream ?? 1000;
    this.#maxAgeMs = options.maxAgeMs ?? 300_000;
  }

  async append(sessionId: string, streamId: string, message: JsonRpcMessage | undefined, terms?: EventTerms): Promise<string | undefined> {
    return this.#db.transaction(() => {
      // If there is no row, because the stream has sent nothing for its time, whoever appends is its owner still.
      const owned = this.#findOwned(sessionId, streamId);
      if (owned && (number(owned, 'epoch') !== terms?.epoch || number(owned, 'is_finished') === 1)) return undefined;
      if (terms) this.#own(sessionId, streamId, terms);
      return toId(streamId, this.#append(sessionId, streamId, message));
    });
  }

  async claim(
    sessionId: string,
    streamId: string,
    about?: JsonObject,
  ): Promise<{ readonly epoch: number; readonly eventId: string } | undefined> {
    return this.#db.transaction(() => {
      const owned = this.#findOwned(sessionId, streamId);
      if (owned && number(owned, 'is_finished') === 1) return undefined;
      // The number of an event, which no earlier claim had, also if that was dropped.
      const epoch = this.#append(sessionId, streamId, undefined);
      this.#own(sessionId, streamId, { epoch }, about);
      return { epoch, eventId: toId(streamId, epoch) };
    });
  }

  #findOwned(sessionId: string, streamId: string): Row | undefined {
    const sql = 'SELECT epoch, is_finished, about FROM mortise_streams WHERE session_id = ? AND stream_id = ?';
    return this.#db.get(sql, sessionId, streamId);
  }

  #own(sessionId: string, streamId: string, { epoch, isLast }: EventTerms, about?: JsonObject): void {
    this.#db.run(
      `INSERT INTO mortise_streams (session_id, stream_id, epoch, is_finished, about, at_ms) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (session_id, stream_id) DO UPDATE SET epoch = excluded.epoch, is_finished = excluded.is_finished, at_ms = excluded.at_ms`,
      sessionId,
      streamId,
      epoch,
      isLast === true ? 1 : 0,
      about === undefined ? null : JSON.stringify(about),
      this.#clock.now(),
    );
  }

  #append(sessionId: string, streamId: string, message: JsonRpcMessage | undefined): number {
    const row = this.#db.get(
      `INSERT INTO mortise_events (session_id, stream_id, message, at_ms, place) VALUES (?, ?, ?, ?, 1 + coalesce(
         (SELECT place FROM mortise_events WHERE session_id = ? AND stream_id = ? ORDER BY number DESC LIMIT 1), 0))
       RETURNING number, place`,
      sessionId,
      streamId,
      message === undefined ? null : JSON.stringify(message),
      this.#clock.now(),
      sessionId,
      streamId,
    );
    const place = row === undefined ? 0 : number(row, 'place');
    try {
      if (place > this.#maxEvents && place % APPENDS_PER_TRIM === 0) this.#trim(sessionId, streamId, place - this.#maxEvents);
      this.#db.clearSometimes('events', () => this.#dropOld());
    } catch {
      // The event is stored, so the call succeeds. What should have been deleted is deleted later.
    }
    return row === undefined ? 0 : number(row, 'number');
  }

  async replay(sessionId: string, lastEventId: string): Promise<StoredStream | undefined> {
    const [, streamId = '', count = ''] = /^([^]*)~([1-9]\d{0,14})$/.exec(lastEventId) ?? [];
    // Reads one event more than may be kept, newest first. Older events count as dropped even if they are still in the file.
    const rows = this.#db.all(
      `SELECT number, message FROM mortise_events
       WHERE session_id = ? AND stream_id = ? AND number >= ? AND at_ms >= ? ORDER BY number DESC ${LIMIT}`,
      sessionId,
      streamId,
      Number(count),
      this.#oldest(),
      this.#maxEvents,
    );
    const last = rows.at(-1);
    if (count === '' || last === undefined || number(last, 'number') !== Number(count)) return undefined;
    const owned = this.#findOwned(sessionId, streamId);
    return {
      streamId,
      ...(owned && { isFinished: number(owned, 'is_finished') === 1 }),
      ...(owned && owned['about'] !== null && { about: JSON.parse(text(owned, 'about')) as JsonObject }),
      events: rows
        .slice(0, -1)
        .toReversed()
        .map((row) => toEvent(streamId, row)),
    };
  }

  async delete(sessionId: string, streamId?: string): Promise<void> {
    for (const table of ['mortise_events', 'mortise_streams'])
      if (streamId === undefined) this.#db.run(`DELETE FROM ${table} WHERE session_id = ?`, sessionId);
      else this.#db.run(`DELETE FROM ${table} WHERE session_id = ? AND stream_id = ?`, sessionId, streamId);
  }

  #oldest(): number {
    return this.#clock.now() - this.#maxAgeMs;
  }

  /** Deletes the oldest events of a stream, up to this place in it. Events of the older layout have no place, and count as the first. */
  #trim(sessionId: string, streamId: string, untilPlace: number): void {
    this.#db.run(
      `DELETE FROM mortise_events WHERE coalesce(place, 0) <= ? AND number IN (
         SELECT number FROM mortise_events WHERE session_id = ? AND stream_id = ? ORDER BY number LIMIT ${EVENTS_PER_TRIM})`,
      untilPlace,
      sessionId,
      streamId,
    );
  }

  #dropOld(): void {
    this.#db.run(
      `DELETE FROM mortise_events WHERE number IN (
         SELECT number FROM mortise_events WHERE at_ms < ? ORDER BY at_ms LIMIT ${OLD_EVENTS_AT_ONCE})`,
      this.#oldest(),
    );
    this.#db.run(
      `DELETE FROM mortise_streams WHERE (session_id, stream_id) IN (
         SELECT session_id, stream_id FROM mortise_streams WHERE at_ms < ? ORDER BY at_ms LIMIT ${OLD_EVENTS_AT_ONCE})`,
      this.#oldest(),
    );
  }
}

function toId(streamId: string, eventNumber: number): string {
  return `${streamId}~${eventNumber}`;
}

function toEvent(streamId: string, row: Row): StoredEvent {
  const id = toId(streamId, number(row, 'number'));
  return row['message'] === null ? { id } : { id, message: JSON.parse(text(row, 'message')) as JsonRpcMessage };
}
