/**
 * Stores for what a server keeps between requests: legacy HTTP sessions, the events of their streams, and request states of the modern
 * era that are too large to send.
 */

import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { Principal } from './auth.ts';
import type { SessionState } from './mcp-endpoint.ts';

/** One stored session. */
export interface SessionRecord {
  readonly id: string;
  readonly principal: Principal;
  readonly state: SessionState;
  /** The number of writes so far: 1 after the first. */
  readonly version: number;
  readonly expiresAtMs: number;
}

/**
 * Stores legacy sessions with compare-and-set, so that any machine can continue a session.
 *
 * S1  `put` writes only if the stored version equals `expectedVersion` (0: nothing is stored). It resolves to whether it wrote.
 * S2  A record past `expiresAtMs` is not found.
 * S3  `get` returns a copy: changing it does not change the store.
 * S4  `deleteExpired` may be called by any machine at any time.
 */
export interface SessionStore {
  get(id: string): Promise<SessionRecord | undefined>;
  /** @returns false if another write came first. */
  put(record: Omit<SessionRecord, 'version'>, expectedVersion: number): Promise<boolean>;
  /** Sets a new expiry and changes nothing else. @returns false if the session does not exist. */
  touch(id: string, expiresAtMs: number): Promise<boolean>;
  delete(id: string): Promise<void>;
  /** @returns The number of deleted sessions. */
  deleteExpired(nowMs: number): Promise<number>;
}

/** One stored event of a stream. */
export interface StoredEvent {
  readonly id: string;
  /** Absent for a priming event (an event without data that gives the client an id to resume from). */
  readonly message?: JsonRpcMessage;
}

/**
 * Stores the events that were sent on streams of legacy sessions, so that a client can resume a broken stream.
 *
 * V1  Event ids are unique in a session and identify their stream.
 * V2  `replay` returns the events after an id, only of that id's stream, in the order of `append`, even within a millisecond.
 * V3  Old events are dropped by count and by age. `replay` of a dropped or unknown id resolves to undefined.
 */
export interface EventStore {
  /** @returns The event's id. */
  append(sessionId: string, streamId: string, message: JsonRpcMessage | undefined): Promise<string>;
  replay(
    sessionId: string,
    lastEventId: string,
  ): Promise<{ readonly streamId: string; readonly events: readonly StoredEvent[] } | undefined>;
  /** Deletes the events of a stream, or of the whole session without `streamId`. */
  delete(sessionId: string, streamId?: string): Promise<void>;
}

/**
 * Stores request states that are too large to send in `requestState`.
 *
 * P3  `get` returns what the last finished `put` of an id wrote, until it expires or is deleted.
 */
export interface StateStore {
  put(id: string, value: string, expiresAtMs: number): Promise<void>;
  get(id: string): Promise<string | undefined>;
  delete(id: string): Promise<void>;
}

/**
 * Makes sure that an id is used only once, for example the id of a DPoP proof.
 *
 * P1  `claim` is atomic across all machines: until `expiresAtMs`, exactly one caller with a given id gets true.
 * P2  After its expiry an id may be claimed again.
 */
export interface ReplayStore {
  /** @returns true for the first caller, false for all others until the id expires. */
  claim(id: string, expiresAtMs: number): Promise<boolean>;
}
