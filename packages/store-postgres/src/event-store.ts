/** The `EventStore` in PostgreSQL. One sequence numbers the events of all streams, so that no number comes twice. */

import type { JsonObject, JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { EventStore, StoredEvent } from '@mortise/protocol/contracts';
import { toStoredInteger } from '@mortise/protocol/edge';
import { number, type PostgresConnection, type Row, text } from './connection.ts';

/** The limits of the PostgreSQL event store. */
export interface PostgresEventOptions {
  /** The most events of one stream that are kept. The oldest are dropped first. @default 1000 */
  readonly maxEventsPerStream?: number | undefined;
  /** How long events are kept, in milliseconds. @default 300_000 */
  readonly maxAgeMs?: number | undefined;
}

/** After this many appends to a stream, its events beyond `maxEventsPerStream` are deleted. */
const APPENDS_PER_TRIM = 64;

/**
 * The row of the stream is written first, and so locked: whoever comes later has a later number. If it is not there, because the stream has
 * sent nothing for `maxAgeMs`, whoever appends is its owner still.
 */
const APPEND = `
WITH owned AS (
  INSERT INTO mortise.streams (session_id, stream_id, epoch, is_finished, events, expires) VALUES ($1, $2, $5, $6, 1, mortise.after($4))
  ON CONFLICT (session_id, stream_id) DO UPDATE
    SET epoch = excluded.epoch, is_finished = excluded.is_finished, events = streams.events + 1, expires = excluded.expires
    WHERE streams.epoch IN (0, excluded.epoch) AND NOT streams.is_finished
  RETURNING events, expires)
INSERT INTO mortise.events (session_id, stream_id, message, expires) SELECT $1, $2, $3, expires FROM owned
RETURNING number, (SELECT events FROM owned)`;

/** The epoch is the number of the claim's event, which no earlier claim had, also if that was dropped. */
const CLAIM = `
WITH owned AS (
  INSERT INTO mortise.streams (session_id, stream_id, epoch, about, events, expires)
  VALUES ($1, $2, nextval('mortise.event_numbers'), $3, 1, mortise.after($4))
  ON CONFLICT (session_id, stream_id) DO UPDATE
    SET epoch = nextval('mortise.event_numbers'), about = CASE WHEN streams.epoch = 0 THEN excluded.about ELSE streams.about END,
      events = streams.events + 1, expires = excluded.expires
    WHERE NOT streams.is_finished
  RETURNING epoch, expires)
INSERT INTO mortise.events (number, session_id, stream_id, expires) SELECT epoch, $1, $2, expires FROM owned
RETURNING number`;

/** The most bytes of a stream that are replayed, beside its last event: a machine reads and sends them at once. */
const MAX_BYTES = 16 * 2 ** 20;

/** Reads newest first, and not more than are kept: older events count as dropped even if they are still there. */
const REPLAY = `
SELECT number, message, epoch, is_finished, about FROM (
  SELECT *, sum(octet_length(message)) OVER newest - first_value(coalesce(octet_length(message), 0)) OVER newest AS bytes FROM mortise.events
  WHERE session_id = $1 AND stream_id = $2 AND number >= $3::bigint AND expires > now() WINDOW newest AS (ORDER BY number DESC)) AS events
LEFT JOIN mortise.streams USING (session_id, stream_id) WHERE coalesce(bytes, 0) <= ${MAX_BYTES} ORDER BY number DESC LIMIT $4`;

const TRIM = `
DELETE FROM mortise.events WHERE session_id = $1 AND stream_id = $2 AND number <=
  (SELECT number FROM mortise.events WHERE session_id = $1 AND stream_id = $2 ORDER BY number DESC OFFSET $3 LIMIT 1)`;

/** The most bytes of all streams of a session that are kept, beside the last event. More are there for a while, until the next trim. */
const MAX_SESSION_BYTES = 64 * 2 ** 20;
/** A message of more characters than this is followed by a trim of its session, and so is each event whose number is a multiple of `EVENTS_PER_TRIM`. */
const LARGE_CHARACTERS = 256 * 2 ** 10;
const EVENTS_PER_TRIM = 64;

/** The length of a text is read without the text. */
const TRIM_SESSION = `
DELETE FROM mortise.events WHERE session_id = $1 AND number <= (SELECT max(number) FROM (
  SELECT number, sum(octet_length(message)) OVER (ORDER BY number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS newer
  FROM mortise.events WHERE session_id = $1) AS events WHERE newer > ${MAX_SESSION_BYTES})`;

const DELETE = `
WITH forgotten AS (DELETE FROM mortise.streams WHERE session_id = $1 AND ($2::text IS NULL OR stream_id = $2))
DELETE FROM mortise.events WHERE session_id = $1 AND ($2::text IS NULL OR stream_id = $2)`;

/** Keeps the events of SSE streams in PostgreSQL, so that clients can resume a stream on any machine. Has the guarantees V1 to V4 of `EventStore`. */
export function createEventStore(db: PostgresConnection, options: PostgresEventOptions = {}): EventStore {
  const maxEvents = Math.trunc(Math.min(options.maxEventsPerStream ?? 1000, 2 ** 31 - 1));
  const maxAgeMs = toStoredInteger(options.maxAgeMs ?? 300_000);
  /** The last call for each stream. On several connections calls would overtake one another. If one fails, so do those that wait for it. */
  const turns = new Map<string, Promise<Row | undefined>>();
  const write = (sql: string, sessionId: string, streamId: string, ...values: readonly unknown[]): Promise<Row | undefined> => {
    const key = JSON.stringify([sessionId, streamId]);
    const begin = (): Promise<Row | undefined> => db.get(sql, sessionId, streamId, ...values);
    const done = turns.get(key)?.then(begin) ?? begin();
    turns.set(key, done);
    const forget = (): void => void (turns.get(key) === done && turns.delete(key));
    done.then(forget, forget);
    for (const table of ['events', 'streams']) db.clearSometimes(table);
    return done;
  };
  return {
    async append(sessionId, streamId, message, terms) {
      const json = message === undefined ? null : JSON.stringify(message);
      const row = await write(APPEND, sessionId, streamId, json, maxAgeMs, terms?.epoch ?? 0, terms?.isLast === true);
      if (row === undefined) return undefined;
      const count = number(row, 'events');
      if (count > maxEvents && count % APPENDS_PER_TRIM === 0)
        // The event is stored. What cannot be deleted now is deleted later.
        db.query(TRIM, sessionId, streamId, maxEvents).catch(() => undefined);
      if ((json?.length ?? 0) > LARGE_CHARACTERS || number(row, 'number') % EVENTS_PER_TRIM === 0)
        db.query(TRIM_SESSION, sessionId).catch(() => undefined);
      return toId(streamId, row);
    },
    async claim(sessionId, streamId, about) {
      const row = await write(CLAIM, sessionId, streamId, about === undefined ? null : JSON.stringify(about), maxAgeMs);
      return row && { epoch: number(row, 'number'), eventId: toId(streamId, row) };
    },
    async replay(sessionId, lastEventId) {
      const [, streamId = '', count] = /^([^]*)~([1-9]\d{0,17})$/.exec(lastEventId) ?? [];
      if (count === undefined) return undefined;
      const rows = await db.query(REPLAY, sessionId, streamId, count, maxEvents);
      const [given, ...events] = rows.toReversed();
      if (given === undefined || text(given, 'number') !== count) return undefined;
      return {
        streamId,
        events: events.map((row) => toEvent(streamId, row)),
        ...(number(given, 'epoch') > 0 && { isFinished: given['is_finished'] === true }),
        ...(typeof given['about'] === 'string' && { about: JSON.parse(given['about']) as JsonObject }),
      };
    },
    async delete(sessionId, streamId) {
      await db.query(DELETE, sessionId, streamId ?? null);
    },
  };
}

function toId(streamId: string, row: Row): string {
  return `${streamId}~${text(row, 'number')}`;
}

function toEvent(streamId: string, row: Row): StoredEvent {
  const id = toId(streamId, row);
  return typeof row['message'] === 'string' ? { id, message: JSON.parse(row['message']) as JsonRpcMessage } : { id };
}
