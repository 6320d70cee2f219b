/** `ctx.once` for a chain of one run: each step runs once, and its value is kept. */

import type { JsonValue } from '@mortise/jsonrpc-core';

export class Steps {
  readonly #values = new Map<string, Promise<JsonValue>>();
  #chainId: string | undefined;

  once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T> {
    const known = this.#values.get(key);
    if (known) return known as Promise<T>;
    this.#chainId ??= crypto.randomUUID();
    const idempotencyKey = `${this.#chainId}:${key}`;
    const value = Promise.resolve().then(() => fn(idempotencyKey));
    this.#values.set(key, value);
    // A step that failed did not happen: it may be tried again.
    value.catch(() => this.#values.delete(key));
    return value;
  }
}
