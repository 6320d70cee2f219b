/** Calls by id, for ids that come and go all the time. */

/** How many calls go before the map is made anew. */
const RENEW_AFTER = 2048;

/**
 * A map that is replaced now and then by a fresh one with the same entries.
 *
 * V8 grows a map by a new table that the old one points to. Once an old table has been moved to the old generation, every younger one, and
 * with it every call that was ever in it, is kept until the next full collection. Measured on Node 20 with 64 calls in flight, that was
 * more than a third of the time of a call in memory. A fresh map ends the chain.
 */
export class CallTable<Id, Call> {
  #calls = new Map<Id, Call>();
  #gone = 0;

  get size(): number {
    return this.#calls.size;
  }

  has(id: Id): boolean {
    return this.#calls.has(id);
  }

  get(id: Id): Call | undefined {
    return this.#calls.get(id);
  }

  set(id: Id, call: Call): void {
    this.#calls.set(id, call);
  }

  delete(id: Id): boolean {
    const isKnown = this.#calls.delete(id);
    this.#gone += 1;
    if (this.#gone === RENEW_AFTER) {
      this.#gone = 0;
      this.#calls = new Map(this.#calls);
    }
    return isKnown;
  }

  values(): Iterable<Call> {
    return this.#calls.values();
  }

  clear(): void {
    this.#calls = new Map();
  }
}
