/** A map by id, for ids that come and go all the time. */

/** How many entries go before the map is made anew. */
const RENEW_AFTER = 2048;

/**
 * A map that is replaced now and then by a fresh one with the same entries.
 *
 * V8 grows a map by a new table that the old one points to. Once an old table has been moved to the old generation, every younger one, and
 * with it every value that was ever in it, is kept until the next full collection. Measured on Node 20 with 64 calls in flight, that was
 * more than a third of the time of a call in memory. A fresh map ends the chain.
 */
export class IdMap<Id, Value> {
  #values = new Map<Id, Value>();
  #gone = 0;

  get size(): number {
    return this.#values.size;
  }

  has(id: Id): boolean {
    return this.#values.has(id);
  }

  get(id: Id): Value | undefined {
    return this.#values.get(id);
  }

  set(id: Id, value: Value): void {
    this.#values.set(id, value);
  }

  delete(id: Id): boolean {
    const isKnown = this.#values.delete(id);
    this.#gone += 1;
    if (this.#gone === RENEW_AFTER) {
      this.#gone = 0;
      this.#values = new Map(this.#values);
    }
    return isKnown;
  }

  values(): Iterable<Value> {
    return this.#values.values();
  }

  clear(): void {
    this.#values = new Map();
  }
}
