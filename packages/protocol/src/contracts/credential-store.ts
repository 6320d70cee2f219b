/**
 * Keeps a client's credentials and tokens, by issuer. What belongs to one issuer is never given out for another.
 *
 * C1  `get` gives what the last finished `put` wrote for that issuer and key.
 * C2  `withLock`, where offered, runs one caller at a time over all processes that share the store, and lets go when `fn` settles.
 */

import type { JsonObject } from '@mortise/jsonrpc-core';

/** Keeps credentials and tokens by issuer and key. C1 above. */
export interface CredentialStore {
  get(issuer: string, key: string): Promise<JsonObject | undefined>;
  put(issuer: string, key: string, value: JsonObject): Promise<void>;
  delete(issuer: string, key?: string): Promise<void>;
}

/** A credential store's second ability. */
export interface LockingStore {
  withLock<T>(name: string, fn: () => Promise<T>, options?: { readonly signal?: AbortSignal }): Promise<T>;
}

/**
 * Keeps the ids of a client's tasks over its own restart.
 *
 * H1  `list` gives what was added for that server, in any order, and nothing of another.
 * H2  A task that is added again stays one record; any number may be added at once.
 * H3  `remove` forgets one task; one that is not there is no error.
 */
export interface TaskHandleStore {
  add(handle: TaskHandleRecord): Promise<void>;
  remove(server: string, taskId: string): Promise<void>;
  list(server: string): Promise<readonly TaskHandleRecord[]>;
}

/** One task of a client, as it is kept. */
export interface TaskHandleRecord {
  /** What names the server: its URL, or its command line. */
  readonly server: string;
  readonly taskId: string;
  readonly method: string;
  readonly createdAtMs: number;
}
