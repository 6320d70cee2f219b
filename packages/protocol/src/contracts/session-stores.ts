/**
 * What a server keeps between requests: of legacy sessions over HTTP what their clients agreed on and what was sent on their streams, of
 * modern requests the states that are too large to travel.
 */

import type { JsonRpcMessage } from '@mortise/jsonrpc-core';
import type { Principal } from './auth.ts';
import type { SessionState } from './mcp-endpoint.ts';

/** One session, as it is kept. */
export interface SessionRecord {
  readonly id: string;
  readonly principal: Principal;
  readonly state: SessionState;
  /** Counts the writes, from 1. */
  readonly version: number;
  readonly expiresAtMs: number;
}

/**
 * Keeps the sessions of the legacy era, by compare-and-set, so that any machine can go on with one.
 *
 * S1  `put` with a version writes only where the stored version is that one (0: only where nothing is stored), and resolves to whether it did.
 * S2  A record past `expiresAtMs` is not found.
 * S3  `get` gives a copy: changing it changes nothing stored.
 * S4  `deleteExpired` may be called by any machine at any time.
 */
export interface SessionStore {
  get(id: string): Promise<SessionRecord | undefined>;
  /** @returns false when another write came first. */
  put(record: Omit<SessionRecord, 'version'>, expectedVersion: number): Promise<boolean>;
  /** Moves the expiry on without touching the rest. @returns false when there is no such session. */
  touch(id: string, expiresAtMs: number): Promise<boolean>;
  delete(id: string): Promise<void>;
  /** @returns How many were deleted. */
  deleteExpired(nowMs: number): Promise<number>;
}

/** One event of a stream, as it is replayed. */
export interface StoredEvent {
  readonly id: string;
  /** Absent for a priming event. */
  readonly message?: JsonRpcMessage;
}

/**
 * Keeps what was sent on the streams of legacy sessions, so that a broken stream can be resumed.
 *
 * V1  Ids are unique in a session and name their stream.
 * V2  `replay` gives the events after an id, of that id's stream alone, in the order of `append`, also within a millisecond.
 * V3  Old events are dropped by count and by age; `replay` from a dropped or unknown id resolves to undefined.
 */
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

/**
 * Holds request states that are too large to travel.
 *
 * P3  `get` gives what the last finished `put` of an id wrote, until its expiry or `delete`.
 */
export interface StateStore {
  put(id: string, value: string, expiresAtMs: number): Promise<void>;
  get(id: string): Promise<string | undefined>;
  delete(id: string): Promise<void>;
}

/**
 * Lets a thing be used once.
 *
 * P1  `claim` is atomic over all machines: of all callers with one id exactly one gets true until `expiresAtMs`.
 * P2  What is past its expiry may be claimed again.
 */
export interface ReplayStore {
  /** @returns true for the first caller, false for every other until the expiry. */
  claim(id: string, expiresAtMs: number): Promise<boolean>;
}
