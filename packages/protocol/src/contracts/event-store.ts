/**
 * Keeps what was sent on the streams of legacy sessions, so that a broken stream can be resumed.
 *
 * V1  Ids are unique in a session and name their stream.
 * V2  `replay` gives the events after an id, of that id's stream alone, in the order of `append`, also within a millisecond.
 * V3  Old events are dropped by count and by age; `replay` from a dropped or unknown id resolves to undefined.
 */

import type { JsonRpcMessage } from '@mortise/jsonrpc-core';

/** One event of a stream, as it is replayed. */
export interface StoredEvent {
  readonly id: string;
  /** Absent for a priming event. */
  readonly message?: JsonRpcMessage;
}

/** Keeps the events of streams. V1 to V3 above. */
export interface EventStore {
  /** @returns The event's id. */
  append(sessionId: string, streamId: string, message: JsonRpcMessage | undefined): Promise<string>;
  replay(
    sessionId: string,
    lastEventId: string,
  ): Promise<{ readonly streamId: string; readonly events: readonly StoredEvent[] } | undefined>;
  /** Forgets a stream, or with no stream a whole session. */
  delete(sessionId: string, streamId?: string): Promise<void>;
}
