/** `ctx.once`: each step runs once along one chain of runs, and its value is kept. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { AskError, Suspended } from '../errors.ts';

/** The value of a step as it is kept; without an item for a step that gave nothing. */
export type StepValue = readonly [] | readonly [JsonValue];

type StepFn<T> = (idempotencyKey: string) => T | Promise<T>;

/** The steps of one chain. A step that failed did not happen: it may be tried again. */
export class Steps {
  readonly done: Map<string, StepValue>;
  readonly running: Map<string, Promise<StepValue>> = new Map();
  #chainId: string | undefined;
  #isClosed = false;

  /** @param done What ran in earlier rounds. */
  constructor(chainId?: string, done: Iterable<readonly [string, StepValue]> = []) {
    this.#chainId = chainId;
    this.done = new Map(done);
  }

  /** The same in each round of a chain, and in no other chain. */
  get chainId(): string {
    return (this.#chainId ??= crypto.randomUUID());
  }

  async once<T extends JsonValue>(key: string, fn: StepFn<T>): Promise<T> {
    const value = this.done.get(key) ?? (await (this.running.get(key) ?? this.#start(key, fn)));
    // A copy: what the handler does to its value must not change what later rounds get.
    return structuredClone(value[0]) as T;
  }

  /** Lets no step begin any more, for it could not be remembered. Resolves when none runs. */
  async close(): Promise<void> {
    while (this.running.size > 0) await Promise.allSettled(this.running.values());
    this.#isClosed = true;
  }

  #start(key: string, fn: StepFn<JsonValue>): Promise<StepValue> {
    if (this.#isClosed) return Promise.reject(new Suspended(`Step "${key}" did not begin: this round is over, it begins in the next`));
    // A turn later, so that it already counts as running when it asks.
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

/** The value as JSON has it, in the first round too, so that a handler sees the same in each. */
function toKept(key: string, value: unknown): StepValue {
  if (value === undefined) return [];
  try {
    return [JSON.parse(JSON.stringify(value)) as JsonValue];
  } catch (cause) {
    const problem = `Step "${key}" ran, but gave a ${typeof value} that cannot be kept: ctx.once needs a JSON value`;
    throw new AskError('ERR_INVALID_STEP', problem, { cause });
  }
}
