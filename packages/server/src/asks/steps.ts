/** Implements `ctx.once`: runs each step only once, even if the handler runs again for the same call, and remembers the step's value. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { AskError, Suspended } from '../errors.ts';

/** The remembered value of a `ctx.once` step. An empty list if the step returned undefined. */
export type StepValue = readonly [] | readonly [JsonValue];

type StepFn<T> = (idempotencyKey: string) => T | Promise<T>;

/** The `ctx.once` steps of one call, over all runs of its handler. A step that failed is not remembered and may run again. */
export class Steps {
  readonly done: Map<string, StepValue>;
  readonly running: Map<string, Promise<StepValue>> = new Map();
  #chainId: string | undefined;
  #isClosed = false;

  /** @param done The steps that finished in earlier runs of the handler. */
  constructor(chainId?: string, done: Iterable<readonly [string, StepValue]> = []) {
    this.#chainId = chainId;
    this.done = new Map(done);
  }

  /** An id that stays the same in all runs of the handler for one call. No other call has it. */
  get chainId(): string {
    return (this.#chainId ??= crypto.randomUUID());
  }

  async once<T extends JsonValue>(key: string, fn: StepFn<T>): Promise<T> {
    const value = this.done.get(key) ?? (await (this.running.get(key) ?? this.#start(key, fn)));
    // A copy, so that changes by the handler do not affect later rounds.
    return structuredClone(value[0]) as T;
  }

  /** Rejects new steps, because their values could no longer be added to the result. Resolves when no step is running. */
  async close(): Promise<void> {
    while (this.running.size > 0) await Promise.allSettled(this.running.values());
    this.#isClosed = true;
  }

  #start(key: string, fn: StepFn<JsonValue>): Promise<StepValue> {
    if (this.#isClosed)
      return Promise.reject(new Suspended(`Step "${key}" did not begin: the handler has requested input, and will run again`));
    // One turn later, so that the step already counts as running if it asks the client.
    const running = Promise.resolve()
      .then(() => fn(`${this.chainId}:${key}`))
      .then((value) => {
        const kept = toKept(key, value);
        this.done.set(key, kept);
        return kept;
      })
      .finally(() => this.running.delete(key));
    this.running.set(key, running);
    return running;
  }
}

/** Converts a step's value to JSON already when the step runs, so that the handler gets the same value each time that it runs. */
function toKept(key: string, value: unknown): StepValue {
  if (value === undefined) return [];
  try {
    return [JSON.parse(JSON.stringify(value)) as JsonValue];
  } catch (cause) {
    const problem = `Step "${key}" ran, but gave a ${typeof value} that cannot be kept: return a JSON value from the function of ctx.once`;
    throw new AskError('ERR_INVALID_STEP', problem, { cause });
  }
}
