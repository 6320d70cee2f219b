/** The `EventStore` in SQLite. One counter numbers the events of all streams, and never reuses a number, even after a deletion. */

import type { JsonObject, JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { EventStore, EventTerms, StoredEvent } from '@mortise/protocol/contracts';
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
/** The most events that are deleted then: more than were added, so that a stream shrinks if the limit is lower than before. */
const EVENTS_PER_TRIM = 2 * APPENDS_PER_TRIM;

const INSERT = `
INSERT INTO mortise_events (session_id, stream_id, message, expires_at_ms, place) VALUES (?, ?, ?, ?, 1 + coalesce(
  (SELECT place FROM mortise_events WHERE session_id = ? AND stream_id = ? ORDER BY number DESC LIMIT 1), 0))
RETURNING number, place`;

const OWN = `
INSERT INTO mortise_streams VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session_id, stream_id) DO UPDATE
  SET epoch = excluded.epoch, is_finished = excluded.is_finished, expires_at_ms = excluded.expires_at_ms`;

/** Reads newest first, and not more than are kept: older events count as dropped even if they are still in the file. */
const REPLAY = `
SELECT number, message FROM mortise_events
WHERE session_id = ? AND stream_id = ? AND number >= ? AND expires_at_ms > ? ORDER BY number DESC ${LIMIT}`;

const TRIM = `
DELETE FROM mortise_events WHERE place <= ? AND number IN (
  SELECT number FROM mortise_events WHERE session_id = ? AND stream_id = ? ORDER BY number LIMIT ${EVENTS_PER_TRIM})`;

/** Keeps the events of SSE streams in a SQLite file, so that clients can resume a stream. Has the guarantees V1 to V4 of `EventStore`. */
export function createEventStore(db: SqliteConnection, options: SqliteEventOptions = {}): EventStore {
  const { maxEventsPerStream = 1000, maxAgeMs = 300_000 } = options;
  const findOwned = (sessionId: string, streamId: string): Row | undefined =>
    db.get('SELECT epoch, is_finished, about FROM mortise_streams WHERE session_id = ? AND stream_id = ?', sessionId, streamId);
  const own = (sessionId: string, streamId: string, { epoch, isLast = false }: EventTerms, about?: JsonObject): void => {
    const json = about === undefined ? null : JSON.stringify(about);
    db.run(OWN, sessionId, streamId, epoch, isLast ? 1 : 0, json, db.now() + maxAgeMs);
  };
  /** Stores an event. Gives its number. */
  const add = (sessionId: string, streamId: string, message: JsonRpcMessage | undefined): number => {
    const json = message === undefined ? null : JSON.stringify(message);
    const row = db.get(INSERT, sessionId, streamId, json, db.now() + maxAgeMs, sessionId, streamId);
    if (row === undefined) throw new Error('SQLite did not say which event it stored');
    const place = number(row, 'place');
    try {
      if (place > maxEventsPerStream && place % APPENDS_PER_TRIM === 0) db.run(TRIM, place - maxEventsPerStream, sessionId, streamId);
      db.clearSometimes('mortise_events', 'number');
      db.clearSometimes('mortise_streams', 'session_id, stream_id');
    } catch {
      // The event is stored, so the call succeeds. What should have been deleted is deleted later.
    }
    return number(row, 'number');
  };
  return {
    async append(sessionId, streamId, message, terms) {
      return db.transaction(() => {
        // If there is no row, because the stream has sent nothing for its time, whoever appends is its owner still.
        const owned = findOwned(sessionId, streamId);
        if (owned && (number(owned, 'epoch') !== terms?.epoch || number(owned, 'is_finished') === 1)) return undefined;
        if (terms) own(sessionId, streamId, terms);
        return toId(streamId, add(sessionId, streamId, message));
      });
    },
    async claim(sessionId, streamId, about) {
      return db.transaction(() => {
        const owned = findOwned(sessionId, streamId);
        if (owned && number(owned, 'is_finished') === 1) return undefined;
        // The number of an event, which no earlier claim had, also if that was dropped.
        const epoch = add(sessionId, streamId, undefined);
        own(sessionId, streamId, { epoch }, about);
        return { epoch, eventId: toId(streamId, epoch) };
      });
    },
    async replay(sessionId, lastEventId) {
      const [, streamId = '', count] = /^([^]*)~([1-9]\d{0,14})$/.exec(lastEventId) ?? [];
      if (count === undefined) return undefined;
      const rows = db.all(REPLAY, sessionId, streamId, Number(count), db.now(), maxEventsPerStream);
      const [given, ...events] = rows.toReversed();
      if (given === undefined || text(given, 'number') !== count) return undefined;
      const owned = findOwned(sessionId, streamId);
      return {
        streamId,
        events: events.map((row) => toEvent(streamId, row)),
        ...(owned && { isFinished: number(owned, 'is_finished') === 1 }),
        ...(owned && owned['about'] !== null && { about: JSON.parse(text(owned, 'about')) as JsonObject }),
      };
    },
    async delete(sessionId, streamId) {
      for (const table of ['mortise_events', 'mortise_streams'])
        if (streamId === undefined) db.run(`DELETE FROM ${table} WHERE session_id = ?`, sessionId);
        else db.run(`DELETE FROM ${table} WHERE session_id = ? AND stream_id = ?`, sessionId, streamId);
    },
  };
}

function toId(streamId: string, eventNumber: number): string {
  return `${streamId}~${eventNumber}`;
}

function toEvent(streamId: string, row: Row): StoredEvent {
  const id = toId(streamId, number(row, 'number'));
  return row['message'] === null ? { id } : { id, message: JSON.parse(text(row, 'message')) as JsonRpcMessage };
}
