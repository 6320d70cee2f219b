/** An in-memory `CredentialStore`. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import type { CredentialStore, LockingStore } from '@mortise/protocol/contracts';

/** An in-memory `CredentialStore`. Its lock works between all users of this object. Gives the guarantees C1 and C2 of such stores. */
export class MemoryCredentialStore implements CredentialStore, LockingStore {
  readonly #issuers = new Map<string, Map<string, JsonObject>>();
  readonly #locks = new Map<string, Promise<unknown>>();

  async get(issuer: string, key: string): Promise<JsonObject | undefined> {
    return structuredClone(this.#issuers.get(issuer)?.get(key));
  }

  async put(issuer: string, key: string, value: JsonObject): Promise<void> {
    const records = this.#issuers.get(issuer) ?? new Map<string, JsonObject>();
    this.#issuers.set(issuer, records.set(key, structuredClone(value)));
  }

  async delete(issuer: string, key?: string): Promise<void> {
    if (key === undefined) this.#issuers.delete(issuer);
    else this.#issuers.get(issuer)?.delete(key);
  }

  async withLock<T>(name: string, fn: () => Promise<T>, { signal }: { readonly signal?: AbortSignal } = {}): Promise<T> {
    const before = this.#locks.get(name) ?? Promise.resolve();
    const own = abortable(before, signal).then(fn);
    // An aborted call keeps its place in the queue, so that later calls still wait for earlier ones.
    const turn = Promise.allSettled([before, own]);
    this.#locks.set(name, turn);
    void turn.then(() => this.#locks.get(name) === turn && this.#locks.delete(name));
    return await own;
  }
}
