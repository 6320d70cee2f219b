/**
 * Stores for what a server keeps between requests: legacy HTTP sessions, the events of their streams, and the `requestState` of modern
 * requests that is too large to send.
 *
 * The store tells the time: how long something is kept is given as a duration, because the clocks of machines differ.
 */

import type { JsonObject, JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { Principal } from './auth.ts';
import type { SessionState } from './mcp-endpoint.ts';

/** A legacy session, as a `SessionStore` stores it. */
export interface SessionRecord {
  readonly id: string;
  readonly principal: Principal;
  readonly state: SessionState;
  /** The number of times that the session has been written: 1 after the first. */
  readonly version: number;
}

/** The outcome of `SessionStore.put`. */
export interface SessionPut {
  readonly isWritten: boolean;
  /** If nothing was written: the session that is stored. Undefined if none is. */
  readonly present?: SessionRecord | undefined;
}

/**
 * Stores legacy sessions with compare-and-set, so that any machine can continue a session.
 *
 * S1  `put` writes only if the stored version equals `expectedVersion` (0: nothing is stored). Otherwise it resolves to what is stored.
 * S2  A session expires `ttlMs` after its last `get` or `put`, and is not found then. To write less, a store may let a `get` count only
 *     when a quarter of the time has passed.
 * S3  `get` and `put` return copies: changing one does not change the store.
 * S4  A store deletes what has expired as it writes, some at a time, so that no call takes longer if much has expired.
 */
export interface SessionStore {
  /** Finds a session, and keeps it for another `ttlMs` milliseconds. */
  get(id: string, ttlMs: number): Promise<SessionRecord | undefined>;
  /** Writes a session if its stored version is `expectedVersion`, and keeps it for `ttlMs` milliseconds. */
  put(record: Omit<SessionRecord, 'version'>, expectedVersion: number, ttlMs: number): Promise<SessionPut>;
  delete(id: string): Promise<void>;
}

/** One stored event of an SSE stream. */
export interface StoredEvent {
  readonly id: string;
  /** The JSON-RPC message; absent for a priming event (an event without data that gives the client an id to resume from). */
  readonly message?: JsonRpcMessage;
}

/** The events of a stream after a given one, as `EventStore.replay` finds them. */
export interface StoredStream {
  readonly streamId: string;
  readonly events: readonly StoredEvent[];
  /** The `about` of the first claim; absent if it had none. */
  readonly about?: JsonObject;
  /** Whether the last event of the stream is stored; absent if nobody has claimed the stream. */
  readonly isFinished?: boolean;
}

/** Proves that the caller owns the stream. */
export interface EventTerms {
  /** What `EventStore.claim` gave the owner of the stream. */
  readonly epoch: number;
  /** Whether the stream ends with this event. @default false */
  readonly isLast?: boolean;
}

/**
 * Stores the events that were sent on streams of legacy sessions, so that a client can resume a broken stream.
 *
 * V1  An event id is unique in its session, and tells which stream the event belongs to.
 * V2  `replay` returns the events after the given one, only of its stream, in the order of the `append` calls, even within a millisecond.
 * V3  Old events are dropped by count and by age. For the id of a dropped or unknown event, `replay` resolves to undefined.
 * V4  A stream that was claimed takes events of its last owner alone, and none after its last event. An owner whose claim was dropped by
 *     age or count owns the stream still, until another claims it. An epoch is never given twice, even after the stream was dropped.
 */
export interface EventStore {
  /**
   * Stores a message as the next event of a stream.
   *
   * @param terms For a stream that was claimed: what its owner got.
   * @returns The event's id. Undefined if another has claimed the stream, or it is finished.
   */
  append(sessionId: string, streamId: string, message: JsonRpcMessage | undefined, terms?: EventTerms): Promise<string | undefined>;
  /**
   * Makes the caller the owner of a stream, in place of an earlier one, and stores an event without a message. A store that only one process
   * uses need not have this.
   *
   * @param about Kept with a stream that was not claimed before, for whoever takes it over.
   * @returns The right to append, and the event's id. Undefined if the stream is finished.
   */
  claim?(
    sessionId: string,
    streamId: string,
    about?: JsonObject,
  ): Promise<{ readonly epoch: number; readonly eventId: string } | undefined>;
  replay(sessionId: string, lastEventId: string): Promise<StoredStream | undefined>;
  /** Deletes the events of one stream; without `streamId`, those of all streams of the session. */
  delete(sessionId: string, streamId?: string): Promise<void>;
}

/**
 * Stores a server's state of a modern request that waits for the client's input, if it is too large to send in `requestState`.
 *
 * Q1  A value is not found once `ttlMs` milliseconds have passed since its `put`.
 * Q2  Until then, `get` returns what the last finished `put` of an id wrote, unless `delete` removed it.
 */
export interface StateStore {
  put(id: string, value: string, ttlMs: number): Promise<void>;
  get(id: string): Promise<string | undefined>;
  delete(id: string): Promise<void>;
}

/**
 * Makes sure that an id is used only once, for example the id of a DPoP proof.
 *
 * P1  `claim` is atomic across all machines: for `ttlMs` milliseconds, exactly one caller with a given id gets true.
 * P2  After that time an id may be claimed again.
 */
export interface ReplayStore {
  /** Claims an id. @returns true for the first caller, false for all others until the id expires. */
  claim(id: string, ttlMs: number): Promise<boolean>;
}
