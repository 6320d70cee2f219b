/**
 * Stores for what a server keeps between requests: legacy HTTP sessions, the events of their streams, and the `requestState` of modern
 * requests that is too large to send.
 */

import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { Principal } from './auth.ts';
import type { SessionState } from './mcp-endpoint.ts';

/** A legacy session, as a `SessionStore` stores it. */
export interface SessionRecord {
  readonly id: string;
  readonly principal: Principal;
  readonly state: SessionState;
  /** The number of times that the session has been written: 1 after the first. */
  readonly version: number;
  readonly expiresAtMs: number;
}

/**
 * Stores legacy sessions with compare-and-set, so that any machine can continue a session.
 *
 * S1  `put` writes only if the stored version equals `expectedVersion` (0: nothing is stored). It resolves to whether it wrote.
 * S2  A session whose `expiresAtMs` has passed is not found.
 * S3  `get` returns a copy: changing it does not change the store.
 * S4  `deleteExpired` may be called by any machine at any time.
 */
export interface SessionStore {
  get(id: string): Promise<SessionRecord | undefined>;
  /** Writes a session if its stored version is `expectedVersion`. @returns false if it is not: another write came first. */
  put(record: Omit<SessionRecord, 'version'>, expectedVersion: number): Promise<boolean>;
  /** Sets a new expiry of a session and changes nothing else. @returns false if the session does not exist. */
  touch(id: string, expiresAtMs: number): Promise<boolean>;
  delete(id: string): Promise<void>;
  /** Deletes the sessions that have expired. @returns The number of deleted sessions. */
  deleteExpired(nowMs: number): Promise<number>;
}

/** One stored event of an SSE stream. */
export interface StoredEvent {
  readonly id: string;
  /** The JSON-RPC message; absent for a priming event (an event without data that gives the client an id to resume from). */
  readonly message?: JsonRpcMessage;
}

/**
 * Stores the events that were sent on streams of legacy sessions, so that a client can resume a broken stream.
 *
 * V1  An event id is unique in its session, and tells which stream the event belongs to.
 * V2  `replay` returns the events after the given one, only of its stream, in the order of the `append` calls, even within a millisecond.
 * V3  Old events are dropped by count and by age. For the id of a dropped or unknown event, `replay` resolves to undefined.
 */
export interface EventStore {
  /** Stores a message as the next event of a stream. @returns The event's id. */
  append(sessionId: string, streamId: string, message: JsonRpcMessage | undefined): Promise<string>;
  replay(
    sessionId: string,
    lastEventId: string,
  ): Promise<{ readonly streamId: string; readonly events: readonly StoredEvent[] } | undefined>;
  /** Deletes the events of one stream; without `streamId`, those of all streams of the session. */
  delete(sessionId: string, streamId?: string): Promise<void>;
}

/**
 * Stores a server's state of a modern request that waits for the client's input, if it is too large to send in `requestState`.
 *
 * Q1  A value whose `expiresAtMs` has passed is not found.
 * Q2  Until then, `get` returns what the last finished `put` of an id wrote, unless `delete` removed it.
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
  /** Claims an id. @returns true for the first caller, false for all others until the id expires. */
  claim(id: string, expiresAtMs: number): Promise<boolean>;
}
