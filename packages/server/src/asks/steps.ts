/** `ctx.once`: runs each step once across all runs of a handler, and remembers its value. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { AskError, Suspended } from '../errors.ts';

/** The remembered value of a step. Empty for a step that returned undefined. */
export type StepValue = readonly [] | readonly [JsonValue];

type StepFn<T> = (idempotencyKey: string) => T | Promise<T>;

/** The steps of one chain of runs. A step that failed is not remembered and may run again. */
export class Steps {
  readonly done: Map<string, StepValue>;
  readonly running: Map<string, Promise<StepValue>> = new Map();
  #chainId: string | undefined;
  #isClosed = false;

  /** @param done The steps that ran in earlier rounds. */
  constructor(chainId?: string, done: Iterable<readonly [string, StepValue]> = []) {
    this.#chainId = chainId;
    this.done = new Map(done);
  }

  /** An id that all rounds of a chain share, and no other chain has. */
  get chainId(): string {
    return (this.#chainId ??= crypto.randomUUID());
  }

  async once<T extends JsonValue>(key: string, fn: StepFn<T>): Promise<T> {
    const value = this.done.get(key) ?? (await (this.running.get(key) ?? this.#start(key, fn)));
    // A copy, so that changes by the handler do not affect later rounds.
    return structuredClone(value[0]) as T;
  }

  /** Prevents new steps, whose values could not be remembered. Resolves when no step is running. */
  async close(): Promise<void> {
    while (this.running.size > 0) await Promise.allSettled(this.running.values());
    this.#isClosed = true;
  }

  #start(key: string, fn: StepFn<JsonValue>): Promise<StepValue> {
    if (this.#isClosed)
      return Promise.reject(new Suspended(`Step "${key}" did not begin: this round is over, and the step will run in the next round`));
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

/** Converts the value to JSON already in the first round, so that a handler gets the same value in each round. */
function toKept(key: string, value: unknown): StepValue {
  if (value === undefined) return [];
  try {
    return [JSON.parse(JSON.stringify(value)) as JsonValue];
  } catch (cause) {
    const problem = `Step "${key}" ran, but gave a ${typeof value} that cannot be kept: ctx.once needs a JSON value`;
    throw new AskError('ERR_INVALID_STEP', problem, { cause });
  }
}
