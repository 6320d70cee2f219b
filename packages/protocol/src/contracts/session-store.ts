/**
 * Keeps the sessions of the legacy era, so that any machine can go on with one.
 *
 * S1  `put` with a version writes only where the stored version is that one (0: only where nothing is stored), and tells.
 * S2  A record past `expiresAtMs` is not found.
 * S3  `get` gives a copy: changing it changes nothing stored.
 * S4  `deleteExpired` may be called by any machine at any time.
 */

import type { SessionState } from './mcp-endpoint.ts';
import type { Principal } from './principal.ts';

/** One session, as it is kept. */
export interface SessionRecord {
  readonly id: string;
  readonly principal: Principal;
  readonly state: SessionState;
  /** Counts the writes, from 1. */
  readonly version: number;
  readonly expiresAtMs: number;
}

/** Keeps sessions by compare-and-set. S1 to S4 above. */
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
